#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"

#define THREADS 128

/* One block a row: tanh of the mean of projected * reference. */
__global__ void match_kernel(const float* projected, const float* reference, float* scores,
                             int width) {
  int row = blockIdx.x;
  const float* p = projected + (size_t)row * width;
  const float* r = reference + (size_t)row * width;
  float part = 0.0f;
  int i;
  for (i = threadIdx.x; i < width; i += THREADS) {
    part += p[i] * r[i];
  }
  float whole = block_sum(part);
  if (threadIdx.x != 0) return;
  scores[row] = tanhf(whole / width);
}

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  rooflab::Workspace::Scope scope(context.workspace);
  float* projected = context.workspace.take<float>((size_t)shape.rows * shape.width);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  match_kernel<<<shape.rows, THREADS, 0, context.stream>>>(projected, reference, scores,
                                                           shape.width);
  CUDA_CHECK(cudaGetLastError());
}
