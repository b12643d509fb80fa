#include "attention.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kTeam = 4;                    // warps that share the keys of one query
constexpr int kMost = 256;                  // elements of a head
constexpr int kPerLane = kMost / kWarpSize;

// Softmax of a part of the keys: weights are relative to `top`.
struct Part {
  float top = -INFINITY, total = 0;
  float value[kPerLane] = {};
};

template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape s) {
  __shared__ float tops[kTeam], totals[kTeam];
  __shared__ float sums[kTeam][kMost];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;

  int rest = blockIdx.x;
  const int head = rest % s.query_heads;
  rest /= s.query_heads;
  const int t = rest % s.query_length;
  const long long b = rest / s.query_length;
  const int shared_by = s.query_heads / s.key_value_heads;
  const long long cache = (b * s.key_value_heads + head / shared_by) * s.capacity;
  const T* query = q + static_cast<size_t>(blockIdx.x) * s.head_dim;

  float mine[kPerLane];
  for (int e = 0; e < kPerLane; ++e) {
    const int d = e * kWarpSize + lane;
    mine[e] = d < s.head_dim ? rooflab::to_float(query[d]) * s.scale : 0.0f;
  }

  const int last = positions[t];
  const int first = s.window > 0 ? max(0, last - s.window + 1) : 0;
  Part part;
  for (int j = first + warp; j <= last; j += kTeam) {
    const long long at = (cache + j % s.capacity) * s.head_dim;
    float dot = 0;
    for (int e = 0; e < kPerLane; ++e) {
      const int d = e * kWarpSize + lane;
      if (d < s.head_dim) dot += mine[e] * rooflab::to_float(keys[at + d]);
    }
    const float score = warp_sum(dot);
    const float top = fmaxf(part.top, score);
    const float keep = expf(part.top - top), weight = expf(score - top);
    part.total = part.total * keep + weight;
    for (int e = 0; e < kPerLane; ++e) {
      const int d = e * kWarpSize + lane;
      const float v = d < s.head_dim ? rooflab::to_float(values[at + d]) : 0.0f;
      part.value[e] = part.value[e] * keep + weight * v;
    }
    part.top = top;
  }

  if (lane == 0) {
    tops[warp] = part.top;
    totals[warp] = part.total;
  }
  for (int e = 0; e < kPerLane; ++e) sums[warp][e * kWarpSize + lane] = part.value[e];
  __syncthreads();

  float top = tops[0];
  for (int w = 1; w < kTeam; ++w) top = fmaxf(top, tops[w]);
  float total = 0;
  for (int w = 0; w < kTeam; ++w) total += totals[w] * expf(tops[w] - top);
  for (int d = threadIdx.x; d < s.head_dim; d += kTeam * kWarpSize) {
    float sum = 0;
    for (int w = 0; w < kTeam; ++w) sum += sums[w][d] * expf(tops[w] - top);
    out[static_cast<size_t>(blockIdx.x) * s.head_dim + d] = rooflab::from_float<T>(sum / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const int blocks = shape.batch * shape.query_length * shape.query_heads;
  attend<<<blocks, kTeam * kWarpSize, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
