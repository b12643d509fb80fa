#include "vector_add.h"

#include "toolkit/check.h"

namespace {

constexpr int kThreads = 96;
constexpr int kEach = 2;

// The three arrays in the GPU's memory.
struct OnDevice {
  float* left = nullptr;
  float* right = nullptr;
  float* total = nullptr;
  size_t size;

  explicit OnDevice(int n) : size(sizeof(float) * n) {
    CUDA_CHECK(cudaMalloc(&left, size));
    CUDA_CHECK(cudaMalloc(&right, size));
    CUDA_CHECK(cudaMalloc(&total, size));
  }
  ~OnDevice() {
    cudaFree(left);
    cudaFree(right);
    cudaFree(total);
  }
};

// A block has kThreads * kEach neighbouring elements; a thread takes every kThreads-th of them.
__global__ void add_pieces(const float* left, const float* right, float* total, int n) {
  int at = blockIdx.x * (kThreads * kEach) + threadIdx.x;
  for (int turn = 0; turn < kEach; ++turn, at += kThreads) {
    if (at >= n) return;
    total[at] = left[at] + right[at];
  }
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int n) {
  OnDevice device(n);
  CUDA_CHECK(cudaMemcpy(device.left, a, device.size, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device.right, b, device.size, cudaMemcpyHostToDevice));

  const int piece = kThreads * kEach;
  int pieces = n / piece;
  if (pieces * piece < n) ++pieces;
  add_pieces<<<pieces, kThreads>>>(device.left, device.right, device.total, n);
  CUDA_CHECK(cudaGetLastError());

  CUDA_CHECK(cudaMemcpy(c, device.total, device.size, cudaMemcpyDeviceToHost));
}
