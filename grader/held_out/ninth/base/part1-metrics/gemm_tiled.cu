#include "gemm.h"
#include "toolkit/check.h"

namespace {

// A view of a row-major matrix that reads as zero outside of itself.
struct Padded {
  const float* data;
  int rows, columns;
  __device__ float operator()(int r, int c) const {
    return r < rows && c < columns ? data[r * columns + c] : 0.0f;
  }
};

template <int SIDE, int DEPTH>
__global__ void tiled(Padded a, Padded b, float* c, int M, int N, int K) {
  static_assert(SIDE % DEPTH == 0);
  __shared__ float sa[SIDE][DEPTH];
  __shared__ float sb[DEPTH][SIDE];
  const int tid = threadIdx.y * SIDE + threadIdx.x;
  const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += DEPTH) {
    if (tid < SIDE * DEPTH) {
      sa[tid / DEPTH][tid % DEPTH] = a(top + tid / DEPTH, k0 + tid % DEPTH);
      sb[tid / SIDE][tid % SIDE] = b(k0 + tid / SIDE, left + tid % SIDE);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
    __syncthreads();
  }
  const int row = top + threadIdx.y, col = left + threadIdx.x;
  if (row < M && col < N) c[row * N + col] = sum;
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int kSide = 16, kDepth = 8;
  const dim3 threads(kSide, kSide);
  const dim3 grid((N + kSide - 1) / kSide, (M + kSide - 1) / kSide);
  tiled<kSide, kDepth><<<grid, threads>>>(Padded{A, M, K}, Padded{B, K, N}, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
