#include "fuser.h"

#include <nvrtc.h>

#include <bit>
#include <set>
#include <stdexcept>

#include "toolkit/check.h"

namespace {

// Operand n of the node, as a name in the source.
std::string name(int n) { return "t" + std::to_string(n); }

std::string right_side(const Node& node) {
  const std::string a = name(node.a), b = name(node.b), c = name(node.c);
  switch (node.op) {
    case Op::input: return "get(in" + std::to_string(node.input) + ", i)";
    case Op::constant:
      return "__uint_as_float(" + std::to_string(std::bit_cast<std::uint32_t>(node.constant)) +
             "u)";
    case Op::add: return a + " + " + b;
    case Op::sub: return a + " - " + b;
    case Op::mul: return a + " * " + b;
    case Op::div: return a + " / " + b;
    case Op::min: return "fminf(" + a + ", " + b + ")";
    case Op::max: return "fmaxf(" + a + ", " + b + ")";
    case Op::neg: return "-" + a;
    case Op::abs: return "fabsf(" + a + ")";
    case Op::exp: return "expf(" + a + ")";
    case Op::tanh: return "tanhf(" + a + ")";
    case Op::sqrt: return "sqrtf(" + a + ")";
    case Op::rsqrt: return "rsqrtf(" + a + ")";
    case Op::select: return a + " > 0.0f ? " + b + " : " + c;
  }
  throw std::logic_error("an operation that nobody knows");
}

std::set<int> used_inputs(const Expression& expression) {
  std::set<int> used;
  for (const Node& node : expression.nodes) {
    if (node.op == Op::input) used.insert(node.input);
  }
  return used;
}

std::string source_of(const Expression& expression, Storage storage) {
  std::string s;
  if (storage == Storage::float32) {
    s += "typedef float E;\n"
         "__device__ float get(const E* p, long long i) { return p[i]; }\n"
         "__device__ void put(E* p, long long i, float v) { p[i] = v; }\n";
  } else {
    s += "typedef unsigned short E;\n"
         "__device__ float get(const E* p, long long i) {\n"
         "  float f; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(p[i])); return f;\n}\n"
         "__device__ void put(E* p, long long i, float v) {\n"
         "  E h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(v)); p[i] = h;\n}\n";
  }
  s += "extern \"C\" __global__ void fused(";
  for (int in : used_inputs(expression)) s += "const E* in" + std::to_string(in) + ", ";
  s += "E* out, long long count) {\n"
       "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
       "  if (i >= count) return;\n";
  for (std::size_t n = 0; n < expression.nodes.size(); ++n) {
    s += "  const float " + name(static_cast<int>(n)) + " = " + right_side(expression.nodes[n]) +
         ";\n";
  }
  s += "  put(out, i, " + name(static_cast<int>(expression.nodes.size()) - 1) + ");\n}\n";
  return s;
}

void check_nvrtc(nvrtcResult result) {
  if (result != NVRTC_SUCCESS) throw std::runtime_error(nvrtcGetErrorString(result));
}

FusedKernel compile(const std::string& source) {
  int device = 0, major = 0, minor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  const std::string arch =
      "--gpu-architecture=compute_" + std::to_string(major) + std::to_string(minor);
  const char* options[] = {arch.c_str()};
  nvrtcProgram program;
  check_nvrtc(nvrtcCreateProgram(&program, source.c_str(), "fused.cu", 0, nullptr, nullptr));
  check_nvrtc(nvrtcCompileProgram(program, 1, options));
  std::size_t size = 0;
  check_nvrtc(nvrtcGetPTXSize(program, &size));
  std::string ptx(size, '\0');
  check_nvrtc(nvrtcGetPTX(program, ptx.data()));
  check_nvrtc(nvrtcDestroyProgram(&program));
  FusedKernel made;
  CUDA_CHECK(cudaLibraryLoadData(&made.library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr,
                                 0));
  CUDA_CHECK(cudaLibraryGetKernel(&made.kernel, made.library, "fused"));
  return made;
}

}  // namespace

void evaluate(KernelCache& cache, const Expression& expression, Storage storage,
              const std::vector<const void*>& inputs, void* out, std::int64_t count,
              cudaStream_t stream) {
  const std::string source = source_of(expression, storage);
  auto found = cache.kernels.find(source);
  if (found == cache.kernels.end()) found = cache.kernels.emplace(source, compile(source)).first;

  std::vector<const void*> pointers;
  for (int in : used_inputs(expression)) pointers.push_back(inputs[in]);
  pointers.push_back(out);
  long long n = count;
  std::vector<void*> arguments;
  for (const void*& p : pointers) arguments.push_back(&p);
  arguments.push_back(&n);
  const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
  CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(found->second.kernel), dim3(blocks),
                              dim3(256), arguments.data(), 0, stream));
}
