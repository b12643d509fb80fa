#include "flash_mma_softmax.h"

#include <cmath>

#include "fragments.h"
#include "toolkit/check.h"
#include "warp.h"

namespace {

constexpr int kRows = 32;
constexpr int kDims = 64;
constexpr int kPitch = kDims + 8;
constexpr int kThreads = 64;

__global__ void attend_tile(const __half* q, const __half* k, const __half* v, __half* out,
                            float* log_sum_exp, float scale) {
  __shared__ __align__(16) __half queries[kRows][kPitch];
  __shared__ __align__(16) __half keys[kRows][kPitch];
  __shared__ __align__(16) __half values[kRows][kPitch];
  const int offset = blockIdx.x * kRows;
  for (int e = threadIdx.x; e < kRows * kDims; e += kThreads) {
    const int r = e / kDims, d = e % kDims;
    queries[r][d] = q[offset * kDims + e];
    keys[r][d] = k[e];
    values[r][d] = v[e];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int first = threadIdx.x / 32 * 16;
  Sums scores[kRows / 8];
  for (int d = 0; d < kDims; d += 16) {
    FragmentA<__half> a;
    load_a(&queries[first][d], kPitch, a);
    for (int j = 0; j < kRows; j += 16) {
      FragmentB<__half> b[2];
      load_b_transposed(&keys[j][d], kPitch, b);
      multiply_add(a, b[0], scores[j / 8]);
      multiply_add(a, b[1], scores[j / 8 + 1]);
    }
  }
  // A lane has two rows: values 0 and 1 are of the upper one, 2 and 3 of the lower one.
  float peak[2] = {-INFINITY, -INFINITY};
  for (Sums& part : scores) {
    for (int e = 0; e < 4; ++e) {
      part.value[e] *= scale;
      peak[e / 2] = fmaxf(peak[e / 2], part.value[e]);
    }
  }
  for (float& p : peak) p = warp_max<4>(p);
  float total[2] = {};
  for (Sums& part : scores) {
    for (int e = 0; e < 4; ++e) {
      part.value[e] = expf(part.value[e] - peak[e / 2]);
      total[e / 2] += part.value[e];
    }
  }
  for (float& t : total) t = warp_sum<4>(t);

  Sums result[kDims / 8];
  for (int j = 0; j < kRows; j += 16) {
    const float* left = scores[j / 8].value;
    const float* right = scores[j / 8 + 1].value;
    FragmentA<__half> weights;
    weights.pair[0] = pack<__half>(left[0], left[1]);
    weights.pair[1] = pack<__half>(left[2], left[3]);
    weights.pair[2] = pack<__half>(right[0], right[1]);
    weights.pair[3] = pack<__half>(right[2], right[3]);
    for (int d = 0; d < kDims; d += 16) {
      FragmentB<__half> b[2];
      load_b(&values[j][d], kPitch, b);
      multiply_add(weights, b[0], result[d / 8]);
      multiply_add(weights, b[1], result[d / 8 + 1]);
    }
  }
  const int row = offset + first + lane / 4;
  for (int block = 0; block < kDims / 8; ++block) {
    const int column = 8 * block + lane % 4 * 2;
    for (int e = 0; e < 4; ++e) {
      const float share = result[block].value[e] / total[e / 2];
      out[(row + e / 2 * 8) * kDims + column + e % 2] = __float2half(share);
    }
  }
  if (lane % 4 == 0) {
    for (int h = 0; h < 2; ++h) log_sum_exp[row + 8 * h] = peak[h] + logf(total[h]);
  }
}

}  // namespace

void flash_mma_softmax(const __half* q, const __half* k, const __half* v, __half* out,
                       float* log_sum_exp, int query_length, float scale) {
  attend_tile<<<query_length / kRows, kThreads>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
