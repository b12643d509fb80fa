#include "attention.h"

#include <math_constants.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kWarps = 4;
constexpr int kMost = 256 / 32;  // elements of a head that a lane holds at most

// One block for a query of a head. Its warps take turns over the keys, each with a softmax of its
// own, and what they found is put together at the end.
template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape s) {
  __shared__ float tops[kWarps], masses[kWarps], parts[kWarps][256];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.x;  // (sequence, query)
  const int head = blockIdx.y;
  const long long sequence = row / s.query_length;
  const int shared_head = head / (s.query_heads / s.key_value_heads);
  const long long at = (static_cast<long long>(row) * s.query_heads + head) * s.head_dim;
  const long long base = (sequence * s.key_value_heads + shared_head) * s.capacity * s.head_dim;

  float query[kMost], sum[kMost] = {};
  for (int e = 0; e < kMost; ++e) {
    const int d = e * 32 + lane;
    query[e] = d < s.head_dim ? rooflab::to_float(q[at + d]) * s.scale : 0.0f;
  }

  const int last = positions[row % s.query_length];
  const int first = s.window > 0 ? max(0, last - s.window + 1) : 0;
  float top = -CUDART_INF_F, mass = 0.0f;
  for (int key = first + warp; key <= last; key += kWarps) {
    const long long slot = base + static_cast<long long>(key % s.capacity) * s.head_dim;
    float score = 0.0f;
    for (int e = 0; e < kMost; ++e) {
      const int d = e * 32 + lane;
      if (d < s.head_dim) score += query[e] * rooflab::to_float(keys[slot + d]);
    }
    for (int hop = 16; hop > 0; hop /= 2) score += __shfl_xor_sync(0xffffffff, score, hop);

    const float higher = fmaxf(top, score);
    const float shrink = expf(top - higher);
    const float weight = expf(score - higher);
    mass = mass * shrink + weight;
    for (int e = 0; e < kMost; ++e) {
      const int d = e * 32 + lane;
      if (d < s.head_dim) sum[e] = sum[e] * shrink + weight * rooflab::to_float(values[slot + d]);
    }
    top = higher;
  }

  if (lane == 0) {
    tops[warp] = top;
    masses[warp] = mass;
  }
  for (int e = 0; e < kMost; ++e) parts[warp][e * 32 + lane] = sum[e];
  __syncthreads();

  float highest = tops[0];
  for (int w = 1; w < kWarps; ++w) highest = fmaxf(highest, tops[w]);
  float total = 0.0f;
  for (int w = 0; w < kWarps; ++w) total += masses[w] * expf(tops[w] - highest);
  for (int d = threadIdx.x; d < s.head_dim; d += 32 * kWarps) {
    float result = 0.0f;
    for (int w = 0; w < kWarps; ++w) result += parts[w][d] * expf(tops[w] - highest);
    out[at + d] = rooflab::from_float<T>(result / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.batch * shape.query_length, shape.query_heads);
  attend<<<grid, 32 * kWarps, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
