#include "flash_softmax.h"

#include "toolkit/check.h"

__global__ void attend(const float* q, const float* k, const float* v, float* out, float* lse,
                       float scale) {
  __shared__ float sk[32][64], sv[32][64];
  const int i = blockIdx.x * 32 + threadIdx.x;
  for (int e = threadIdx.x; e < 32 * 64; e += 32) {
    sk[e / 64][e % 64] = k[e];
    sv[e / 64][e % 64] = v[e];
  }
  __syncthreads();
  auto score = [&](int j) {
    float s = 0;
    for (int d = 0; d < 64; ++d) s += q[i * 64 + d] * sk[j][d];
    return s * scale;
  };
  float largest = score(0);
  for (int j = 1; j < 32; ++j) largest = max(largest, score(j));
  float acc[64] = {}, sum = 0;
  for (int j = 0; j < 32; ++j) {
    const float w = __expf(score(j) - largest);
    sum += w;
    for (int d = 0; d < 64; ++d) acc[d] += w * sv[j][d];
  }
  for (int d = 0; d < 64; ++d) out[i * 64 + d] = acc[d] / sum;
  lse[i] = largest + __logf(sum);
}

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  attend<<<query_length / 32, 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
