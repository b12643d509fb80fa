#include "flash_decode.h"

#include <cmath>
#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

// What the parts leave behind; part s of head h of a sequence is number
// (sequence * query_heads + h) * splits + s.
struct Parts {
  float* peaks;
  float* totals;
  float* sums;  // head_dim of each part, not divided by the total
  int splits;
};

// A block is a warp: one part of the keys of one query head.
template <typename T, int kDims>
__global__ void attend_part(const T* q, const T* k, const T* v, Parts parts, AttentionShape shape) {
  constexpr int kEach = kDims / 32;
  const int lane = threadIdx.x;
  const int part = blockIdx.x;
  const int head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const int oldest =
      shape.causal && shape.window > 0 ? max(0, shape.key_length - shape.window) : 0;
  const int seen = shape.key_length - oldest;
  const int share = (seen + parts.splits - 1) / parts.splits;
  const int begin = min(part * share, seen) + oldest;
  const int end = min((part + 1) * share, seen) + oldest;
  const int key_head = head / (shape.query_heads / shape.key_value_heads);
  const std::int64_t rows = (sequence * shape.key_value_heads + key_head) * shape.key_length;
  const std::int64_t number = sequence * shape.query_heads + head;

  float query[kEach], sums[kEach];
  for (int s = 0; s < kEach; ++s) {
    query[s] = rooflab::to_float(q[number * kDims + lane + 32 * s]) * shape.scale;
    sums[s] = 0.0f;
  }
  float peak = -INFINITY;
  float total = 0.0f;
  for (int j = begin; j < end; ++j) {
    const T* key = k + (rows + j) * kDims;
    const T* value = v + (rows + j) * kDims;
    float dot = 0.0f;
    for (int s = 0; s < kEach; ++s) dot += query[s] * rooflab::to_float(key[lane + 32 * s]);
    const float score = warp_sum(dot);
    const float higher = fmaxf(peak, score);
    const float shrink = expf(peak - higher);
    const float weight = expf(score - higher);
    total = total * shrink + weight;
    for (int s = 0; s < kEach; ++s) {
      sums[s] = sums[s] * shrink + weight * rooflab::to_float(value[lane + 32 * s]);
    }
    peak = higher;
  }
  const std::int64_t place = number * parts.splits + part;
  for (int s = 0; s < kEach; ++s) parts.sums[place * kDims + lane + 32 * s] = sums[s];
  if (lane == 0) {
    parts.peaks[place] = peak;
    parts.totals[place] = total;
  }
}

// A block for each query head of each sequence, a thread for each dimension.
template <typename T>
__global__ void combine(Parts parts, T* out) {
  const int dims = blockDim.x;
  const int d = threadIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * parts.splits;
  float peak = -INFINITY;
  for (int s = 0; s < parts.splits; ++s) peak = fmaxf(peak, parts.peaks[first + s]);
  float total = 0.0f;
  float sum = 0.0f;
  for (int s = 0; s < parts.splits; ++s) {
    const float factor = expf(parts.peaks[first + s] - peak);
    total += factor * parts.totals[first + s];
    sum += factor * parts.sums[(first + s) * dims + d];
  }
  out[static_cast<std::int64_t>(blockIdx.x) * dims + d] = rooflab::from_float<T>(sum / total);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const int heads = shape.batch * shape.query_heads;
  const size_t count = static_cast<size_t>(heads) * splits;
  Parts parts;
  parts.splits = splits;
  parts.sums = workspace.take<float>(count * shape.head_dim);
  parts.peaks = workspace.take<float>(count);
  parts.totals = workspace.take<float>(count);
  const dim3 grid(splits, shape.query_heads, shape.batch);
  if (shape.head_dim == 64) {
    attend_part<T, 64><<<grid, 32, 0, stream>>>(q, k, v, parts, shape);
  } else if (shape.head_dim == 128) {
    attend_part<T, 128><<<grid, 32, 0, stream>>>(q, k, v, parts, shape);
  } else {
    attend_part<T, 256><<<grid, 32, 0, stream>>>(q, k, v, parts, shape);
  }
  CUDA_CHECK(cudaGetLastError());
  combine<T><<<heads, shape.head_dim, 0, stream>>>(parts, out);
  CUDA_CHECK(cudaGetLastError());
}

template void flash_decode(const float*, const float*, const float*, float*, const AttentionShape&,
                           int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __half*, const __half*, const __half*, __half*,
                           const AttentionShape&, int, rooflab::Workspace&, cudaStream_t);
template void flash_decode(const __nv_bfloat16*, const __nv_bfloat16*, const __nv_bfloat16*,
                           __nv_bfloat16*, const AttentionShape&, int, rooflab::Workspace&,
                           cudaStream_t);
