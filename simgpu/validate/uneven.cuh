#pragma once

#include "rows.cuh"

/// Kernels whose blocks do not all do the same: by their place in the grid, or by what they read.
namespace validate {

/// Causal attention of heads of 64, a warp for each query of a block of 8: the further down a
/// block's queries, the more tiles of 32 keys it reads.
__global__ void attention_causal_warps(const float* q, const float* k, const float* v, float* out,
                                       int length) {
  constexpr int kWidth = 64;
  __shared__ float tile_k[32][kWidth + 1];
  __shared__ float tile_v[32][kWidth];
  __shared__ float query[8][kWidth];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const long first = blockIdx.y * static_cast<long>(length);
  const int row = blockIdx.x * 8 + warp;
  query[warp][lane] = q[(first + row) * kWidth + lane];
  query[warp][lane + 32] = q[(first + row) * kWidth + lane + 32];
  float largest = -INFINITY;
  float sum = 0;
  float low = 0;
  float high = 0;
  for (int j = 0; j <= static_cast<int>(blockIdx.x) * 8 + 7; j += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * kWidth; i += 256) {
      tile_k[i / kWidth][i % kWidth] = k[(first + j) * kWidth + i];
      tile_v[i / kWidth][i % kWidth] = v[(first + j) * kWidth + i];
    }
    __syncthreads();
    float score = 0;
    for (int d = 0; d < kWidth; ++d) score += query[warp][d] * tile_k[lane][d];
    score = j + lane <= row ? score * 0.125F : -INFINITY;
    const float next = fmaxf(largest, warp_max(score));
    const float p = __expf(score - next);
    const float keep = __expf(largest - next);
    sum = keep * sum + warp_sum(p);
    low *= keep;
    high *= keep;
    for (int y = 0; y < 32; ++y) {
      const float weight = __shfl_sync(~0U, p, y);
      low += weight * tile_v[y][lane];
      high += weight * tile_v[y][lane + 32];
    }
    largest = next;
  }
  out[(first + row) * kWidth + lane] = low / sum;
  out[(first + row) * kWidth + lane + 32] = high / sum;
}

/// Sums of rows whose lengths stand in memory, a warp for each row of up to `width` elements.
__global__ void ragged_row_sums(const float* rows, const unsigned* lengths, float* sums,
                                long width) {
  const long row = blockIdx.x * 8L + threadIdx.x / 32;
  float sum = 0;
  for (unsigned i = threadIdx.x % 32; i < lengths[row]; i += 32) sum += rows[row * width + i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[row] = sum;
}

/// How often each of 256 numbers comes in a block's 4096, counted in shared memory: which banks and
/// places conflict depends on the numbers.
__global__ void block_histogram(const unsigned* numbers, unsigned* counts) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 16; ++i) {
    atomicAdd(&bins[numbers[blockIdx.x * 4096L + i * 256 + threadIdx.x]], 1);
  }
  __syncthreads();
  counts[blockIdx.x * 256L + threadIdx.x] = bins[threadIdx.x];
}

/// Each element fetched from where a number says.
__global__ void gather(const unsigned* places, const float* from, float* to) {
  const long i = blockIdx.x * 256L + threadIdx.x;
  to[i] = from[places[i]];
}

}  // namespace validate
