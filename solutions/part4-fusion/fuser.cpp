#include "fuser.h"

#include <nvrtc.h>

#include <bit>
#include <set>
#include <stdexcept>

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your helpers go here: the source of an expression, its compilation, its launch.
namespace {

constexpr int kThreads = 256;

// The inputs that an expression uses, in order.
std::set<int> used_inputs(const Expression& expression) {
  std::set<int> used;
  for (const Node& node : expression.nodes) {
    if (node.op == Op::input) used.insert(node.input);
  }
  return used;
}

// The value of node i is the variable v<i>.
std::string variable(int node) { return "v" + std::to_string(node); }

// By its bits: no digit is lost, and infinities and NaN are numbers like others.
std::string literal(float constant) {
  return "__int_as_float(" + std::to_string(std::bit_cast<std::int32_t>(constant)) + ")";
}

std::string formula(const Node& node) {
  const std::string a = variable(node.a);
  const std::string b = variable(node.b);
  const std::string c = variable(node.c);
  switch (node.op) {
    case Op::input:
      return "load(x" + std::to_string(node.input) + "[i])";
    case Op::constant:
      return literal(node.constant);
    case Op::add:
      return a + " + " + b;
    case Op::sub:
      return a + " - " + b;
    case Op::mul:
      return a + " * " + b;
    case Op::div:
      return a + " / " + b;
    case Op::min:
      return "fminf(" + a + ", " + b + ")";
    case Op::max:
      return "fmaxf(" + a + ", " + b + ")";
    case Op::neg:
      return "-" + a;
    case Op::abs:
      return "fabsf(" + a + ")";
    case Op::exp:
      return "expf(" + a + ")";
    case Op::tanh:
      return "tanhf(" + a + ")";
    case Op::sqrt:
      return "sqrtf(" + a + ")";
    case Op::rsqrt:
      return "rsqrtf(" + a + ")";
    case Op::select:
      return a + " > 0.0f ? " + b + " : " + c;
  }
  throw std::logic_error("an expression has a node that is no operation");
}

// What elements are stored as, and how they are read and written. Half precision comes without a
// header: its bits, and the instructions that convert them.
const char* storage_source(Storage storage) {
  if (storage == Storage::float32) {
    return R"(
using Element = float;
__device__ float load(Element x) { return x; }
__device__ Element store(float x) { return x; }
)";
  }
  return R"(
using Element = unsigned short;
__device__ float load(Element x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
__device__ Element store(float x) {
  Element y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
)";
}

std::string source_of(const Expression& expression, Storage storage) {
  std::string source = storage_source(storage);
  source += "extern \"C\" __global__ void fused(";
  for (const int input : used_inputs(expression)) {
    source += "const Element* __restrict__ x" + std::to_string(input) + ", ";
  }
  source +=
      "Element* __restrict__ out, long long count) {\n"
      "  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= count) return;\n";
  int place = 0;
  for (const Node& node : expression.nodes) {
    source += "  const float " + variable(place++) + " = " + formula(node) + ";\n";
  }
  return source + "  out[i] = store(" + variable(place - 1) + ");\n}\n";
}

void check_nvrtc(nvrtcResult status) {
  if (status == NVRTC_SUCCESS) return;
  throw std::runtime_error(std::string("NVRTC: ") + nvrtcGetErrorString(status));
}

// A program of NVRTC that is destroyed when it goes out of scope.
class Program {
 public:
  explicit Program(const std::string& source) {
    check_nvrtc(nvrtcCreateProgram(&program_, source.c_str(), "fused.cu", 0, nullptr, nullptr));
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // PTX for the current device.
  std::string compile() {
    const std::string architecture = "--gpu-architecture=compute_" + compute_capability();
    const char* options[] = {architecture.c_str()};
    if (nvrtcCompileProgram(program_, 1, options) != NVRTC_SUCCESS) {
      throw std::runtime_error("the kernel's source does not compile:\n" + log());
    }
    std::size_t size = 0;
    check_nvrtc(nvrtcGetPTXSize(program_, &size));
    std::string ptx(size, '\0');
    check_nvrtc(nvrtcGetPTX(program_, ptx.data()));
    return ptx;
  }

 private:
  // "80" for 8.0
  static std::string compute_capability() {
    int device = 0;
    int major = 0;
    int minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return std::to_string(major) + std::to_string(minor);
  }

  std::string log() {
    std::size_t size = 0;
    check_nvrtc(nvrtcGetProgramLogSize(program_, &size));
    std::string log(size, '\0');
    check_nvrtc(nvrtcGetProgramLog(program_, log.data()));
    return log;
  }

  nvrtcProgram program_ = nullptr;
};

FusedKernel load(const std::string& ptx) {
  FusedKernel loaded;
  CUDA_CHECK(
      cudaLibraryLoadData(&loaded.library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUDA_CHECK(cudaLibraryGetKernel(&loaded.kernel, loaded.library, "fused"));
  return loaded;
}

const FusedKernel& find_or_compile(KernelCache& cache, const std::string& source) {
  const auto found = cache.kernels.find(source);
  if (found != cache.kernels.end()) return found->second;
  return cache.kernels[source] = load(Program(source).compile());
}

}  // namespace
// END SOLUTION

void evaluate(KernelCache& cache, const Expression& expression, Storage storage,
              const std::vector<const void*>& inputs, void* out, std::int64_t count,
              cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("write a kernel's source: one line of CUDA for each node");
  const FusedKernel& fused = find_or_compile(cache, source_of(expression, storage));

  // A launch takes the address of each argument.
  std::vector<const void*> used;
  for (const int input : used_inputs(expression)) used.push_back(inputs.at(input));
  std::vector<void*> arguments;
  for (const void*& array : used) arguments.push_back(&array);
  arguments.push_back(&out);
  arguments.push_back(&count);

  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  CUDA_CHECK(
      cudaLaunchKernel(fused.kernel, dim3(blocks), dim3(kThreads), arguments.data(), 0, stream));
  // END SOLUTION
}
