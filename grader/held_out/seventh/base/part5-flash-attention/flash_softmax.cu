#include "flash_softmax.h"

#include <cmath>

#include "toolkit/check.h"

#define BR 32
#define BC 32
#define HD 64
#define FULL_MASK 0xffffffffu

// block (32, 8): lane = key, a warp takes BR / 8 queries one after the other
__global__ void softmaxTile(const float* Q, const float* K, const float* V, float* O, float* lse,
                            float scale) {
  __shared__ float Qs[BR][HD];
  __shared__ float Ks[BC][HD + 1];
  __shared__ float Vs[BC][HD];
  const int lane = threadIdx.x;
  const int w = threadIdx.y;
  const int tid = w * 32 + lane;
  const int q0 = blockIdx.x * BR;

  for (int i = tid; i < BR * HD; i += 256) {
    Qs[i / HD][i % HD] = Q[q0 * HD + i];
    Ks[i / HD][i % HD] = K[i];
    Vs[i / HD][i % HD] = V[i];
  }
  __syncthreads();

  for (int r = w; r < BR; r += 8) {
    float s = 0.f;
    for (int d = 0; d < HD; d++) s += Qs[r][d] * Ks[lane][d];
    s *= scale;

    float m = s;
    for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(FULL_MASK, m, o));
    const float p = expf(s - m);
    float l = p;
    for (int o = 16; o > 0; o >>= 1) l += __shfl_xor_sync(FULL_MASK, l, o);

    // each lane has two columns of the output
    float o0 = 0.f, o1 = 0.f;
    for (int c = 0; c < BC; c++) {
      const float pc = __shfl_sync(FULL_MASK, p, c);
      o0 += pc * Vs[c][lane];
      o1 += pc * Vs[c][lane + 32];
    }
    float* out = O + (q0 + r) * HD;
    out[lane] = o0 / l;
    out[lane + 32] = o1 / l;
    if (lane == 0) lse[q0 + r] = m + logf(l);
  }
}

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  softmaxTile<<<query_length / BR, dim3(32, 8)>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
