#include "flash_decode.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

// One warp: one part of the keys for one query head. Leaves max, sum and unscaled values.
template <typename T>
__global__ void part_kernel(const T* q, const T* k, const T* v, float* tops, float* totals,
                            float* rows, AttentionShape s, int splits) {
  const int part = blockIdx.x, head = blockIdx.y, seq = blockIdx.z;
  const int lane = threadIdx.x, D = s.head_dim;
  const int kv = head / (s.query_heads / s.key_value_heads);
  const int qrow = seq * s.query_heads + head;
  const int slot = qrow * splits + part;
  int first = 0;
  if (s.causal && s.window > 0) first = max(0, s.key_length - s.window);
  const int count = s.key_length - first;
  const int per_part = (count + splits - 1) / splits;
  const int lo = first + part * per_part;
  const int hi = min(lo + per_part, s.key_length);
  const size_t base = (size_t(seq) * s.key_value_heads + kv) * s.key_length * D;
  float mine[8], acc[8];
  for (int e = 0; e < D / 32; ++e) {
    mine[e] = rooflab::to_float(q[size_t(qrow) * D + e * 32 + lane]) * s.scale;
    acc[e] = 0.f;
  }
  float top = -INFINITY, total = 0.f;
  for (int j = lo; j < hi; ++j) {
    float dot = 0.f;
    for (int e = 0; e < D / 32; ++e)
      dot += mine[e] * rooflab::to_float(k[base + size_t(j) * D + e * 32 + lane]);
    dot = warp_sum(dot);
    const float m = fmaxf(top, dot);
    const float a = expf(top - m), w = expf(dot - m);
    total = total * a + w;
    for (int e = 0; e < D / 32; ++e)
      acc[e] = acc[e] * a + w * rooflab::to_float(v[base + size_t(j) * D + e * 32 + lane]);
    top = m;
  }
  if (lane == 0) {
    tops[slot] = top;
    totals[slot] = total;
  }
  for (int e = 0; e < D / 32; ++e) rows[size_t(slot) * D + e * 32 + lane] = acc[e];
}

template <typename T>
__global__ void combine_kernel(const float* tops, const float* totals, const float* rows, T* out,
                               int splits, int D) {
  const int qrow = blockIdx.x;
  float top = -INFINITY;
  for (int p = 0; p < splits; ++p) top = fmaxf(top, tops[qrow * splits + p]);
  float total = 0.f, sum = 0.f;
  for (int p = 0; p < splits; ++p) {
    const int slot = qrow * splits + p;
    const float factor = expf(tops[slot] - top);
    total += factor * totals[slot];
    sum += factor * rows[size_t(slot) * D + threadIdx.x];
  }
  out[size_t(qrow) * D + threadIdx.x] = rooflab::from_float<T>(sum / total);
}

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  const int queries = shape.batch * shape.query_heads;
  float* tops = workspace.take<float>(size_t(queries) * splits);
  float* totals = workspace.take<float>(size_t(queries) * splits);
  float* rows = workspace.take<float>(size_t(queries) * splits * shape.head_dim);
  const dim3 grid(splits, shape.query_heads, shape.batch);
  part_kernel<T><<<grid, 32, 0, stream>>>(q, k, v, tops, totals, rows, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combine_kernel<T><<<queries, shape.head_dim, 0, stream>>>(tops, totals, rows, out, splits,
                                                            shape.head_dim);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
