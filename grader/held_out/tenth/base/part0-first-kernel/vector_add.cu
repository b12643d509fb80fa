#include "vector_add.h"

#include <cstddef>

#include "toolkit/check.h"

namespace {

// grid-stride so I never have to think about how many blocks there are
__global__ void addThem(const float* lhs, const float* rhs, float* res, int count) {
  int stride = gridDim.x * blockDim.x;
  for (int id = threadIdx.x + blockIdx.x * blockDim.x; id < count; id += stride) {
    res[id] = lhs[id] + rhs[id];
  }
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int n) {
  const std::size_t size = static_cast<std::size_t>(n) * sizeof(float);
  float* buffer = nullptr;  // one allocation: a, then b, then c
  CUDA_CHECK(cudaMalloc(&buffer, 3 * size));
  float* devA = buffer;
  float* devB = buffer + n;
  float* devC = buffer + 2 * static_cast<std::size_t>(n);
  CUDA_CHECK(cudaMemcpy(devA, a, size, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(devB, b, size, cudaMemcpyHostToDevice));
  const int perBlock = 160;
  addThem<<<(n + perBlock - 1) / perBlock, perBlock>>>(devA, devB, devC, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(c, devC, size, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(buffer));
}
