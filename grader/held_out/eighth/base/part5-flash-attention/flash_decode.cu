#include "flash_decode.h"

#include <cmath>
#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

using rooflab::from_float;
using rooflab::to_float;

namespace {

constexpr int kHeld = 8;  // elements of a head in a lane, at most

// What the parts leave in the workspace: not yet divided by their sums.
struct Parts {
  float* values;  // (batch * query_heads, splits, head_dim)
  float* top;     // (batch * query_heads, splits)
  float* sum;     // (batch * query_heads, splits)
};

// A warp for one part of the keys of one head.
template <typename T>
__global__ void part_of_keys(const T* q, const T* k, const T* v, Parts parts, AttentionShape s,
                             int splits) {
  const int lane = threadIdx.x;
  const int part = blockIdx.x;
  const int head = blockIdx.y;
  const int sequence = blockIdx.z;
  const int group = s.query_heads / s.key_value_heads;
  const int row = sequence * s.query_heads + head;
  const std::int64_t store =
      (static_cast<std::int64_t>(sequence) * s.key_value_heads + head / group) * s.key_length;
  const int held = s.head_dim / 32;

  const int oldest = s.window > 0 ? max(0, s.key_length - s.window) : 0;
  const int share = (s.key_length - oldest + splits - 1) / splits;
  const int begin = oldest + part * share;
  const int end = min(s.key_length, begin + share);

  float query[kHeld];
  float acc[kHeld];
  for (int h = 0; h < kHeld; ++h) {
    query[h] = h < held ? to_float(q[row * s.head_dim + h * 32 + lane]) : 0.0f;
    acc[h] = 0.0f;
  }
  float top = -INFINITY;
  float sum = 0.0f;
  for (int j = begin; j < end; ++j) {
    const T* key = k + (store + j) * s.head_dim;
    const T* value = v + (store + j) * s.head_dim;
    float dot = 0.0f;
    for (int h = 0; h < held; ++h) dot += query[h] * to_float(key[h * 32 + lane]);
    const float score = s.scale * warp_sum(dot);
    const float higher = fmaxf(top, score);
    const float keep = expf(top - higher);
    const float weight = expf(score - higher);
    sum = sum * keep + weight;
    for (int h = 0; h < held; ++h) {
      acc[h] = acc[h] * keep + weight * to_float(value[h * 32 + lane]);
    }
    top = higher;
  }

  const int slot = row * splits + part;
  for (int h = 0; h < held; ++h) parts.values[slot * s.head_dim + h * 32 + lane] = acc[h];
  if (lane == 0) {
    parts.top[slot] = top;
    parts.sum[slot] = sum;
  }
}

// A block for each head of each sequence, a thread for each element.
template <typename T>
__global__ void join_parts(Parts parts, T* out, int splits, int head_dim) {
  const int row = blockIdx.x;
  const int d = threadIdx.x;
  float top = -INFINITY;
  for (int p = 0; p < splits; ++p) top = fmaxf(top, parts.top[row * splits + p]);

  float total = 0.0f;
  float value = 0.0f;
  for (int p = 0; p < splits; ++p) {
    const int slot = row * splits + p;
    const float factor = expf(parts.top[slot] - top);
    total += factor * parts.sum[slot];
    value += factor * parts.values[slot * head_dim + d];
  }
  out[row * head_dim + d] = from_float<T>(value / total);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  const int rows = shape.batch * shape.query_heads;
  const std::size_t slots = static_cast<std::size_t>(rows) * splits;
  Parts parts;
  parts.values = workspace.take<float>(slots * shape.head_dim);
  parts.top = workspace.take<float>(slots);
  parts.sum = workspace.take<float>(slots);

  const dim3 grid(splits, shape.query_heads, shape.batch);
  part_of_keys<<<grid, 32, 0, stream>>>(q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  join_parts<<<rows, shape.head_dim, 0, stream>>>(parts, out, splits, shape.head_dim);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
