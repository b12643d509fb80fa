#include "flash_decode.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/vectors.h"
#include "warp.h"

namespace {

constexpr int kWarps = 4;
constexpr int kMost = 8;  // dimensions of a lane, at most

// What the parts leave: values not yet divided, the largest score and the sum, each for
// (batch * query_heads) rows of `splits` parts.
struct Parts {
  float* values;
  float* largest;
  float* total;
};

// A block for a part of the keys of a key head. Its warps share the query heads of that key head.
template <typename T>
__global__ void attend_part(const T* q, const T* k, const T* v, Parts parts, AttentionShape shape,
                            int splits) {
  const int lane = threadIdx.x;
  const int split = blockIdx.x;
  const int key_head = blockIdx.y;
  const std::int64_t sequence = blockIdx.z;
  const int sharing = shape.query_heads / shape.key_value_heads;
  const int dim = shape.head_dim;
  const int oldest = shape.window > 0 ? max(shape.key_length - shape.window, 0) : 0;
  const int visible = shape.key_length - oldest;
  const int length = (visible + splits - 1) / splits;
  const int begin = oldest + split * length;
  const int end = min(begin + length, shape.key_length);
  const std::int64_t base =
      (sequence * shape.key_value_heads + key_head) * shape.key_length * dim;

  for (int h = threadIdx.y; h < sharing; h += kWarps) {
    const std::int64_t row = sequence * shape.query_heads + key_head * sharing + h;
    float mine[kMost], sum[kMost];
    for (int i = 0; i < kMost; ++i) {
      mine[i] = 32 * i < dim ? rooflab::to_float(q[row * dim + lane + 32 * i]) : 0.0f;
      sum[i] = 0.0f;
    }
    float largest = -INFINITY, total = 0.0f;
    for (int j = begin; j < end; ++j) {
      const std::int64_t at = base + std::int64_t{j} * dim + lane;
      float score = 0.0f;
      for (int i = 0; 32 * i < dim; ++i) score += mine[i] * rooflab::to_float(k[at + 32 * i]);
      score = shape.scale * warp_sum(score);
      const float top = fmaxf(score, largest);
      const float shrink = expf(largest - top);
      const float weight = expf(score - top);
      total = total * shrink + weight;
      for (int i = 0; 32 * i < dim; ++i) {
        sum[i] = sum[i] * shrink + weight * rooflab::to_float(v[at + 32 * i]);
      }
      largest = top;
    }
    const std::int64_t part = row * splits + split;
    for (int i = 0; 32 * i < dim; ++i) parts.values[part * dim + lane + 32 * i] = sum[i];
    if (lane == 0) {
      parts.largest[part] = largest;
      parts.total[part] = total;
    }
  }
}

// A block for a row of out, a thread for each dimension.
template <typename T>
__global__ void combine(Parts parts, T* out, int splits, int dim) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t first = row * splits;
  float top = -INFINITY;
  for (int s = 0; s < splits; ++s) top = fmaxf(top, parts.largest[first + s]);
  float total = 0.0f, value = 0.0f;
  for (int s = 0; s < splits; ++s) {
    const float factor = expf(parts.largest[first + s] - top);
    total += factor * parts.total[first + s];
    value += factor * parts.values[(first + s) * dim + threadIdx.x];
  }
  out[row * dim + threadIdx.x] = rooflab::from_float<T>(value / total);
}

}  // namespace

template <typename T>
void flash_decode(const T* q, const T* k, const T* v, T* out, const AttentionShape& shape,
                  int splits, rooflab::Workspace& workspace, cudaStream_t stream) {
  const rooflab::Workspace::Scope scope(workspace);
  const std::size_t rows = static_cast<std::size_t>(shape.batch) * shape.query_heads;
  Parts parts;
  parts.values = workspace.take<float>(rows * splits * shape.head_dim);
  parts.largest = workspace.take<float>(rows * splits);
  parts.total = workspace.take<float>(rows * splits);
  const dim3 grid(splits, shape.key_value_heads, shape.batch);
  attend_part<<<grid, dim3(32, kWarps), 0, stream>>>(q, k, v, parts, shape, splits);
  CUDA_CHECK(cudaGetLastError());
  combine<<<static_cast<unsigned>(rows), shape.head_dim, 0, stream>>>(parts, out, splits,
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
