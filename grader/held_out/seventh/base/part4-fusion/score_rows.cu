#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"

#define WARP 32
#define TPB 256
#define FULL_MASK 0xffffffffu

// multiply + mean + tanh of one row
__global__ void matchRow(const float* p, const float* ref, float* out, int width) {
  __shared__ float s[TPB / WARP];
  const int tid = threadIdx.x;
  p += (size_t)blockIdx.x * width;
  ref += (size_t)blockIdx.x * width;

  float dot = 0.f;
  for (int i = tid; i < width; i += blockDim.x) dot += p[i] * ref[i];

  for (int o = WARP / 2; o > 0; o /= 2) dot += __shfl_xor_sync(FULL_MASK, dot, o);
  if (tid % WARP == 0) s[tid / WARP] = dot;
  __syncthreads();

  if (tid < WARP) {
    dot = tid < TPB / WARP ? s[tid] : 0.f;
    for (int o = WARP / 2; o > 0; o /= 2) dot += __shfl_xor_sync(FULL_MASK, dot, o);
    if (tid == 0) out[blockIdx.x] = tanhf(dot / width);
  }
}

void score_rows(const ScoreContext& ctx, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& s) {
  rooflab::Workspace::Scope scope(ctx.workspace);
  float* proj = ctx.workspace.take<float>((size_t)s.rows * s.width);
  rooflab::linear(ctx.cublas, x, weight, proj, s.rows, s.hidden, s.width, ctx.stream);
  matchRow<<<s.rows, TPB, 0, ctx.stream>>>(proj, reference, scores, s.width);
  CUDA_CHECK(cudaGetLastError());
}
