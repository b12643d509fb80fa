#include "gemm.h"
#include "toolkit/check.h"

constexpr int kSide = 32;
constexpr int kParts = 4;

__global__ void part_of_k(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[kSide][kSide + 1];
  __shared__ float Bs[kSide][kSide + 1];
  const int each = ((K + kParts - 1) / kParts + kSide - 1) / kSide * kSide;
  const int begin = blockIdx.z * each;
  const int end = min(K, begin + each);
  if (begin >= end) return;  // the whole block: this part has no step
  const int row = blockIdx.y * kSide + threadIdx.y;
  const int column = blockIdx.x * kSide + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = begin; k0 < end; k0 += kSide) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ka < end ? A[row * K + ka] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = kb < end && column < N ? B[kb * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kSide; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row >= M) return;
  if (column >= N) return;
  atomicAdd(&C[row * N + column], sum);
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  CUDA_CHECK(cudaMemsetAsync(C, 0, sizeof(float) * M * N));
  const dim3 grid((N + kSide - 1) / kSide, (M + kSide - 1) / kSide, kParts);
  part_of_k<<<grid, dim3(kSide, kSide)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
