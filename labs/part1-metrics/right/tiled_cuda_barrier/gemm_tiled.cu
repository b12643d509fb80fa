#include <cuda/barrier>
#include <utility>

#include "gemm.h"
#include "toolkit/check.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int T = 16;

__global__ void with_barriers(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[2][T][T], b[2][T][T];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, column = blockIdx.x * T + x;
  if (x == 0 && y == 0) init(&full, T * T);
  __syncthreads();

  const auto fill = [&](int buffer, int k0) {
    a[buffer][y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
    b[buffer][y][x] = k0 + y < K && column < N ? B[(k0 + y) * N + column] : 0.0f;
  };
  float sum = 0.0f;
  int buffer = 0;
  fill(buffer, 0);
  for (int k0 = 0; k0 < K; k0 += T) {
    Barrier::arrival_token token = full.arrive();
    // What follows fills the other buffer: nobody has read it since everybody arrived here.
    full.wait(std::move(token));
    for (int k = 0; k < T; ++k) sum += a[buffer][y][k] * b[buffer][k][x];
    buffer ^= 1;
    if (k0 + T < K) fill(buffer, k0 + T);
  }
  if (row >= M || column >= N) return;
  C[row * N + column] = sum;
}

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  with_barriers<<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
