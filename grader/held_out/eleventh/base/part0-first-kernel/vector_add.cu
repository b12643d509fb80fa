#include "vector_add.h"

#include "toolkit/check.h"

namespace {

constexpr int kLanes = 96;

__global__ void add_elements(const float* left, const float* right, float* total, int count) {
  const int step = gridDim.x * blockDim.x;
  for (int at = blockDim.x * blockIdx.x + threadIdx.x; at < count; at += step) {
    total[at] = left[at] + right[at];
  }
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int n) {
  const size_t length = n;
  const size_t bytes = length * sizeof(float);
  // One piece of memory for all three: a, then b, then c.
  float* room = nullptr;
  CUDA_CHECK(cudaMalloc(&room, 3 * bytes));
  float* left = room;
  float* right = room + length;
  float* total = room + 2 * length;
  CUDA_CHECK(cudaMemcpy(left, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(right, b, bytes, cudaMemcpyHostToDevice));
  const int groups = (n + 2 * kLanes - 1) / (2 * kLanes);
  add_elements<<<groups, kLanes>>>(left, right, total, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(c, total, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(room));
}
