#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/eager/pointwise.h"
#include "toolkit/linear.h"

constexpr int kRows = 4;

__global__ void mean_of_products(const float* a, const float* b, float* mean, ScoreShape shape) {
  const int row = blockIdx.x * kRows + threadIdx.y;
  if (row >= shape.rows) return;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < shape.width; i += kWarpSize) {
    const size_t at = size_t{1} * row * shape.width + i;
    sum = fmaf(a[at], b[at], sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) mean[row] = sum / static_cast<float>(shape.width);
}

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  float* projected = context.workspace.take<float>(size_t{1} * shape.rows * shape.width);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  mean_of_products<<<divide_up(shape.rows, kRows), dim3(kWarpSize, kRows), 0, context.stream>>>(
      projected, reference, scores, shape);
  CUDA_CHECK(cudaGetLastError());
  rooflab::eager::tanh(scores, scores, shape.rows, context.stream);
}
