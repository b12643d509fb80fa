#include "gemm.h"
#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: load a tile of A and one of B, multiply them, move on along K.
namespace {

constexpr int kTile = 32;                // a tile has kTile x kTile elements
constexpr int kThreads = kTile * kTile;  // of a block: one for each element of its tile of C

// The bound lets the compiler know how many threads must share the registers of a multiprocessor.
__global__ void __launch_bounds__(kThreads)
    gemm_tiled_kernel(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[kTile][kTile];
  __shared__ float Bs[kTile][kTile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int column = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    // Zeros beyond the edges add nothing, so the loop over k needs no checks. Threads outside C
    // stay on: their block needs the values they load, and every thread must reach both barriers.
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && column < N ? B[(k0 + ty) * N + column] : 0.0f;
    __syncthreads();  // the tiles are complete

    for (int k = 0; k < kTile; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();  // nobody needs the tiles any more
  }

  if (row < M && column < N) C[row * N + column] = sum;
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("start from gemm_naive, and load tiles into shared memory first");
  const dim3 block(kTile, kTile);
  const dim3 grid(divide_up(N, kTile), divide_up(M, kTile));
  gemm_tiled_kernel<<<grid, block>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}
