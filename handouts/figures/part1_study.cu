// Runs the solutions' GEMM study for sizes from 64 to 1024, more than a grade does, and writes its
// chart into the folder that the first argument names. `measure` links it with the other solutions.

#include <cuda_runtime.h>

#include <cstdio>

#include "gemm_study.h"
#include "guest_support/gpu_at_hand.h"
#include "toolkit/check.h"
#include "toolkit/check_cublas.h"

namespace {

float* zeros(std::size_t count) {
  float* array = nullptr;
  CUDA_CHECK(cudaMalloc(&array, sizeof(float) * count));
  CUDA_CHECK(cudaMemset(array, 0, sizeof(float) * count));
  return array;
}

}  // namespace

int main(int, char** arguments) {
  constexpr std::size_t kElements = std::size_t{1024} * 1024;
  const rooflab::GpuAtHand gpu = rooflab::gpu_at_hand();
  GemmStudyDevice device{.name = gpu.name,
                         .gpu = gpu.peaks,
                         .cublas = nullptr,
                         .sizes = {64, 128, 256, 512, 1024},
                         .A = zeros(kElements),
                         .B = zeros(kElements),
                         .C = zeros(kElements),
                         .n_warmup = 1,
                         .n_repeat = 3};
  CUBLAS_CHECK(cublasCreate(&device.cublas));
  const GemmFindings findings = gemm_study(device, arguments[1]);
  std::printf("%d %d\n", findings.tiling_pays_from, findings.launch_hides_up_to);
  CUBLAS_CHECK(cublasDestroy(device.cublas));
}
