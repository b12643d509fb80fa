#include <cuda/pipeline>

#include "gemm.h"
#include "toolkit/check.h"

namespace {

constexpr int kTile = 32;
constexpr int kStages = 2;

struct Stage {
  float a[kTile][kTile];
  float b[kTile][kTile];
};

using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;

__device__ void fetch(Pipeline& pipeline, float* to, const float* from, bool is_inside) {
  if (!is_inside) {
    *to = 0.0f;
    return;
  }
  cuda::memcpy_async(to, from, cuda::aligned_size_t<4>(sizeof(float)), pipeline);
}

__global__ void pipelined(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ Stage stages[kStages];
  Pipeline pipeline = cuda::make_pipeline();
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * kTile + x;
  const int tiles = (K + kTile - 1) / kTile;

  // 32 x 8 threads: each takes four rows of a tile.
  const auto start = [&](int tile) {
    Stage& stage = stages[tile % kStages];
    pipeline.producer_acquire();
    for (int r = y; r < kTile; r += blockDim.y) {
      const int row = blockIdx.y * kTile + r, ka = tile * kTile + x, kb = tile * kTile + r;
      fetch(pipeline, &stage.a[r][x], A + row * K + ka, row < M && ka < K);
      fetch(pipeline, &stage.b[r][x], B + kb * N + column, kb < K && column < N);
    }
    pipeline.producer_commit();
  };

  float sums[4] = {};
  start(0);
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      start(tile + 1);
      cuda::pipeline_consumer_wait_prior<1>(pipeline);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipeline);
    }
    __syncthreads();  // everybody's copies have arrived
    const Stage& stage = stages[tile % kStages];
    for (int k = 0; k < kTile; ++k) {
      for (int i = 0; i < 4; ++i) sums[i] += stage.a[y + 8 * i][k] * stage.b[k][x];
    }
    __syncthreads();
    pipeline.consumer_release();
  }
  if (column >= N) return;
  for (int i = 0; i < 4; ++i) {
    const int row = blockIdx.y * kTile + y + 8 * i;
    if (row >= M) return;
    C[row * N + column] = sums[i];
  }
}

}  // namespace

void gemm_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  pipelined<<<grid, dim3(32, 8)>>>(A, B, C, M, N, K);
  CUDA_CHECK(cudaGetLastError());
}
