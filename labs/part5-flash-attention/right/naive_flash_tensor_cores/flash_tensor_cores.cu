#include <stdexcept>

#include "flash_tensor_cores.h"
#include "fragments.h"
#include "toolkit/check.h"
#include "warp.h"

template <typename T, int kDim>
__device__ void copy16(const T* rows, int count, T (&tile)[16][kDim]) {
  __syncwarp();
  for (int i = threadIdx.x; i < 16 * kDim; i += 32) {
    const int row = i / kDim;
    tile[row][i % kDim] = row < count ? rows[i] : rooflab::from_float<T>(0.0f);
  }
  __syncwarp();
}

template <typename T, int kDim>
__global__ void attend(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                       AttentionShape s) {
  __shared__ __align__(16) T tile[16][kDim];
  const int first_query = blockIdx.x * 16;
  const size_t row0 =
      (static_cast<size_t>(blockIdx.z) * s.query_heads + blockIdx.y) * s.query_length + first_query;
  const size_t key_head = static_cast<size_t>(blockIdx.z) * s.key_value_heads +
                          blockIdx.y / (s.query_heads / s.key_value_heads);
  const size_t key0 = key_head * s.key_length;

  copy16<T, kDim>(q + row0 * kDim, s.query_length - first_query, tile);
  FragmentA<T> queries[kDim / 16];
  for (int d = 0; d < kDim / 16; ++d) load_a(&tile[0][16 * d], kDim, queries[d]);

  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  const int offset = s.key_length - s.query_length;
  Sums results[kDim / 8];
  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f};
  int begin = 0, end = s.key_length;
  if (s.causal) end = min(end, first_query + 16 + offset);
  if (s.window > 0) begin = max(0, first_query + offset + 1 - s.window) / 16 * 16;
  for (int key = begin; key < end; key += 16) {
    copy16<T, kDim>(k + (key0 + key) * kDim, s.key_length - key, tile);
    Sums scores[2];
    for (int d = 0; d < kDim / 16; ++d) {
      FragmentB<T> keys[2];
      load_b_transposed(&tile[0][16 * d], kDim, keys);
      for (int n = 0; n < 2; ++n) multiply_add(queries[d], keys[n], scores[n]);
    }
    for (int r = 0; r < 2; ++r) {
      const int newest = first_query + row + 8 * r + offset;
      float next = -INFINITY;
      for (int n = 0; n < 4; ++n) {
        float& score = scores[n / 2].value[2 * r + n % 2];
        const int j = key + n / 2 * 8 + column + n % 2;
        const bool is_seen =
            j < s.key_length &&
            (!s.causal || (j <= newest && (s.window == 0 || j > newest - s.window)));
        score = is_seen ? s.scale * score : -INFINITY;
        next = fmaxf(next, score);
      }
      next = fmaxf(largest[r], warp_max<4>(next));
      const float shrink = next == -INFINITY ? 0.0f : expf(largest[r] - next);
      largest[r] = next;
      float added = 0.0f;
      for (int n = 0; n < 4; ++n) {
        float& score = scores[n / 2].value[2 * r + n % 2];
        score = score == -INFINITY ? 0.0f : expf(score - next);
        added += score;
      }
      sum[r] = sum[r] * shrink + warp_sum<4>(added);
      for (Sums& result : results) {
        result.value[2 * r] *= shrink;
        result.value[2 * r + 1] *= shrink;
      }
    }
    copy16<T, kDim>(v + (key0 + key) * kDim, s.key_length - key, tile);
    const float(&l)[4] = scores[0].value;
    const float(&r)[4] = scores[1].value;
    const FragmentA<T> weights = {
        {pack<T>(l[0], l[1]), pack<T>(l[2], l[3]), pack<T>(r[0], r[1]), pack<T>(r[2], r[3])}};
    for (int d = 0; d < kDim / 16; ++d) {
      FragmentB<T> values[2];
      load_b(&tile[0][16 * d], kDim, values);
      for (int n = 0; n < 2; ++n) multiply_add(weights, values[n], results[2 * d + n]);
    }
  }
  for (int r = 0; r < 2; ++r) {
    if (first_query + row + 8 * r >= s.query_length) continue;
    const size_t at = row0 + row + 8 * r;
    for (int d = 0; d < kDim; ++d) {
      const int place = d % 8 - column;
      if (place != 0 && place != 1) continue;
      const float value = results[d / 8].value[2 * r + place];
      out[at * kDim + d] = rooflab::from_float<T>(sum[r] > 0.0f ? value / sum[r] : 0.0f);
    }
    if (column == 0) log_sum_exp[at] = sum[r] > 0.0f ? largest[r] + logf(sum[r]) : -INFINITY;
  }
}

template <typename T>
void flash_tensor_cores(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                        const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + 15) / 16, shape.query_heads, shape.batch);
  const auto run = [&](auto kernel) {
    kernel<<<grid, 32, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  };
  if (shape.head_dim == 64) {
    run(attend<T, 64>);
  } else if (shape.head_dim == 128) {
    run(attend<T, 128>);
  } else if (shape.head_dim == 256) {
    run(attend<T, 256>);
  } else {
    throw std::invalid_argument("head_dim");
  }
  CUDA_CHECK(cudaGetLastError());
}

template void flash_tensor_cores(const __half*, const __half*, const __half*, __half*, float*,
                                 const AttentionShape&, cudaStream_t);
template void flash_tensor_cores(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                                 __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
