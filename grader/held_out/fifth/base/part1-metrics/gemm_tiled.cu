#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int T = 16;

// A matrix that is 0 outside of its bounds.
struct Padded {
  const float* data;
  int height, width;
  __device__ float operator()(int r, int c) const {
    if (r >= height || c >= width) return 0.0f;
    return data[r * width + c];
  }
};

// Blocks of T * T threads in one dimension; tiles of C are numbered row by row.
__global__ void tiles(Padded A, Padded B, float* C, int per_row) {
  __shared__ float left[T * T], top[T * T];
  const int y = threadIdx.x / T, x = threadIdx.x % T;
  const int i0 = blockIdx.x / per_row * T, j0 = blockIdx.x % per_row * T;

  float sum = 0.0f;
  for (int k0 = 0; k0 < A.width; k0 += T) {
    left[y * T + x] = A(i0 + y, k0 + x);
    top[y * T + x] = B(k0 + y, j0 + x);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k) sum += left[y * T + k] * top[k * T + x];
    __syncthreads();
  }
  if (i0 + y < A.height && j0 + x < B.width) C[(i0 + y) * B.width + j0 + x] = sum;
}

int pieces(int length) { return (length + T - 1) / T; }

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const int down = pieces(M), across = pieces(N);
  tiles<<<down * across, T * T>>>(Padded{A, M, K}, Padded{B, K, N}, C, across);
  CUDA_CHECK(cudaGetLastError());
}
