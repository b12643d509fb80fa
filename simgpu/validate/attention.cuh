#pragma once

#include "rows.cuh"

/// Attention of one head after another in fp32, [heads, length, 64].
namespace validate {

constexpr int kHeadSize = 64;

/// Scores of all pairs: the first of three steps. Blocks of 16 x 16 threads.
__global__ void attention_scores(const float* q, const float* k, float* scores, int length) {
  __shared__ float tile_q[16][17];
  __shared__ float tile_k[16][17];
  const long head = blockIdx.z;
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  q += head * length * kHeadSize;
  k += head * length * kHeadSize;
  float sum = 0;
  for (int d = 0; d < kHeadSize; d += 16) {
    tile_q[threadIdx.y][threadIdx.x] = q[row * kHeadSize + d + threadIdx.x];
    tile_k[threadIdx.y][threadIdx.x] =
        k[(blockIdx.x * 16 + threadIdx.y) * kHeadSize + d + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_q[threadIdx.y][i] * tile_k[threadIdx.x][i];
    __syncthreads();
  }
  scores[head * length * length + static_cast<long>(row) * length + column] = sum * 0.125F;
}

/// Softmax of the scores' rows in place, a block of 256 threads for each.
__global__ void attention_softmax(float* scores, int length) {
  __shared__ float shared[8];
  float* row = scores + blockIdx.x * static_cast<long>(length);
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < length; i += 256) largest = fmaxf(largest, row[i]);
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, shared[i]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < length; i += 256) sum += __expf(row[i] - largest);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 8; ++i) sum += shared[i];
  for (int i = threadIdx.x; i < length; i += 256) row[i] = __expf(row[i] - largest) / sum;
}

/// Probabilities times V: the third step.
__global__ void attention_values(const float* scores, const float* v, float* out, int length) {
  __shared__ float tile_p[16][17];
  __shared__ float tile_v[16][17];
  const long head = blockIdx.z;
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  scores += head * length * length;
  v += head * length * kHeadSize;
  float sum = 0;
  for (int k = 0; k < length; k += 16) {
    tile_p[threadIdx.y][threadIdx.x] = scores[static_cast<long>(row) * length + k + threadIdx.x];
    tile_v[threadIdx.y][threadIdx.x] = v[(k + threadIdx.y) * kHeadSize + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_p[threadIdx.y][i] * tile_v[i][threadIdx.x];
    __syncthreads();
  }
  out[(head * length + row) * kHeadSize + column] = sum;
}

/// All in one kernel, a block of 32 threads for each head and a row for each thread: keys outside,
/// queries inside, as the first flash attention has it. Sums and outputs go through global memory.
/// The head size is no constant, so that the compiler cannot keep rows in registers.
__global__ void attention_flash_rows(const float* q, const float* k, const float* v, float* sums,
                                     float* maxima, float* out, int length, int size) {
  extern __shared__ float shared[];
  constexpr int kTile = 32;
  float* tile_q = shared;
  float* tile_k = tile_q + kTile * size;
  float* tile_v = tile_k + kTile * size;
  float* scores = tile_v + kTile * size;
  const int t = threadIdx.x;
  const long first = blockIdx.x * static_cast<long>(length);
  for (int j = 0; j < length; j += kTile) {
    for (int d = 0; d < size; ++d) {
      tile_k[t * size + d] = k[(first + j + t) * size + d];
      tile_v[t * size + d] = v[(first + j + t) * size + d];
    }
    __syncthreads();
    for (int i = 0; i < length; i += kTile) {
      const long row = first + i + t;
      for (int d = 0; d < size; ++d) tile_q[t * size + d] = q[row * size + d];
      const float old_max = maxima[row];
      const float old_sum = sums[row];
      float tile_max = -INFINITY;
      for (int y = 0; y < kTile; ++y) {
        float sum = 0;
        for (int d = 0; d < size; ++d) {
          sum += tile_q[t * size + d] * tile_k[y * size + d];
        }
        sum *= 0.125F;
        scores[t * kTile + y] = sum;
        tile_max = fmaxf(tile_max, sum);
      }
      float tile_sum = 0;
      for (int y = 0; y < kTile; ++y) {
        const float p = __expf(scores[t * kTile + y] - tile_max);
        scores[t * kTile + y] = p;
        tile_sum += p;
      }
      const float new_max = fmaxf(old_max, tile_max);
      const float keep = __expf(old_max - new_max);
      const float take = __expf(tile_max - new_max);
      const float new_sum = keep * old_sum + take * tile_sum;
      for (int d = 0; d < size; ++d) {
        float sum = 0;
        for (int y = 0; y < kTile; ++y) sum += scores[t * kTile + y] * tile_v[y * size + d];
        out[row * size + d] = (old_sum * keep * out[row * size + d] + take * sum) / new_sum;
      }
      maxima[row] = new_max;
      sums[row] = new_sum;
    }
    __syncthreads();
  }
}

/// All in one kernel, a warp for each query of a block of 8; keys and values in tiles of 32.
__global__ void attention_flash_warps(const float* q, const float* k, const float* v, float* out,
                                      int length) {
  __shared__ float tile_k[32][kHeadSize + 1];
  __shared__ float tile_v[32][kHeadSize];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const long first = blockIdx.y * static_cast<long>(length);
  const long row = first + blockIdx.x * 8 + warp;
  __shared__ float query[8][kHeadSize];
  query[warp][lane] = q[row * kHeadSize + lane];
  query[warp][lane + 32] = q[row * kHeadSize + lane + 32];
  float largest = -INFINITY;
  float sum = 0;
  float low = 0;
  float high = 0;
  for (int j = 0; j < length; j += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * kHeadSize; i += 256) {
      tile_k[i / kHeadSize][i % kHeadSize] = k[(first + j) * kHeadSize + i];
      tile_v[i / kHeadSize][i % kHeadSize] = v[(first + j) * kHeadSize + i];
    }
    __syncthreads();
    float score = 0;
    for (int d = 0; d < kHeadSize; ++d) score += query[warp][d] * tile_k[lane][d];
    score *= 0.125F;
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
  out[row * kHeadSize + lane] = low / sum;
  out[row * kHeadSize + lane + 32] = high / sum;
}

}  // namespace validate
