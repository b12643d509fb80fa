#include "flash_mma_softmax.h"

#include "fragments.h"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kRows = 32, kDim = 64;
constexpr int kStride = kDim + 8;
constexpr int kThreads = 64;  // two warps: 16 queries each

using Tile = __half[kRows][kStride];

__device__ void fill(Tile& tile, const __half* rows) {
  for (int t = threadIdx.x; t < kRows * kDim; t += kThreads) tile[t / kDim][t % kDim] = rows[t];
}

__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, float scale) {
  __shared__ __align__(16) Tile queries, keys, values;
  fill(queries, q + blockIdx.x * kRows * kDim);
  fill(keys, k);
  fill(values, v);
  __syncthreads();
  const int lane = threadIdx.x % 32, query0 = threadIdx.x / 32 * 16;

  Sums scores[kRows / 8];
  for (int d = 0; d < kDim; d += 16) {
    FragmentA<__half> a;
    load_a(&queries[query0][d], kStride, a);
    for (int pair = 0; pair < kRows / 16; ++pair) {
      FragmentB<__half> b[2];
      load_b_transposed(&keys[pair * 16][d], kStride, b);
      multiply_add(a, b[0], scores[2 * pair]);
      multiply_add(a, b[1], scores[2 * pair + 1]);
    }
  }

  // Two rows in a lane, 8 apart: that of value[0] and value[1], and that of the others.
  float top[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (Sums& eight : scores) {
    for (int n = 0; n < 4; ++n) {
      eight.value[n] *= scale;
      top[n / 2] = fmaxf(top[n / 2], eight.value[n]);
    }
  }
  for (float& t : top) t = warp_max<4>(t);
  for (Sums& eight : scores) {
    for (int n = 0; n < 4; ++n) {
      eight.value[n] = expf(eight.value[n] - top[n / 2]);
      total[n / 2] += eight.value[n];
    }
  }
  for (float& t : total) t = warp_sum<4>(t);

  Sums results[kDim / 8];
  for (int pair = 0; pair < kRows / 16; ++pair) {
    const float(&left)[4] = scores[2 * pair].value;
    const float(&right)[4] = scores[2 * pair + 1].value;
    FragmentA<__half> weights;
    weights.pair[0] = pack<__half>(left[0], left[1]);
    weights.pair[1] = pack<__half>(left[2], left[3]);
    weights.pair[2] = pack<__half>(right[0], right[1]);
    weights.pair[3] = pack<__half>(right[2], right[3]);
    for (int c = 0; c < kDim / 16; ++c) {
      FragmentB<__half> b[2];
      load_b(&values[pair * 16][c * 16], kStride, b);
      multiply_add(weights, b[0], results[2 * c]);
      multiply_add(weights, b[1], results[2 * c + 1]);
    }
  }

  const int row = blockIdx.x * kRows + query0 + lane / 4;
  for (int c = 0; c < kDim / 8; ++c) {
    for (int n = 0; n < 4; ++n) {
      const int to = (row + n / 2 * 8) * kDim + c * 8 + lane % 4 * 2 + n % 2;
      out[to] = __float2half(results[c].value[n] / total[n / 2]);
    }
  }
  if (lane % 4 == 0) {
    log_sum_exp[row] = top[0] + logf(total[0]);
    log_sum_exp[row + 8] = top[1] + logf(total[1]);
  }
}

}  // namespace

void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale) {
  attend<<<query_length / kRows, kThreads>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
