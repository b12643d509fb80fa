#include "flash_decode.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

using rooflab::to_float;

// results of the parts, side by side in the workspace
struct Parts {
  float* values;   // (batch * query_heads, splits, head_dim), not yet divided
  float* maxima;   // (batch * query_heads, splits)
  float* sums;     // (batch * query_heads, splits)
};

template <typename T>
__global__ void one_part(const T* q, const T* k, const T* v, Parts parts, AttentionShape s,
                         int splits) {
  const int part = blockIdx.x;
  const int h = blockIdx.y;
  const int b = blockIdx.z;
  const int lane = threadIdx.x;
  const int kv = b * s.key_value_heads + h / (s.query_heads / s.key_value_heads);
  const int row = b * s.query_heads + h;
  // the keys that are seen, cut into even parts
  const int oldest = s.window > 0 ? max(0, s.key_length - s.window) : 0;
  const int seen = s.key_length - oldest;
  const int each = (seen + splits - 1) / splits;
  const int from = oldest + part * each;
  const int to = min(from + each, s.key_length);
  const int rounds = s.head_dim / 32;

  float qr[8], acc[8];
  for (int e = 0; e < rounds; ++e) {
    qr[e] = to_float(q[static_cast<size_t>(row) * s.head_dim + e * 32 + lane]) * s.scale;
    acc[e] = 0.0f;
  }
  float m = -INFINITY, l = 0.0f;
  for (int j = from; j < to; ++j) {
    const size_t at = (static_cast<size_t>(kv) * s.key_length + j) * s.head_dim + lane;
    float dot = 0.0f;
    for (int e = 0; e < rounds; ++e) dot += qr[e] * to_float(k[at + e * 32]);
    dot = warp_sum(dot);
    const float next = fmaxf(m, dot);
    const float fade = expf(m - next);
    const float w = expf(dot - next);
    l = l * fade + w;
    for (int e = 0; e < rounds; ++e) acc[e] = acc[e] * fade + w * to_float(v[at + e * 32]);
    m = next;
  }
  const size_t slot = static_cast<size_t>(row) * splits + part;
  for (int e = 0; e < rounds; ++e) parts.values[slot * s.head_dim + e * 32 + lane] = acc[e];
  if (lane == 0) {
    parts.maxima[slot] = m;
    parts.sums[slot] = l;
  }
}

// a thread for each element of the result
template <typename T>
__global__ void combine(Parts parts, T* out, int head_dim, int splits) {
  const size_t row = blockIdx.x;
  const int d = threadIdx.x;
  float top = -INFINITY;
  for (int p = 0; p < splits; ++p) top = fmaxf(top, parts.maxima[row * splits + p]);
  float sum = 0.0f, value = 0.0f;
  for (int p = 0; p < splits; ++p) {
    const size_t slot = row * splits + p;
    const float factor = expf(parts.maxima[slot] - top);
    sum += factor * parts.sums[slot];
    value += factor * parts.values[slot * head_dim + d];
  }
  out[row * head_dim + d] = rooflab::from_float<T>(value / sum);
}

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  const size_t rows = static_cast<size_t>(shape.batch) * shape.query_heads;
  Parts parts;
  parts.values = workspace.take<float>(rows * splits * shape.head_dim);
  parts.maxima = workspace.take<float>(rows * splits);
  parts.sums = workspace.take<float>(rows * splits);
  const dim3 grid(splits, shape.query_heads, shape.batch);
  one_part<T><<<grid, 32, 0, stream>>>(q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combine<T><<<static_cast<unsigned>(rows), shape.head_dim, 0, stream>>>(parts, out, shape.head_dim,
                                                                         splits);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
