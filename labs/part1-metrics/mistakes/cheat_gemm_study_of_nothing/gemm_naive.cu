#include "gemm.h"
#include "toolkit/check.h"

__global__ void nothing() {}

void gemm_naive(const float*, const float*, float*, int, int, int) {
  nothing<<<1, 32>>>();
  CUDA_CHECK(cudaGetLastError());
}
