#include "flash_decode.h"

#include <math.h>

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

#define LANES 32
#define SHARE 8 /* elements of a lane, at most 256 / 32 */

/* What the parts leave behind, split by split: values first, then maxima, then sums. */
struct part_results {
  float* values;  /* (batch * query_heads, splits, head_dim), not yet divided by the sum */
  float* largest; /* (batch * query_heads, splits) */
  float* sums;    /* (batch * query_heads, splits) */
};

/* Keys of the query, cut into parts of equal length. */
struct key_part {
  int begin;
  int end;
};

__device__ static struct key_part part_of(int split, int splits, struct AttentionShape s) {
  int first = 0;
  if (s.window > 0 && s.key_length > s.window) first = s.key_length - s.window;
  int visible = s.key_length - first;
  int size = (visible + splits - 1) / splits;
  struct key_part p;
  p.begin = min(first + split * size, s.key_length);
  p.end = min(p.begin + size, s.key_length);
  return p;
}

template <typename T>
__global__ void part_kernel(const T* q, const T* k, const T* v, struct part_results results,
                            int splits, struct AttentionShape s) {
  int split = blockIdx.x;
  int h = blockIdx.y;
  int b = blockIdx.z;
  int lane = threadIdx.x;
  int kv = h / (s.query_heads / s.key_value_heads);
  int head = b * s.query_heads + h;
  std::int64_t key_row = ((std::int64_t)b * s.key_value_heads + kv) * s.key_length;
  struct key_part part = part_of(split, splits, s);
  int steps = s.head_dim / LANES;
  float query[SHARE] = {};
  float acc[SHARE] = {};
  float largest = -INFINITY;
  float sum = 0.0f;
  int e, j;

  for (e = 0; e < steps; e++) {
    query[e] = rooflab::to_float(q[head * s.head_dim + e * LANES + lane]);
  }
  for (j = part.begin; j < part.end; j++) {
    const T* key = k + (key_row + j) * s.head_dim;
    const T* value = v + (key_row + j) * s.head_dim;
    float dot = 0.0f;
    for (e = 0; e < steps; e++) dot += query[e] * rooflab::to_float(key[e * LANES + lane]);
    float score = s.scale * warp_sum(dot);
    float now = fmaxf(largest, score);
    float shrink = expf(largest - now);
    float weight = expf(score - now);
    sum = sum * shrink + weight;
    for (e = 0; e < steps; e++) {
      acc[e] = acc[e] * shrink + weight * rooflab::to_float(value[e * LANES + lane]);
    }
    largest = now;
  }

  int slot = head * splits + split;
  for (e = 0; e < steps; e++) {
    results.values[(std::int64_t)slot * s.head_dim + e * LANES + lane] = acc[e];
  }
  if (lane == 0) {
    results.largest[slot] = largest;
    results.sums[slot] = sum;
  }
}

template <typename T>
__global__ void combine_kernel(struct part_results results, T* out, int splits, int head_dim) {
  int head = blockIdx.x;
  int d = threadIdx.x;
  int first = head * splits;
  float largest = -INFINITY;
  float sum = 0.0f;
  float acc = 0.0f;
  int n;

  for (n = 0; n < splits; n++) largest = fmaxf(largest, results.largest[first + n]);
  for (n = 0; n < splits; n++) {
    float factor = expf(results.largest[first + n] - largest);
    sum += factor * results.sums[first + n];
    acc += factor * results.values[(std::int64_t)(first + n) * head_dim + d];
  }
  out[head * head_dim + d] = rooflab::from_float<T>(acc / sum);
}

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  int heads = shape.batch * shape.query_heads;
  size_t parts = (size_t)heads * splits;
  struct part_results results;
  results.values = workspace.take<float>(parts * shape.head_dim);
  results.largest = workspace.take<float>(parts);
  results.sums = workspace.take<float>(parts);

  dim3 grid(splits, shape.query_heads, shape.batch);
  part_kernel<T><<<grid, LANES, 0, stream>>>(q, k, v, results, splits, shape);
  CUDA_CHECK(cudaGetLastError());
  combine_kernel<T><<<heads, shape.head_dim, 0, stream>>>(results, out, splits, shape.head_dim);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
