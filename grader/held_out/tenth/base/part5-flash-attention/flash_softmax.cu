#include "flash_softmax.h"

#include "toolkit/check.h"
#include "warp.h"

#define QROWS 32
#define KEYS 32
#define HD 64
#define WARPS 8

// A warp takes four queries, one after the other. For the scores a lane is a key,
// for the result a lane is two elements of the head.
__global__ void soft32(const float* q, const float* k, const float* v, float* out, float* lse,
                       float scale) {
  __shared__ float sq[QROWS][HD];
  __shared__ float sk[KEYS][HD + 1];
  __shared__ float sv[KEYS][HD];
  __shared__ float sp[WARPS][KEYS];
  int tid = threadIdx.x;
  int lane = tid % 32, warp = tid / 32;
  int q0 = blockIdx.x * QROWS;
  for (int e = tid; e < QROWS * HD; e += WARPS * 32) {
    int r = e / HD, c = e % HD;
    sq[r][c] = q[(q0 + r) * HD + c];
    sk[r][c] = k[r * HD + c];
    sv[r][c] = v[r * HD + c];
  }
  __syncthreads();
  for (int r = warp; r < QROWS; r += WARPS) {
    float s = 0;
    for (int d = 0; d < HD; d++) s += sq[r][d] * sk[lane][d];
    s *= scale;
    float m = warp_max(s);
    float p = expf(s - m);
    float sum = warp_sum(p);
    sp[warp][lane] = p / sum;
    __syncwarp();
    float lo = 0, hi = 0;
    for (int j = 0; j < KEYS; j++) {
      lo += sp[warp][j] * sv[j][lane];
      hi += sp[warp][j] * sv[j][lane + 32];
    }
    out[(q0 + r) * HD + lane] = lo;
    out[(q0 + r) * HD + lane + 32] = hi;
    if (lane == 0) lse[q0 + r] = m + logf(sum);
    __syncwarp();
  }
}

void flash_softmax(const float* q, const float* k, const float* v, float* out, float* log_sum_exp,
                   int query_length, float scale) {
  soft32<<<query_length / QROWS, WARPS * 32>>>(q, k, v, out, log_sum_exp, scale);
  CUDA_CHECK(cudaGetLastError());
}
