#include "flash_grouped.h"

#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kDim = 64;
constexpr int kTile = 32;  // keys, a lane for each
constexpr int kWarps = 6;  // of a block, a query for each

__global__ void warp_for_a_query(const float* q, const float* k, const float* v, float* out,
                                 float* log_sum_exp, AttentionShape shape) {
  __shared__ float keys[kTile][kDim + 1];
  __shared__ float values[kTile][kDim];
  const int lane = threadIdx.x;
  const int query = blockIdx.x * kWarps + threadIdx.y;
  const int head = blockIdx.y;
  const int sequence = blockIdx.z;
  const int sharing = shape.query_heads / shape.key_value_heads;
  const int row = (sequence * shape.query_heads + head) * shape.query_length + query;
  const int key_head = sequence * shape.key_value_heads + head / sharing;
  const float* head_keys = k + key_head * shape.key_length * kDim;
  const float* head_values = v + key_head * shape.key_length * kDim;
  const bool exists = query < shape.query_length;

  float largest = -INFINITY, total = 0.0f, low = 0.0f, high = 0.0f;
  for (int from = 0; from < shape.key_length; from += kTile) {
    __syncthreads();
    for (int e = threadIdx.y * 32 + lane; e < kTile * kDim; e += 32 * kWarps) {
      const bool there = from + e / kDim < shape.key_length;
      keys[e / kDim][e % kDim] = there ? head_keys[from * kDim + e] : 0.0f;
      values[e / kDim][e % kDim] = there ? head_values[from * kDim + e] : 0.0f;
    }
    __syncthreads();
    if (!exists) continue;

    const int key = from + lane;
    bool sees = key < shape.key_length;
    if (shape.causal) {
      const int newest = query + shape.key_length - shape.query_length;
      sees = sees && key <= newest && (shape.window == 0 || key > newest - shape.window);
    }
    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += q[row * kDim + d] * keys[lane][d];
    score = sees ? score * shape.scale : -INFINITY;
    const float top = fmaxf(largest, warp_max(score));
    if (top == -INFINITY) continue;
    const float shrink = expf(largest - top);
    const float weight = expf(score - top);
    total = total * shrink + warp_sum(weight);
    low *= shrink;
    high *= shrink;
    for (int j = 0; j < kTile; ++j) {
      const float of_key = __shfl_sync(0xffffffffu, weight, j);
      low += of_key * values[j][lane];
      high += of_key * values[j][lane + 32];
    }
    largest = top;
  }

  if (!exists) return;
  const float divisor = total > 0.0f ? total : 1.0f;
  out[row * kDim + lane] = low / divisor;
  out[row * kDim + lane + 32] = high / divisor;
  if (lane == 0) log_sum_exp[row] = largest + logf(total);
}

}  // namespace

void flash_grouped(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   const AttentionShape& shape) {
  const dim3 grid((shape.query_length - 1) / kWarps + 1, shape.query_heads, shape.batch);
  warp_for_a_query<<<grid, dim3(32, kWarps)>>>(q, k, v, out, log_sum_exp, shape);
  CUDA_CHECK(cudaGetLastError());
}
