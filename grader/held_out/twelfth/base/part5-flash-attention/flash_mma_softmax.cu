#include "flash_mma_softmax.h"

#include "fragments.h"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kKeys = 32, kDim = 64, kQueries = 32, kStride = kDim + 8;

// Two warps, each with 16 queries. A lane has parts of two of them: rows lane / 4 and that plus 8.
__global__ void tile_of_keys(const __half* q, const __half* k, const __half* v, __half* out,
                             float* log_sum_exp, float scale) {
  __shared__ alignas(16) __half queries[kQueries][kStride];
  __shared__ alignas(16) __half keys[kKeys][kStride];
  __shared__ alignas(16) __half values[kKeys][kStride];
  const int first = blockIdx.x * kQueries;
  for (int e = threadIdx.x; e < kKeys * kDim; e += blockDim.x) {
    queries[e / kDim][e % kDim] = q[first * kDim + e];
    keys[e / kDim][e % kDim] = k[e];
    values[e / kDim][e % kDim] = v[e];
  }
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  Sums scores[kKeys / 8];
  for (int d = 0; d < kDim; d += 16) {
    FragmentA<__half> a;
    load_a(&queries[16 * warp][d], kStride, a);
    for (int j = 0; j < kKeys; j += 16) {
      FragmentB<__half> b[2];
      load_b_transposed(&keys[j][d], kStride, b);
      multiply_add(a, b[0], scores[j / 8]);
      multiply_add(a, b[1], scores[j / 8 + 1]);
    }
  }

  float largest[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  for (Sums& eight : scores) {
    for (int i = 0; i < 4; ++i) {
      eight.value[i] *= scale;
      largest[i / 2] = fmaxf(largest[i / 2], eight.value[i]);
    }
  }
  for (float& one : largest) one = warp_max<4>(one);
  for (Sums& eight : scores) {
    for (int i = 0; i < 4; ++i) {
      eight.value[i] = expf(eight.value[i] - largest[i / 2]);
      total[i / 2] += eight.value[i];
    }
  }
  for (float& one : total) one = warp_sum<4>(one);

  Sums result[kDim / 8];
  for (int j = 0; j < kKeys; j += 16) {
    const float(&left)[4] = scores[j / 8].value;
    const float(&right)[4] = scores[j / 8 + 1].value;
    FragmentA<__half> weights;
    weights.pair[0] = pack<__half>(left[0], left[1]);
    weights.pair[1] = pack<__half>(left[2], left[3]);
    weights.pair[2] = pack<__half>(right[0], right[1]);
    weights.pair[3] = pack<__half>(right[2], right[3]);
    for (int d = 0; d < kDim; d += 16) {
      FragmentB<__half> b[2];
      load_b(&values[j][d], kStride, b);
      multiply_add(weights, b[0], result[d / 8]);
      multiply_add(weights, b[1], result[d / 8 + 1]);
    }
  }

  for (int half = 0; half < 2; ++half) {
    const int row = first + 16 * warp + lane / 4 + 8 * half;
    for (int d = 0; d < kDim; d += 8) {
      const int column = d + lane % 4 * 2;
      out[row * kDim + column] = __float2half(result[d / 8].value[2 * half] / total[half]);
      out[row * kDim + column + 1] = __float2half(result[d / 8].value[2 * half + 1] / total[half]);
    }
    if (lane % 4 == 0) log_sum_exp[row] = largest[half] + logf(total[half]);
  }
}

}  // namespace

void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale) {
  tile_of_keys<<<query_length / kQueries, 64>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
