#include "gemv.h"
#include "toolkit/check.h"

__global__ void dot(const float* A, const float* x, float* y, int M, int K) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= M) return;
  const int lane = threadIdx.x;
  const unsigned working = __ballot_sync(0xffffffffu, lane < K);
  if (lane >= K) return;
  float sum = 0.0f;
  for (int k = lane; k < K; k += 32) sum += A[static_cast<size_t>(row) * K + k] * x[k];
  const int lanes = __popc(working);
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_down_sync(working, sum, distance);
    if (lane + distance < lanes) sum += other;
  }
  if (lane != 0) return;
  y[row] = sum;
}

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const dim3 block(32, 5);
  dot<<<(M + 4) / 5, block>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
