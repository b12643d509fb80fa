#include "gemv.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "toolkit/check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kRows = 6;  // of a block, a warp for each

__global__ void rows_times_x(const float* A, const float* x, float* y, int M, int K) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const long long row = static_cast<long long>(blockIdx.x) * kRows + warp.meta_group_rank();
  if (row >= M) return;

  const float* a = A + row * K;
  float even = 0.0f, odd = 0.0f;
  int k = warp.thread_rank();
  for (; k + 32 < K; k += 64) {
    even += a[k] * x[k];
    odd += a[k + 32] * x[k + 32];
  }
  if (k < K) even += a[k] * x[k];

  const float dot = cg::reduce(warp, even + odd, cg::plus<float>());
  if (warp.thread_rank() == 0) y[row] = dot;
}

}  // namespace

void gemv(const float* A, const float* x, float* y, int M, int K) {
  const unsigned blocks = (static_cast<unsigned>(M) + kRows - 1) / kRows;
  rows_times_x<<<blocks, kRows * 32>>>(A, x, y, M, K);
  CUDA_CHECK(cudaGetLastError());
}
