#include "score_rows.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/linear.h"

// The last three lines in one kernel: a warp takes the mean of a row of projected * reference.
__global__ void match_rows(const float* projected, const float* reference, float* scores, int rows,
                           int width) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  const size_t begin = static_cast<size_t>(row) * width;
  float matched = 0.0f;
  for (int i = lane; i < width; i += kWarpSize) {
    matched += projected[begin + i] * reference[begin + i];
  }
  matched = warp_sum(matched);
  if (lane == 0) scores[row] = tanhf(matched / width);
}

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  float* projected =
      context.workspace.take<float>(static_cast<size_t>(shape.rows) * shape.width);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  const int threads = 128;
  const int blocks = divide_up(shape.rows, threads / kWarpSize);
  match_rows<<<blocks, threads, 0, context.stream>>>(projected, reference, scores, shape.rows,
                                                     shape.width);
  CUDA_CHECK(cudaGetLastError());
}
