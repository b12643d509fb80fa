#include "attention.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kWarps = 4;       // of a block; all have the same query and take turns at its keys
constexpr int kMostEach = 8;    // elements of a head in a lane, 32 apart

// What a softmax knows of the keys that it has seen.
struct Running {
  float top = -INFINITY;
  float total = 0.0f;
  float sums[kMostEach] = {};

  // Makes `next` the largest score; returns by what a weight under the old one shrinks.
  __device__ float raise(float next) {
    const float shrink = top == next ? 1.0f : expf(top - next);
    top = next;
    total *= shrink;
    for (float& sum : sums) sum *= shrink;
    return shrink;
  }
};

template <typename T>
__global__ void attend(const T* q, const T* keys, const T* values, const int* positions, T* out,
                       AttentionShape shape) {
  __shared__ float tops[kWarps], totals[kWarps], results[kWarps][256];
  const int head = blockIdx.x % shape.query_heads;
  const int query = blockIdx.x / shape.query_heads;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int dim = shape.head_dim;

  const long long row =
      ((long long)blockIdx.y * shape.query_length + query) * shape.query_heads + head;
  float mine[kMostEach] = {};
  for (int e = 0; e < kMostEach; ++e) {
    const int d = lane + 32 * e;
    if (d < dim) mine[e] = to_float(q[row * dim + d]) * shape.scale;
  }

  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const long long plane = (long long)blockIdx.y * shape.key_value_heads + key_head;
  const T* my_keys = keys + plane * shape.capacity * dim;
  const T* my_values = values + plane * shape.capacity * dim;
  const int last = positions[query];
  const int first = shape.window == 0 ? 0 : max(0, last + 1 - shape.window);

  Running seen;
  for (int position = first + warp; position <= last; position += kWarps) {
    const long long slot = position % shape.capacity;
    const T* key = my_keys + slot * dim;
    const T* value = my_values + slot * dim;
    float score = 0.0f;
    for (int e = 0; e < kMostEach; ++e) {
      const int d = lane + 32 * e;
      if (d < dim) score += mine[e] * to_float(key[d]);
    }
    for (int hop = 16; hop > 0; hop /= 2) score += __shfl_xor_sync(~0u, score, hop);
    if (score > seen.top) seen.raise(score);
    const float weight = expf(score - seen.top);
    seen.total += weight;
    for (int e = 0; e < kMostEach; ++e) {
      const int d = lane + 32 * e;
      if (d < dim) seen.sums[e] += weight * to_float(value[d]);
    }
  }

  if (lane == 0) {
    tops[warp] = seen.top;
    totals[warp] = seen.total;
  }
  for (int e = 0; e < kMostEach; ++e) results[warp][lane + 32 * e] = seen.sums[e];
  __syncthreads();

  float top = tops[0];
  for (int w = 1; w < kWarps; ++w) top = fmaxf(top, tops[w]);
  float factors[kWarps], total = 0.0f;
  for (int w = 0; w < kWarps; ++w) {
    factors[w] = expf(tops[w] - top);
    total += totals[w] * factors[w];
  }
  for (int d = threadIdx.x; d < dim; d += kWarps * 32) {
    float sum = 0.0f;
    for (int w = 0; w < kWarps; ++w) sum += results[w][d] * factors[w];
    out[row * dim + d] = from_float<T>(sum / total);
  }
}

}  // namespace

template <typename T>
void attention(const T* q, const T* keys, const T* values, const int* positions, T* out,
               const AttentionShape& shape, cudaStream_t stream) {
  const dim3 grid(shape.query_length * shape.query_heads, shape.batch);
  attend<<<grid, kWarps * 32, 0, stream>>>(q, keys, values, positions, out, shape);
  CUDA_CHECK(cudaGetLastError());
}

template void attention(const float*, const float*, const float*, const int*, float*,
                        const AttentionShape&, cudaStream_t);
template void attention(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                        const int*, __nv_bfloat16*, const AttentionShape&, cudaStream_t);
