#include "flash_decode.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kMost = 256 / 32;

// The results of all parts: (batch * query_heads, splits) rows.
struct Parts {
  float* peaks;
  float* masses;
  float* sums;  // head_dim of each row
};

// A warp for each part (x) of each query head (y) of each sequence (z).
template <typename T>
__global__ void take_part(const T* q, const T* k, const T* v, Parts parts, AttentionShape s) {
  const int lane = threadIdx.x;
  const int head = blockIdx.y, sequence = blockIdx.z;
  const int splits = gridDim.x;
  const int key_head = head / (s.query_heads / s.key_value_heads);
  const long long row = static_cast<long long>(sequence) * s.query_heads + head;
  const long long base =
      (static_cast<long long>(sequence) * s.key_value_heads + key_head) * s.key_length * s.head_dim;

  // Of the keys that are seen, each part has as many as the others, and the last one the rest.
  const int hidden = s.window > 0 && s.window < s.key_length ? s.key_length - s.window : 0;
  const int each = (s.key_length - hidden + splits - 1) / splits;
  const int begin = hidden + blockIdx.x * each;
  const int end = min(begin + each, s.key_length);

  float query[kMost], sum[kMost] = {};
  const int held = s.head_dim / 32;
  for (int e = 0; e < held; ++e) {
    query[e] = rooflab::to_float(q[row * s.head_dim + e * 32 + lane]);
  }
  float peak = -INFINITY, mass = 0.0f;
  for (int key = begin; key < end; ++key) {
    const long long at = base + static_cast<long long>(key) * s.head_dim + lane;
    float score = 0.0f;
    for (int e = 0; e < held; ++e) score += query[e] * rooflab::to_float(k[at + e * 32]);
    score = warp_sum(score) * s.scale;
    const float higher = fmaxf(peak, score);
    const float before = expf(peak - higher), now = expf(score - higher);
    peak = higher;
    mass = mass * before + now;
    for (int e = 0; e < held; ++e) {
      sum[e] = sum[e] * before + now * rooflab::to_float(v[at + e * 32]);
    }
  }

  const long long place = row * splits + blockIdx.x;
  for (int e = 0; e < held; ++e) parts.sums[place * s.head_dim + e * 32 + lane] = sum[e];
  if (lane == 0) {
    parts.peaks[place] = peak;
    parts.masses[place] = mass;
  }
}

// A block for each query head of each sequence, a thread for each element.
template <typename T>
__global__ void put_together(Parts parts, T* out, int splits, int head_dim) {
  const int d = threadIdx.x;
  const long long first = static_cast<long long>(blockIdx.x) * splits;
  float peak = -INFINITY;
  for (int p = 0; p < splits; ++p) peak = fmaxf(peak, parts.peaks[first + p]);
  float mass = 0.0f, sum = 0.0f;
  for (int p = 0; p < splits; ++p) {
    const float share = expf(parts.peaks[first + p] - peak);
    mass += share * parts.masses[first + p];
    sum += share * parts.sums[(first + p) * head_dim + d];
  }
  out[static_cast<long long>(blockIdx.x) * head_dim + d] = rooflab::from_float<T>(sum / mass);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const std::size_t heads = static_cast<std::size_t>(shape.batch) * shape.query_heads;
  Parts parts;
  parts.peaks = workspace.take<float>(heads * splits);
  parts.masses = workspace.take<float>(heads * splits);
  parts.sums = workspace.take<float>(heads * splits * shape.head_dim);

  const dim3 grid(splits, shape.query_heads, shape.batch);
  take_part<<<grid, 32, 0, stream>>>(q, k, v, parts, shape);
  CUDA_CHECK(cudaGetLastError());
  put_together<<<static_cast<unsigned>(heads), shape.head_dim, 0, stream>>>(parts, out, splits,
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
