#include "gemm.h"
#include "toolkit/check.h"

// Sums of sums: the rounding error grows with the depth, not with the length.
__device__ float dot(const float* a, const float* b, int step, int length) {
  if (length <= 16) {
    float sum = 0.0f;
    for (int k = 0; k < length; ++k) sum += a[k] * b[static_cast<long>(k) * step];
    return sum;
  }
  const int half = length / 2;
  return dot(a, b, step, half) +
         dot(a + half, b + static_cast<long>(half) * step, step, length - half);
}

__global__ void products(const float* A, const float* B, float* C, int first_row, int last_row,
                         int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = first_row + blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= N) return;
  if (row > last_row) return;
  C[row * N + column] = dot(A + row * K, B + column, N, K);
}

void gemm_naive(const float* A, const float* B, float* C, int M, int N, int K) {
  cudaStream_t streams[2];
  cudaEvent_t begun, ended[2];
  CUDA_CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(begun, nullptr));
  for (int half = 0; half < 2; ++half) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&streams[half], cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&ended[half], cudaEventDisableTiming));
    CUDA_CHECK(cudaStreamWaitEvent(streams[half], begun));
    const int first = half * (M / 2), last = half == 0 ? M / 2 - 1 : M - 1;
    if (first <= last) {
      const dim3 grid((N + 63) / 64, (last - first) / 4 + 1);
      products<<<grid, dim3(64, 4), 0, streams[half]>>>(A, B, C, first, last, N, K);
      CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaEventRecord(ended[half], streams[half]));
    CUDA_CHECK(cudaStreamWaitEvent(nullptr, ended[half]));
    CUDA_CHECK(cudaEventDestroy(ended[half]));
    CUDA_CHECK(cudaStreamDestroy(streams[half]));
  }
  CUDA_CHECK(cudaEventDestroy(begun));
}
