// A task library that compiles its kernel while it runs, with a header of the toolkit.
#include <cuda_runtime.h>
#include <nvrtc.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/contract/guest_call.h"
#include "labs/toolkit/cuda_library.h"

namespace {

constexpr const char* kSource = R"(
#include <cuda_fp16.h>
extern "C" __global__ void scale(const float* x, float* y, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __half2float(__float2half(alpha)) * x[i];
}
)";

std::string compiled() {
  const char* toolkit = std::getenv("CUDA_HOME");
  if (toolkit == nullptr) throw std::runtime_error("CUDA_HOME is not set");
  const std::string include = std::string("--include-path=") + toolkit + "/include";
  const std::vector<const char*> options = {"--gpu-architecture=compute_80", include.c_str()};
  nvrtcProgram program;
  nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()) !=
      NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    throw std::runtime_error(log);
  }
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, '\0');
  nvrtcGetPTX(program, ptx.data());
  nvrtcDestroyProgram(&program);
  return ptx;
}

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorName(error));
}

}  // namespace

ROOFLAB_ENTRY(scale_compiled_at_run_time) {
  const std::string ptx = compiled();
  cudaLibrary_t library = nullptr;
  check(cudaLibraryLoadData(&library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, "scale"));
  const auto* x = call.tensor<const float>("x");
  auto* y = call.tensor<float>("y");
  auto alpha = static_cast<float>(call.real("alpha"));
  auto n = static_cast<int>(call.integer("n"));
  void* arguments[] = {&x, &y, &alpha, &n};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3((n + 127) / 128), dim3(128),
                         arguments, 0, nullptr));
  check(cudaDeviceSynchronize());
  check(cudaLibraryUnload(library));
}
