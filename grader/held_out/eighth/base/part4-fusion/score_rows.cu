#include "score_rows.h"

#include <cstddef>

#include "toolkit/check.h"
#include "toolkit/linear.h"

// Multiplies, averages and takes tanh in one kernel: one warp for each row.
__global__ void match(const float* projected, const float* reference, float* scores, int rows,
                      int width) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;
  const std::size_t offset = static_cast<std::size_t>(row) * width;

  float dot = 0.0f;
  for (int i = lane; i < width; i += 32) {
    dot = fmaf(projected[offset + i], reference[offset + i], dot);
  }
  for (int mask = 1; mask < 32; mask *= 2) dot += __shfl_xor_sync(0xffffffff, dot, mask);
  if (lane == 0) scores[row] = tanhf(dot / width);
}

void score_rows(const ScoreContext& context, const float* x, const float* weight,
                const float* reference, float* scores, const ScoreShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const std::size_t size = static_cast<std::size_t>(shape.rows) * shape.width;
  float* projected = context.workspace.take<float>(size);
  rooflab::linear(context.cublas, x, weight, projected, shape.rows, shape.hidden, shape.width,
                  context.stream);
  const int warps_of_block = 2;
  const int blocks = (shape.rows + warps_of_block - 1) / warps_of_block;
  match<<<blocks, 32 * warps_of_block, 0, context.stream>>>(projected, reference, scores,
                                                            shape.rows, shape.width);
  CUDA_CHECK(cudaGetLastError());
}
