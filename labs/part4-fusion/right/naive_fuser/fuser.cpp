#include "fuser.h"

#include <nvrtc.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "toolkit/check.h"

namespace {

std::string bits_of(float x) {
  unsigned bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return std::to_string(bits) + "u";
}

std::string statement(const Node& n) {
  const std::string a = "t" + std::to_string(n.a), b = "t" + std::to_string(n.b),
                    c = "t" + std::to_string(n.c);
  if (n.op == Op::input) return "get(in" + std::to_string(n.input) + ", i)";
  if (n.op == Op::constant) return "__uint_as_float(" + bits_of(n.constant) + ")";
  if (n.op == Op::add) return a + " + " + b;
  if (n.op == Op::sub) return a + " - " + b;
  if (n.op == Op::mul) return a + " * " + b;
  if (n.op == Op::div) return a + " / " + b;
  if (n.op == Op::min) return "fminf(" + a + ", " + b + ")";
  if (n.op == Op::max) return "fmaxf(" + a + ", " + b + ")";
  if (n.op == Op::neg) return "-" + a;
  if (n.op == Op::abs) return "fabsf(" + a + ")";
  if (n.op == Op::exp) return "expf(" + a + ")";
  if (n.op == Op::tanh) return "tanhf(" + a + ")";
  if (n.op == Op::sqrt) return "sqrtf(" + a + ")";
  if (n.op == Op::rsqrt) return "rsqrtf(" + a + ")";
  if (n.op == Op::select) return a + " > 0 ? " + b + " : " + c;
  throw std::logic_error("no such operation");
}

std::string source_of(const Expression& expression, Storage storage, std::size_t inputs) {
  const bool half = storage == Storage::float16;
  const std::string type = half ? "unsigned short" : "float";
  std::string text =
      half ? "__device__ float get(const unsigned short* p, int i) {\n"
             "  float x; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(p[i])); return x; }\n"
             "__device__ void set(unsigned short* p, int i, float x) {\n"
             "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(p[i]) : \"f\"(x)); }\n"
           : "__device__ float get(const float* p, int i) { return p[i]; }\n"
             "__device__ void set(float* p, int i, float x) { p[i] = x; }\n";
  text += "extern \"C\" __global__ void run(";
  for (std::size_t k = 0; k < inputs; ++k)
    text += "const " + type + "* in" + std::to_string(k) + ", ";
  text += type + "* out, long long count) {\n";
  text += "  for (int i = threadIdx.x; i < count; i += blockDim.x) {\n";
  int number = 0;
  for (const Node& node : expression.nodes) {
    text += "    float t" + std::to_string(number++) + " = " + statement(node) + ";\n";
  }
  return text + "    set(out, i, t" + std::to_string(number - 1) + ");\n  }\n}\n";
}

FusedKernel compile(const std::string& source) {
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const std::string flag =
      "--gpu-architecture=compute_" + std::to_string(device.major) + std::to_string(device.minor);
  const char* flags[] = {flag.c_str()};
  nvrtcProgram program;
  nvrtcCreateProgram(&program, source.c_str(), "run.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 1, flags) != NVRTC_SUCCESS) throw std::runtime_error("compile");
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, ' ');
  nvrtcGetPTX(program, &ptx[0]);
  nvrtcDestroyProgram(&program);
  FusedKernel made;
  CUDA_CHECK(
      cudaLibraryLoadData(&made.library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUDA_CHECK(cudaLibraryGetKernel(&made.kernel, made.library, "run"));
  return made;
}

}  // namespace

void evaluate(KernelCache& cache, const Expression& expression, Storage storage,
              const std::vector<const void*>& inputs, void* out, std::int64_t count,
              cudaStream_t stream) {
  const std::string source = source_of(expression, storage, inputs.size());
  if (cache.kernels.count(source) == 0) cache.kernels[source] = compile(source);
  std::vector<const void*> pointers = inputs;
  std::vector<void*> arguments;
  for (const void*& pointer : pointers) arguments.push_back(&pointer);
  arguments.push_back(&out);
  arguments.push_back(&count);
  CUDA_CHECK(cudaLaunchKernel(cache.kernels[source].kernel, dim3(1), dim3(64), arguments.data(), 0,
                              stream));
}
