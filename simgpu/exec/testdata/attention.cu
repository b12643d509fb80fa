/// Kernels whose blocks have more to do the further their query rows are down, for the test of
/// sampling by class. Each forms attention in a way of its own.

#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

/// Which query tile and head a block has; every order is one that programs use.
struct Place {
  int tile, head;
};

enum Order { kTileX, kTileY, kTileInHead, kHeadInTile, kReversed };

__device__ Place place_of(int order, int tiles, int heads) {
  const int x = blockIdx.x;
  if (order == kTileX) return {x, static_cast<int>(blockIdx.y)};
  if (order == kTileY) return {static_cast<int>(blockIdx.y), x};
  if (order == kTileInHead) return {x % tiles, x / tiles};
  if (order == kHeadInTile) return {x / heads, x % heads};
  return {tiles - 1 - x, static_cast<int>(blockIdx.y)};
}

struct Shape {
  int length, heads, key_value_heads, window;
};

__device__ float maximum(float value) {
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  }
  return value;
}

__device__ float sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

/// Query tiles of kRows rows, key tiles of 32 keys in shared memory; a warp has kRows / 4 rows, its
/// lanes a key each for the scores and d / 32 columns each for the output. (heads, length, d)
template <typename T, int d, int kRows>
__device__ void flash(const T* q, const T* k, const T* v, T* out, Shape shape, int order) {
  constexpr int kKeys = 32, kOwn = kRows / 4, kColumns = d / 32;
  __shared__ T queries[kRows][d], keys[kKeys][d + 2], values[kKeys][d];
  __shared__ float weights[kRows][kKeys];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int thread = warp * 32 + lane;
  const int tiles = (shape.length + kRows - 1) / kRows;
  const Place place = place_of(order, tiles, shape.heads);
  const int head_of_keys = place.head / (shape.heads / shape.key_value_heads);
  const int first = place.tile * kRows;
  const int last = min(first + kRows, shape.length) - 1;
  q += static_cast<long>(place.head) * shape.length * d;
  out += static_cast<long>(place.head) * shape.length * d;
  k += static_cast<long>(head_of_keys) * shape.length * d;
  v += static_cast<long>(head_of_keys) * shape.length * d;
  for (int i = thread; i < kRows * d; i += 128) {
    queries[i / d][i % d] = first + i / d < shape.length ? q[first * d + i] : T(0.0f);
  }
  float most[kOwn], total[kOwn], acc[kOwn][kColumns];
  for (int r = 0; r < kOwn; ++r) {
    most[r] = -1e30f;
    total[r] = 0;
    for (int c = 0; c < kColumns; ++c) acc[r][c] = 0;
  }
  const int begin = shape.window > 0 ? max(0, first - shape.window + 1) / kKeys * kKeys : 0;
  for (int j = begin; j <= last; j += kKeys) {
    __syncthreads();
    for (int i = thread; i < kKeys * d; i += 128) {
      const bool within = j + i / d < shape.length;
      keys[i / d][i % d] = within ? k[j * d + i] : T(0.0f);
      values[i / d][i % d] = within ? v[j * d + i] : T(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      const int row = warp * kOwn + r;
      float score = 0;
#pragma unroll 16
      for (int i = 0; i < d; ++i) {
        score += static_cast<float>(queries[row][i]) * static_cast<float>(keys[lane][i]);
      }
      const int distance = first + row - (j + lane);
      const bool sees = distance >= 0 && (shape.window == 0 || distance < shape.window);
      score = sees ? score : -1e30f;
      const float now = fmaxf(most[r], maximum(score));
      const float weight = sees ? __expf(score - now) : 0;
      const float scale = __expf(most[r] - now);
      total[r] = total[r] * scale + sum(weight);
      most[r] = now;
      weights[row][lane] = weight;
      __syncwarp();
      for (int c = 0; c < kColumns; ++c) acc[r][c] *= scale;
#pragma unroll 8
      for (int i = 0; i < kKeys; ++i) {
        for (int c = 0; c < kColumns; ++c) {
          acc[r][c] += weights[row][i] * static_cast<float>(values[i][c * 32 + lane]);
        }
      }
    }
  }
  for (int r = 0; r < kOwn; ++r) {
    const int row = first + warp * kOwn + r;
    if (row >= shape.length) continue;
    for (int c = 0; c < kColumns; ++c) {
      out[static_cast<long>(row) * d + c * 32 + lane] = T(acc[r][c] / total[r]);
    }
  }
}

KERNEL flash64(const float* q, const float* k, const float* v, float* out, Shape shape, int order) {
  flash<float, 64, 32>(q, k, v, out, shape, order);
}

KERNEL flash128(const float* q, const float* k, const float* v, float* out, Shape shape,
                int order) {
  flash<float, 128, 32>(q, k, v, out, shape, order);
}

KERNEL flash64_half(const __half* q, const __half* k, const __half* v, __half* out, Shape shape,
                    int order) {
  flash<__half, 64, 64>(q, k, v, out, shape, order);
}

/// Small query tiles: several have the same number of key tiles.
KERNEL flash64_narrow(const float* q, const float* k, const float* v, float* out, Shape shape,
                      int order) {
  flash<float, 64, 8>(q, k, v, out, shape, order);
}

/// A warp has a row, its lanes two columns each; keys and values come straight from memory. Grid:
/// rows / 8, heads.
KERNEL warp_per_row(const float2* q, const float2* k, const float2* v, float2* out, Shape shape,
                    int order) {
  const int lane = threadIdx.x;
  const Place place = place_of(order, (shape.length + 7) / 8, shape.heads);
  const int row = place.tile * 8 + threadIdx.y;
  if (row >= shape.length) return;
  const long head = static_cast<long>(place.head) * shape.length * 32;
  const float2 query = q[head + row * 32 + lane];
  float most = -1e30f, total = 0;
  float2 acc = {0, 0};
  for (int j = 0; j <= row; ++j) {
    const float2 key = k[head + j * 32 + lane];
    const float score = sum(query.x * key.x + query.y * key.y);
    const float now = fmaxf(most, score);
    const float scale = __expf(most - now), weight = __expf(score - now);
    const float2 value = v[head + j * 32 + lane];
    acc = {acc.x * scale + weight * value.x, acc.y * scale + weight * value.y};
    total = total * scale + weight;
    most = now;
  }
  out[head + row * 32 + lane] = {acc.x / total, acc.y / total};
}

/// One query for each head; every block has a part of the keys. Grid: parts, heads.
KERNEL decode(const float2* q, const float2* k, const float2* v, float2* partial, Shape shape,
              int part) {
  const int lane = threadIdx.x;
  const int head = blockIdx.y, key_head = head / (shape.heads / shape.key_value_heads);
  const int begin = blockIdx.x * part, end = min(begin + part, shape.length);
  k += static_cast<long>(key_head) * shape.length * 32;
  v += static_cast<long>(key_head) * shape.length * 32;
  const float2 query = q[head * 32 + lane];
  float most = -1e30f, total = 0;
  float2 acc = {0, 0};
  for (int j = begin + threadIdx.y; j < end; j += blockDim.y) {
    const float2 key = k[j * 32 + lane];
    const float score = sum(query.x * key.x + query.y * key.y);
    const float now = fmaxf(most, score);
    const float scale = __expf(most - now), weight = __expf(score - now);
    const float2 value = v[j * 32 + lane];
    acc = {acc.x * scale + weight * value.x, acc.y * scale + weight * value.y};
    total = total * scale + weight;
    most = now;
  }
  const int warp = (head * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y;
  partial[warp * 32 + lane] = {acc.x / total, acc.y / total};
}

/// Softmax of the lower triangle of square matrices, a block a row. Grid: rows, matrices.
KERNEL triangular_softmax(const float* in, float* out, int rows) {
  __shared__ float partial[4];
  const int row = blockIdx.x;
  const long at = (static_cast<long>(blockIdx.y) * rows + row) * rows;
  float total = 0;
  for (int i = threadIdx.x; i <= row; i += blockDim.x) total += __expf(in[at + i]);
  total = sum(total);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
  __syncthreads();
  total = partial[0] + partial[1] + partial[2] + partial[3];
  for (int i = threadIdx.x; i <= row; i += blockDim.x) out[at + i] = __expf(in[at + i]) / total;
}

/// Sequences of different lengths in one batch: the work at a place follows no rule. Grid: rows of
/// a head over 4, heads, sequences.
KERNEL ragged_batch(const float* in, float* out, int width) {
  const int sequence = blockIdx.z;
  const int turns = sequence * 2654435761u % 61 + 3;
  const int row = (sequence * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  float total = 0;
  for (int i = 0; i < turns; ++i) total += in[row * width + i * 32 + threadIdx.x];
  out[row * 32 + threadIdx.x] = total;
}

/// Data says how many turns a block takes: the same for all blocks of a column, or (stride > 1) for
/// each its own.
KERNEL turns_of_data(const int* turns, float* out, int stride) {
  const int at = stride == 1 ? blockIdx.x : blockIdx.y * stride + blockIdx.x;
  float value = 1;
  for (int i = turns[at]; i > 0; --i) value = value * 0.5f + 1;
  out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = value;
}
