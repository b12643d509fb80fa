#include "attention_steps.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "toolkit/check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kRows = 3;  // of a block

__global__ void normalise(const float* scores, float* weights, int rows, int length) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int row = blockIdx.x * kRows + warp.meta_group_rank();
  if (row >= rows) return;
  const float* from = scores + row * length;
  float* to = weights + row * length;

  float top = -INFINITY;
  for (int j = warp.thread_rank(); j < length; j += 32) top = fmaxf(top, from[j]);
  top = cg::reduce(warp, top, cg::greater<float>());

  float total = 0.0f;
  for (int j = warp.thread_rank(); j < length; j += 32) {
    const float grown = expf(from[j] - top);
    to[j] = grown;
    total += grown;
  }
  total = cg::reduce(warp, total, cg::plus<float>());
  for (int j = warp.thread_rank(); j < length; j += 32) to[j] /= total;
}

}  // namespace

void attention_softmax(const float* scores, float* weights, int rows, int length) {
  normalise<<<(rows + kRows - 1) / kRows, kRows * 32>>>(scores, weights, rows, length);
  CUDA_CHECK(cudaGetLastError());
}
