#include "flash_decode.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kMostEach = 8;  // dimensions of a lane: 256 / 32
constexpr int kWarps = 4;

struct Parts {
  float* values;   // (batch, query_heads, splits, head_dim), not divided by the sum
  float* largest;  // (batch, query_heads, splits)
  float* sums;
};

template <typename T>
__global__ void one_part(const T* q, const T* k, const T* v, Parts parts, AttentionShape s,
                         int splits) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.y * kWarps + warp.meta_group_rank();  // of all query heads
  if (row >= s.batch * s.query_heads) return;
  const int lane = warp.thread_rank(), each = s.head_dim / 32;
  const int group = s.query_heads / s.key_value_heads;
  const long keys =
      (static_cast<long>(row / s.query_heads) * s.key_value_heads + row % s.query_heads / group) *
      s.key_length * s.head_dim;

  const int oldest = s.causal && s.window > 0 ? max(0, s.key_length - s.window) : 0;
  const int length = (s.key_length - oldest + splits - 1) / splits;
  const int begin = oldest + blockIdx.x * length;
  const int end = min(s.key_length, begin + length);

  float query[kMostEach], result[kMostEach];
#pragma unroll
  for (int i = 0; i < kMostEach; ++i) {
    query[i] =
        i < each
            ? rooflab::to_float(q[static_cast<long>(row) * s.head_dim + lane + 32 * i]) * s.scale
            : 0.0f;
    result[i] = 0.0f;
  }
  float largest = -INFINITY, sum = 0.0f;
  for (int key = begin; key < end; ++key) {
    const long at = keys + static_cast<long>(key) * s.head_dim + lane;
    float dot = 0.0f;
#pragma unroll
    for (int i = 0; i < kMostEach; ++i) {
      if (i < each) dot += query[i] * rooflab::to_float(k[at + 32 * i]);
    }
    const float score = cg::reduce(warp, dot, cg::plus<float>());
    const float next = fmaxf(largest, score);
    const float shrink = __expf(largest - next), weight = __expf(score - next);
    sum = sum * shrink + weight;
    largest = next;
#pragma unroll
    for (int i = 0; i < kMostEach; ++i) {
      if (i < each) result[i] = result[i] * shrink + weight * rooflab::to_float(v[at + 32 * i]);
    }
  }
  const long part = static_cast<long>(row) * splits + blockIdx.x;
  for (int i = 0; i < each; ++i) parts.values[part * s.head_dim + lane + 32 * i] = result[i];
  if (lane > 0) return;
  // Whoever is left of the warp: the first lane alone.
  const auto left = cg::coalesced_threads();
  if (left.thread_rank() == 0) {
    parts.largest[part] = largest;
    parts.sums[part] = sum;
  }
}

template <typename T>
__global__ void combine(Parts parts, T* out, int rows, int head_dim, int splits) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= static_cast<long>(rows) * head_dim) return;
  const long row = i / head_dim;
  float largest = -INFINITY;
  for (int p = 0; p < splits; ++p) largest = fmaxf(largest, parts.largest[row * splits + p]);
  double sum = 0, value = 0;
  for (int p = 0; p < splits; ++p) {
    const long part = row * splits + p;
    if (parts.sums[part] == 0.0f) continue;  // a part without a key
    const float factor = expf(parts.largest[part] - largest);
    sum += static_cast<double>(factor) * parts.sums[part];
    value += static_cast<double>(factor) * parts.values[part * head_dim + i % head_dim];
  }
  out[i] = rooflab::from_float<T>(sum > 0 ? static_cast<float>(value / sum) : 0.0f);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const int rows = shape.batch * shape.query_heads;
  const std::size_t count = static_cast<std::size_t>(rows) * splits;
  Parts parts{};
  parts.values = workspace.take<float>(count * shape.head_dim);
  parts.largest = workspace.take<float>(count);
  parts.sums = workspace.take<float>(count);
  const dim3 grid(splits, (rows + kWarps - 1) / kWarps);
  one_part<<<grid, 32 * kWarps, 0, stream>>>(q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  const int elements = rows * shape.head_dim;
  combine<<<(elements + 127) / 128, 128, 0, stream>>>(parts, out, rows, shape.head_dim, splits);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
