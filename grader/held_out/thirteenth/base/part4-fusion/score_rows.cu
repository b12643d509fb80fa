#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"

namespace {

constexpr int kThreads = 192;

// A block multiplies a row with its reference, and keeps nothing but the sum.
__global__ void match_and_score(const float* projected, const float* reference, float* scores,
                                int width) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * width;
  float matched = 0.0f;
  for (int i = threadIdx.x; i < width; i += kThreads) {
    matched += projected[begin + i] * reference[begin + i];
  }
  const float row = block_sum(matched);
  if (threadIdx.x == 0) scores[blockIdx.x] = tanhf(row / width);
}

}  // namespace

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const size_t numbers = static_cast<size_t>(shape.rows) * shape.width;
  float* projected = context.workspace.take<float>(numbers);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  match_and_score<<<shape.rows, kThreads, 0, context.stream>>>(projected, reference, scores,
                                                               shape.width);
  CUDA_CHECK(cudaGetLastError());
}
