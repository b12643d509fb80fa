#include "flash_decode.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kWarps = 4;
constexpr int kMost = 256 / 32;  // numbers of a head in a lane

// What the parts of all heads have found, part after part of a head.
struct Parts {
  float* tops;
  float* totals;
  float* sums;  // head_dim for each part
};

template <typename T>
__global__ void part_of_keys(const T* q, const T* k, const T* v, Parts parts, AttentionShape shape,
                             int splits) {
  __shared__ float tops[kWarps], totals[kWarps], sums[kWarps][256];
  const int part = blockIdx.x, head = blockIdx.y, sequence = blockIdx.z;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int each = shape.head_dim / 32;

  const int first_key =
      shape.causal && shape.window > 0 ? max(0, shape.key_length - shape.window) : 0;
  const int visible = shape.key_length - first_key;
  const int of_part = (visible + splits - 1) / splits;
  const long long begin = first_key + (long long)part * of_part;
  const long long end = min(begin + of_part, (long long)shape.key_length);

  const int key_head = head * shape.key_value_heads / shape.query_heads;
  const long long plane =
      ((long long)sequence * shape.key_value_heads + key_head) * shape.key_length;
  const T* my_q = q + (sequence * shape.query_heads + head) * shape.head_dim;
  float mine[kMost], acc[kMost] = {};
  for (int e = 0; e < each; ++e) mine[e] = to_float(my_q[lane + 32 * e]) * shape.scale;

  float top = -INFINITY, total = 0.0f;
  for (long long j = begin + warp; j < end; j += kWarps) {
    const T* key = k + (plane + j) * shape.head_dim;
    const T* value = v + (plane + j) * shape.head_dim;
    float score = 0.0f;
    for (int e = 0; e < each; ++e) score += mine[e] * to_float(key[lane + 32 * e]);
    score = warp_sum(score);
    const float next = fmaxf(top, score);
    const float shrink = expf(top - next), weight = expf(score - next);
    top = next;
    total = total * shrink + weight;
    for (int e = 0; e < each; ++e) {
      acc[e] = acc[e] * shrink + weight * to_float(value[lane + 32 * e]);
    }
  }

  tops[warp] = top;
  if (lane == 0) totals[warp] = total;
  for (int e = 0; e < each; ++e) sums[warp][lane + 32 * e] = acc[e];
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) top = fmaxf(top, tops[w]);
  const float base = top == -INFINITY ? 0.0f : top;

  const long long place = ((long long)sequence * shape.query_heads + head) * splits + part;
  for (int d = threadIdx.x; d < shape.head_dim; d += kWarps * 32) {
    float sum = 0.0f;
    for (int w = 0; w < kWarps; ++w) sum += sums[w][d] * expf(tops[w] - base);
    parts.sums[place * shape.head_dim + d] = sum;
  }
  if (threadIdx.x == 0) {
    total = 0.0f;
    for (int w = 0; w < kWarps; ++w) total += totals[w] * expf(tops[w] - base);
    parts.tops[place] = top;
    parts.totals[place] = total;
  }
}

// A block for each head, a thread for each number of it.
template <typename T>
__global__ void combine(Parts parts, T* out, int splits, int head_dim) {
  const long long head = blockIdx.x;
  float top = -INFINITY;
  for (int s = 0; s < splits; ++s) top = fmaxf(top, parts.tops[head * splits + s]);
  float total = 0.0f, sum = 0.0f;
  for (int s = 0; s < splits; ++s) {
    const long long place = head * splits + s;
    const float factor = expf(parts.tops[place] - top);
    total += parts.totals[place] * factor;
    sum += parts.sums[place * head_dim + threadIdx.x] * factor;
  }
  out[head * head_dim + threadIdx.x] = from_float<T>(sum / total);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const size_t heads = static_cast<size_t>(shape.batch) * shape.query_heads;
  Parts parts{};
  parts.tops = workspace.take<float>(heads * splits);
  parts.totals = workspace.take<float>(heads * splits);
  parts.sums = workspace.take<float>(heads * splits * shape.head_dim);
  part_of_keys<<<dim3(splits, shape.query_heads, shape.batch), kWarps * 32, 0, stream>>>(
      q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combine<<<static_cast<unsigned>(heads), shape.head_dim, 0, stream>>>(parts, out, splits,
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
