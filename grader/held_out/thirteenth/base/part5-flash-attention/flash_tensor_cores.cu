#include "flash_tensor_cores.h"

#include "fragments.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kWarps = 2;
constexpr int kQueries = kWarps * 16;
constexpr int kKeys = 32;
constexpr int kThreads = kWarps * 32;

__device__ int end_of(int query, const AttentionShape& shape) {
  const int newest = shape.causal ? query + shape.key_length - shape.query_length
                                  : shape.key_length - 1;
  return max(0, min(newest, shape.key_length - 1) + 1);
}

__device__ int begin_of(int query, const AttentionShape& shape) {
  if (!shape.causal || shape.window == 0) return 0;
  return max(0, query + shape.key_length - shape.query_length + 1 - shape.window);
}

// kCount rows from `first` on, zeros behind the last of `rows`.
template <int kCount, typename T, int kDim>
__device__ void stage(const T* matrix, int first, int rows, T (&tile)[kCount][kDim + 8]) {
  for (int t = threadIdx.x; t < kCount * kDim; t += kThreads) {
    const int r = t / kDim, d = t % kDim;
    tile[r][d] = first + r < rows ? matrix[(size_t)(first + r) * kDim + d]
                                  : rooflab::from_float<T>(0.0f);
  }
}

template <typename T, int kDim>
__global__ void flash(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                      AttentionShape shape) {
  constexpr int kStride = kDim + 8;
  __shared__ __align__(16) T keys[kKeys][kStride];
  __shared__ __align__(16) T values[kKeys][kStride];
  static_assert(kQueries == kKeys, "queries come by way of the keys' place");

  const int plane = blockIdx.z * shape.query_heads + blockIdx.y;  // head of a sequence
  const int sharing = shape.query_heads / shape.key_value_heads;
  const int key_plane = plane / sharing;  // a sequence has as many groups as key heads
  q += (size_t)plane * shape.query_length * kDim;
  out += (size_t)plane * shape.query_length * kDim;
  log_sum_exp += (size_t)plane * shape.query_length;
  k += (size_t)key_plane * shape.key_length * kDim;
  v += (size_t)key_plane * shape.key_length * kDim;

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tile_query = blockIdx.x * kQueries;
  const int last_query = min(tile_query + kQueries, shape.query_length) - 1;

  FragmentA<T> mine[kDim / 16];
  stage<kQueries, T, kDim>(q, tile_query, shape.query_length, keys);
  __syncthreads();
  for (int d = 0; d < kDim / 16; ++d) load_a(&keys[warp * 16][d * 16], kStride, mine[d]);

  int query[2], begin[2], end[2];
  for (int h = 0; h < 2; ++h) {
    query[h] = tile_query + warp * 16 + h * 8 + lane / 4;
    begin[h] = begin_of(query[h], shape);
    end[h] = end_of(query[h], shape);
  }

  float top[2] = {-INFINITY, -INFINITY}, total[2] = {};
  Sums results[kDim / 8];
  const int until = end_of(last_query, shape);
  for (int tile = begin_of(tile_query, shape) / kKeys * kKeys; tile < until; tile += kKeys) {
    __syncthreads();
    stage<kKeys, T, kDim>(k, tile, shape.key_length, keys);
    stage<kKeys, T, kDim>(v, tile, shape.key_length, values);
    __syncthreads();

    Sums scores[kKeys / 8];
#pragma unroll
    for (int d = 0; d < kDim / 16; ++d) {
#pragma unroll
      for (int half = 0; half < kKeys / 16; ++half) {
        FragmentB<T> b[2];
        load_b_transposed(&keys[half * 16][d * 16], kStride, b);
        multiply_add(mine[d], b[0], scores[2 * half]);
        multiply_add(mine[d], b[1], scores[2 * half + 1]);
      }
    }

    float next[2] = {top[0], top[1]};
#pragma unroll
    for (int s = 0; s < kKeys / 8; ++s) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const int h = n / 2, key = tile + s * 8 + lane % 4 * 2 + n % 2;
        float& score = scores[s].value[n];
        score = key >= begin[h] && key < end[h] ? score * shape.scale : -INFINITY;
        next[h] = fmaxf(next[h], score);
      }
    }
    float shrink[2], base[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      next[h] = warp_max<4>(next[h]);
      base[h] = next[h] == -INFINITY ? 0.0f : next[h];
      shrink[h] = expf(top[h] - base[h]);
      top[h] = next[h];
      total[h] *= shrink[h];
    }
#pragma unroll
    for (int s = 0; s < kKeys / 8; ++s) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        float& score = scores[s].value[n];
        score = expf(score - base[n / 2]);
        total[n / 2] += score;
      }
    }
#pragma unroll
    for (int c = 0; c < kDim / 8; ++c) {
#pragma unroll
      for (int n = 0; n < 4; ++n) results[c].value[n] *= shrink[n / 2];
    }
#pragma unroll
    for (int half = 0; half < kKeys / 16; ++half) {
      const Sums &left = scores[2 * half], &right = scores[2 * half + 1];
      const FragmentA<T> weights = {{pack<T>(left.value[0], left.value[1]),
                                     pack<T>(left.value[2], left.value[3]),
                                     pack<T>(right.value[0], right.value[1]),
                                     pack<T>(right.value[2], right.value[3])}};
#pragma unroll
      for (int c = 0; c < kDim / 16; ++c) {
        FragmentB<T> b[2];
        load_b(&values[half * 16][c * 16], kStride, b);
        multiply_add(weights, b[0], results[2 * c]);
        multiply_add(weights, b[1], results[2 * c + 1]);
      }
    }
  }

#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float sum = warp_sum<4>(total[h]);
    if (query[h] >= shape.query_length) continue;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
    for (int c = 0; c < kDim / 8; ++c) {
      T* to = out + (size_t)query[h] * kDim + c * 8 + lane % 4 * 2;
      to[0] = rooflab::from_float<T>(results[c].value[2 * h] * inverse);
      to[1] = rooflab::from_float<T>(results[c].value[2 * h + 1] * inverse);
    }
    if (lane % 4 == 0) log_sum_exp[query[h]] = sum > 0.0f ? top[h] + logf(sum) : -INFINITY;
  }
}

}  // namespace

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  auto* kernel = flash<T, 64>;
  if (shape.head_dim == 128) kernel = flash<T, 128>;
  if (shape.head_dim == 256) kernel = flash<T, 256>;
  const dim3 grid((shape.query_length + kQueries - 1) / kQueries, shape.query_heads, shape.batch);
  kernel<<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
