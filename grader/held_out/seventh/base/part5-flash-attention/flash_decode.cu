#include "flash_decode.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define WARP 32
#define MAX_D 256
#define PER_LANE (MAX_D / WARP)
#define FULL_MASK 0xffffffffu

using rooflab::from_float;
using rooflab::to_float;

// flash-decoding, phase 1: one warp per (split, query head, sequence)
template <typename T>
__global__ void splitKernel(const T* q, const T* k, const T* v, float* part, float* pm, float* pl,
                            AttentionShape s, int splits) {
  const int sp = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  const int lane = threadIdx.x;
  const int D = s.head_dim, N = s.key_length;
  const int g = h / (s.query_heads / s.key_value_heads);
  const int bh = b * s.query_heads + h;
  const T* kh = k + ((size_t)b * s.key_value_heads + g) * N * D;
  const T* vh = v + ((size_t)b * s.key_value_heads + g) * N * D;

  // visible keys [first, N), cut into pieces of `len`
  const int first = s.window > 0 && s.window < N ? N - s.window : 0;
  const int len = (N - first + splits - 1) / splits;
  const int lo = (int)min((long long)N, first + (long long)sp * len);
  const int hi = min(N, lo + len);

  float rq[PER_LANE], acc[PER_LANE];
#pragma unroll
  for (int e = 0; e < PER_LANE; e++) {
    const int d = e * WARP + lane;
    rq[e] = d < D ? to_float(q[(size_t)bh * D + d]) : 0.f;
    acc[e] = 0.f;
  }

  float m = -INFINITY, l = 0.f;
  for (int j = lo; j < hi; j++) {
    float x = 0.f;
#pragma unroll
    for (int e = 0; e < PER_LANE; e++) {
      const int d = e * WARP + lane;
      if (d < D) x += rq[e] * to_float(kh[(size_t)j * D + d]);
    }
    for (int o = WARP / 2; o > 0; o >>= 1) x += __shfl_xor_sync(FULL_MASK, x, o);
    x *= s.scale;

    const float mNew = fmaxf(m, x);
    const float c = expf(m - mNew);
    const float p = expf(x - mNew);
    l = l * c + p;
#pragma unroll
    for (int e = 0; e < PER_LANE; e++) {
      const int d = e * WARP + lane;
      if (d < D) acc[e] = acc[e] * c + p * to_float(vh[(size_t)j * D + d]);
    }
    m = mNew;
  }

  // not normalised yet
  const size_t idx = (size_t)bh * splits + sp;
#pragma unroll
  for (int e = 0; e < PER_LANE; e++) {
    const int d = e * WARP + lane;
    if (d < D) part[idx * D + d] = acc[e];
  }
  if (lane == 0) {
    pm[idx] = m;
    pl[idx] = l;
  }
}

// phase 2: one block per (query head, sequence), thread = element
template <typename T>
__global__ void combineKernel(const float* part, const float* pm, const float* pl, T* out, int D,
                              int splits) {
  const size_t bh = blockIdx.x;
  const int d = threadIdx.x;
  const float* mrow = pm + bh * splits;
  const float* lrow = pl + bh * splits;

  float M = -INFINITY;
  for (int i = 0; i < splits; i++) M = fmaxf(M, mrow[i]);

  float L = 0.f, r = 0.f;
  for (int i = 0; i < splits; i++) {
    const float w = expf(mrow[i] - M);  // 0 for empty parts
    L += w * lrow[i];
    r += w * part[(bh * splits + i) * D + d];
  }
  out[bh * D + d] = from_float<T>(r / L);
}

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  rooflab::Workspace::Scope scope(workspace);
  const size_t n = (size_t)shape.batch * shape.query_heads * splits;
  float* part = workspace.take<float>(n * shape.head_dim);
  float* pm = workspace.take<float>(n);
  float* pl = workspace.take<float>(n);

  dim3 grid(splits, shape.query_heads, shape.batch);
  splitKernel<T><<<grid, WARP, 0, stream>>>(q, k, v, part, pm, pl, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combineKernel<T><<<shape.batch * shape.query_heads, shape.head_dim, 0, stream>>>(
      part, pm, pl, out, shape.head_dim, splits);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
