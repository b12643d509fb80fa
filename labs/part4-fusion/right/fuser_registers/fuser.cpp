#include "fuser.h"

#include <nvrtc.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "toolkit/check.h"

namespace {

struct Form {
  const char* text;  // $a, $b and $c stand for the operands
};

Form form_of(Op op) {
  switch (op) {
    case Op::add:
      return {"$a + $b"};
    case Op::sub:
      return {"$a - $b"};
    case Op::mul:
      return {"$a * $b"};
    case Op::div:
      return {"$a / $b"};
    case Op::min:
      return {"fminf($a, $b)"};
    case Op::max:
      return {"fmaxf($a, $b)"};
    case Op::neg:
      return {"-($a)"};
    case Op::abs:
      return {"fabsf($a)"};
    case Op::exp:
      return {"expf($a)"};
    case Op::tanh:
      return {"tanhf($a)"};
    case Op::sqrt:
      return {"sqrtf($a)"};
    case Op::rsqrt:
      return {"rsqrtf($a)"};
    case Op::select:
      return {"($a > 0.0f) ? $b : $c"};
    case Op::input:
    case Op::constant:
      break;
  }
  throw std::invalid_argument("this node has no operands");
}

std::string value(int node) { return "v[" + std::to_string(node) + "]"; }

std::string line_of(const Node& node, int place) {
  std::ostringstream line;
  line << "    " << value(place) << " = ";
  if (node.op == Op::input) {
    line << "read(in.p[" << node.input << "], i)";
  } else if (node.op == Op::constant) {
    char bits[16];
    std::snprintf(bits, sizeof(bits), "0x%08x", std::bit_cast<std::uint32_t>(node.constant));
    line << "__uint_as_float(" << bits << "u)";
  } else {
    const int operands[] = {node.a, node.b, node.c};
    for (const char* c = form_of(node.op).text; *c != '\0'; ++c) {
      if (*c == '$') {
        line << value(operands[*++c - 'a']);
      } else {
        line << *c;
      }
    }
  }
  line << ";\n";
  return line.str();
}

// All inputs go into one argument: an array of pointers, as many as the source was written for.
std::string write_source(const Expression& expression, Storage storage, std::size_t inputs) {
  std::ostringstream source;
  if (storage == Storage::float16) source << "#include <cuda_fp16.h>\n";
  source << "typedef " << (storage == Storage::float16 ? "__half" : "float") << " E;\n"
         << "struct In { const E* p[" << std::max<std::size_t>(inputs, 1) << "]; };\n";
  if (storage == Storage::float16) {
    source << "__device__ float read(const E* p, long long i) { return __half2float(p[i]); }\n"
              "__device__ void write(E* p, long long i, float x) { p[i] = __float2half_rn(x); }\n";
  } else {
    source << "__device__ float read(const E* p, long long i) { return p[i]; }\n"
              "__device__ void write(E* p, long long i, float x) { p[i] = x; }\n";
  }
  source << "extern \"C\" __global__ void all_nodes(In in, E* out, long long count) {\n"
            "  const long long stride = (long long)gridDim.x * blockDim.x;\n"
            "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i "
            "+= stride) {\n"
         << "    float v[" << expression.nodes.size() << "];\n";
  int place = 0;
  for (const Node& node : expression.nodes) source << line_of(node, place++);
  source << "    write(out, i, " << value(place - 1) << ");\n  }\n}\n";
  return source.str();
}

std::string key_of(const Expression& expression, Storage storage, std::size_t inputs) {
  std::ostringstream key;
  key << (storage == Storage::float16 ? "h" : "f") << inputs;
  for (const Node& n : expression.nodes) {
    key << ';' << static_cast<int>(n.op) << ',' << n.a << ',' << n.b << ',' << n.c << ',' << n.input
        << ',' << std::bit_cast<std::uint32_t>(n.constant);
  }
  return key.str();
}

void nvrtc(nvrtcResult result, const char* what) {
  if (result != NVRTC_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + nvrtcGetErrorString(result));
}

std::string compile(const std::string& source) {
  cudaDeviceProp device{};
  int number = 0;
  CUDA_CHECK(cudaGetDevice(&number));
  CUDA_CHECK(cudaGetDeviceProperties(&device, number));
  const std::string architecture =
      "--gpu-architecture=compute_" + std::to_string(10 * device.major + device.minor);
  const char* home = std::getenv("CUDA_HOME");
  const std::string include =
      std::string("--include-path=") + (home == nullptr ? "/usr/local/cuda" : home) + "/include";
  const char* options[] = {architecture.c_str(), include.c_str()};

  nvrtcProgram program = nullptr;
  nvrtc(nvrtcCreateProgram(&program, source.c_str(), "nodes.cu", 0, nullptr, nullptr), "create");
  const std::shared_ptr<void> destroyed(nullptr, [&](void*) { nvrtcDestroyProgram(&program); });
  if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtc(nvrtcGetProgramLogSize(program, &size), "log");
    std::string log(size, ' ');
    nvrtc(nvrtcGetProgramLog(program, log.data()), "log");
    throw std::runtime_error(log);
  }
  std::size_t size = 0;
  nvrtc(nvrtcGetPTXSize(program, &size), "size of the PTX");
  std::string ptx(size, ' ');
  nvrtc(nvrtcGetPTX(program, ptx.data()), "PTX");
  return ptx;
}

}  // namespace

void evaluate(KernelCache& cache, const Expression& expression, Storage storage,
              const std::vector<const void*>& inputs, void* out, std::int64_t count,
              cudaStream_t stream) {
  const std::string key = key_of(expression, storage, inputs.size());
  auto [entry, is_new] = cache.kernels.try_emplace(key);
  FusedKernel& fused = entry->second;
  if (is_new) {
    const std::string ptx = compile(write_source(expression, storage, inputs.size()));
    CUDA_CHECK(
        cudaLibraryLoadData(&fused.library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUDA_CHECK(cudaLibraryGetKernel(&fused.kernel, fused.library, "all_nodes"));
  }
  std::vector<const void*> pointers = inputs;
  if (pointers.empty()) pointers.push_back(nullptr);
  void* arguments[] = {pointers.data(), &out, &count};
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((count + 127) / 128, 8192));
  CUDA_CHECK(cudaLaunchKernel(fused.kernel, dim3(blocks), dim3(128), arguments, 0, stream));
}
