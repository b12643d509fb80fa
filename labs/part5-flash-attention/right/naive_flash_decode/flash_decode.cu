#include "flash_decode.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"

__device__ float number(float x) { return x; }
__device__ float number(__half x) { return __half2float(x); }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__half* to, float x) { *to = __float2half(x); }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

// Thread i has part i % splits of query head i / splits; its results are dim sums, a maximum and
// a total.
template <typename T>
__global__ void attend(const T* q, const T* k, const T* v, float* parts, AttentionShape shape,
                       int splits) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= shape.batch * shape.query_heads * splits) return;
  const int part = index % splits;
  const int row = index / splits;
  const int head = row % shape.query_heads;
  const int batch = row / shape.query_heads;
  const int kv_head = head / (shape.query_heads / shape.key_value_heads);
  const int dim = shape.head_dim;
  const size_t keys =
      static_cast<size_t>(batch * shape.key_value_heads + kv_head) * shape.key_length;
  const int seen_from =
      shape.causal && shape.window > 0 ? max(0, shape.key_length - shape.window) : 0;
  const int seen = shape.key_length - seen_from;
  const int each = (seen + splits - 1) / splits;
  const int first = seen_from + min(seen, part * each);
  const int end = seen_from + min(seen, (part + 1) * each);
  float* mine = parts + static_cast<size_t>(index) * (dim + 2);
  for (int d = 0; d < dim; ++d) mine[d] = 0;
  float largest = -INFINITY;
  float sum = 0;
  for (int j = first; j < end; ++j) {
    float score = 0;
    for (int d = 0; d < dim; ++d) {
      score += number(q[static_cast<size_t>(row) * dim + d]) * number(k[(keys + j) * dim + d]);
    }
    score *= shape.scale;
    const float now = fmaxf(largest, score);
    const float shrink = expf(largest - now);
    const float weight = expf(score - now);
    for (int d = 0; d < dim; ++d)
      mine[d] = mine[d] * shrink + weight * number(v[(keys + j) * dim + d]);
    sum = sum * shrink + weight;
    largest = now;
  }
  mine[dim] = largest;
  mine[dim + 1] = sum;
}

template <typename T>
__global__ void combine(const float* parts, T* out, int rows, int dim, int splits) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* mine = parts + static_cast<size_t>(row) * splits * (dim + 2);
  float largest = -INFINITY;
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, mine[s * (dim + 2) + dim]);
  float total = 0;
  for (int s = 0; s < splits; ++s) {
    const float* part = mine + s * (dim + 2);
    if (part[dim + 1] > 0) total += expf(part[dim] - largest) * part[dim + 1];
  }
  for (int d = 0; d < dim; ++d) {
    float sum = 0;
    for (int s = 0; s < splits; ++s) {
      const float* part = mine + s * (dim + 2);
      if (part[dim + 1] > 0) sum += expf(part[dim] - largest) * part[d];
    }
    store(&out[static_cast<size_t>(row) * dim + d], total > 0 ? sum / total : 0.0f);
  }
}

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const int rows = shape.batch * shape.query_heads;
  float* parts = workspace.take<float>(static_cast<size_t>(rows) * splits * (shape.head_dim + 2));
  attend<<<(rows * splits + 31) / 32, 32, 0, stream>>>(q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combine<<<(rows + 31) / 32, 32, 0, stream>>>(parts, out, rows, shape.head_dim, splits);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
