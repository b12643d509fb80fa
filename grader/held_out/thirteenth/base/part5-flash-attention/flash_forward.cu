#include "flash_forward.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kLanes = 8;    // that share a query: each has every eighth number of it
constexpr int kQueries = 16;
constexpr int kKeys = 16;
constexpr int kThreads = kQueries * kLanes;

struct Sight {
  int begin, end;
  __device__ Sight(int query, const AttentionShape& shape) : begin(0), end(shape.key_length) {
    if (!shape.causal) return;
    end = max(0, shape.key_length - shape.query_length + query + 1);
    if (shape.window > 0) begin = max(0, end - shape.window);
  }
};

template <typename T, int kDim>
__global__ void flash(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                      AttentionShape shape) {
  constexpr int kEach = kDim / kLanes;
  __shared__ float keys[kKeys][kDim], values[kKeys][kDim];
  const int heads = shape.query_heads;
  const int head = blockIdx.y, sequence = blockIdx.z;
  const int group = heads / shape.key_value_heads;
  const size_t key_plane = (size_t)sequence * shape.key_value_heads + head / group;
  const T* head_k = k + key_plane * shape.key_length * kDim;
  const T* head_v = v + key_plane * shape.key_length * kDim;

  const int lane = threadIdx.x % kLanes;
  const int tile_query = (gridDim.x - 1 - blockIdx.x) * kQueries;  // heaviest first
  const int query = tile_query + threadIdx.x / kLanes;
  const int last_query = min(tile_query + kQueries, shape.query_length) - 1;
  const size_t row = ((size_t)sequence * heads + head) * shape.query_length + query;

  float mine[kEach], sums[kEach] = {};
  for (int e = 0; e < kEach; ++e) {
    mine[e] = query < shape.query_length ? to_float(q[row * kDim + lane + e * kLanes]) : 0.0f;
  }
  float top = -INFINITY, total = 0.0f;

  const Sight sight(query, shape);
  const int from = Sight(tile_query, shape).begin / kKeys * kKeys;
  const int until = Sight(last_query, shape).end;
  for (int tile = from; tile < until; tile += kKeys) {
    __syncthreads();
    for (int t = threadIdx.x; t < kKeys * kDim; t += kThreads) {
      const int r = t / kDim, d = t % kDim;
      const bool exists = tile + r < shape.key_length;
      const size_t at = (size_t)(tile + r) * kDim + d;
      keys[r][d] = exists ? to_float(head_k[at]) : 0.0f;
      values[r][d] = exists ? to_float(head_v[at]) : 0.0f;
    }
    __syncthreads();

    float weights[kKeys], next = top;
#pragma unroll
    for (int r = 0; r < kKeys; ++r) {
      float part = 0.0f;
      for (int e = 0; e < kEach; ++e) part += mine[e] * keys[r][lane + e * kLanes];
      const float score = warp_sum<kLanes>(part) * shape.scale;
      const bool seen = tile + r >= sight.begin && tile + r < sight.end;
      weights[r] = seen ? score : -INFINITY;
      next = fmaxf(next, weights[r]);
    }
    if (next == -INFINITY) continue;
    const float shrink = expf(top - next);
    total *= shrink;
    for (int e = 0; e < kEach; ++e) sums[e] *= shrink;
    top = next;
#pragma unroll
    for (int r = 0; r < kKeys; ++r) {
      const float weight = expf(weights[r] - top);
      total += weight;
      for (int e = 0; e < kEach; ++e) sums[e] += weight * values[r][lane + e * kLanes];
    }
  }

  if (query >= shape.query_length) return;
  const float inverse = total == 0.0f ? 0.0f : 1.0f / total;
  for (int e = 0; e < kEach; ++e) {
    out[row * kDim + lane + e * kLanes] = from_float<T>(sums[e] * inverse);
  }
  if (lane == 0) log_sum_exp[row] = total == 0.0f ? -INFINITY : top + logf(total);
}

template <int kDim, typename T>
void launch(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
            const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid((shape.query_length + kQueries - 1) / kQueries, shape.query_heads, shape.batch);
  flash<T, kDim><<<grid, kThreads, 0, stream>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

template <typename T>
void flash_forward(const T* q, const T* k, const T* v, T* out, float* log_sum_exp,
                   const AttentionShape& shape, cudaStream_t stream) {
  switch (shape.head_dim) {
    case 64: return launch<64>(q, k, v, out, log_sum_exp, shape, stream);
    case 128: return launch<128>(q, k, v, out, log_sum_exp, shape, stream);
    default: return launch<256>(q, k, v, out, log_sum_exp, shape, stream);
  }
}

template void flash_forward(const float*, const float*, const float*, float*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __half*, const __half*, const __half*, __half*, float*,
                            const AttentionShape&, cudaStream_t);
template void flash_forward(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                            __nv_bfloat16*, float*, const AttentionShape&, cudaStream_t);
