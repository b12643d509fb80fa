#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"

namespace {

// A block for each row: products, mean and tanh.
__global__ void match_row(const float* projected, const float* reference, float* scores,
                          int width) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    sum += projected[begin + i] * reference[begin + i];
  }
  const float total = block_sum(sum);
  if (threadIdx.x == 0) scores[blockIdx.x] = tanhf(total / width);
}

}  // namespace

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  auto* projected = context.workspace.take<float>(static_cast<size_t>(shape.rows) * shape.width);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  match_row<<<shape.rows, 128, 0, context.stream>>>(projected, reference, scores, shape.width);
  CUDA_CHECK(cudaGetLastError());
}
