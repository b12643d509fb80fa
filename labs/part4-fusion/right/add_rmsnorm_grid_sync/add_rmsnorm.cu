#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <algorithm>

#include "add_rmsnorm.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kPiece = 2048;  // elements of a row that a block takes at a time

template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, float* squares,
                              int rows, int width, float epsilon) {
  const cg::grid_group grid = cg::this_grid();
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int pieces = (width + kPiece - 1) / kPiece;
  for (long job = grid.block_rank(); job < static_cast<long>(rows) * pieces;
       job += grid.num_blocks()) {
    const long row = job / pieces;
    const int begin = job % pieces * kPiece, end = min(width, begin + kPiece);
    float mine = 0;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
      const long at = row * width + i;
      residual[at] =
          rooflab::from_float<T>(rooflab::to_float(residual[at]) + rooflab::to_float(x[at]));
      const float value = rooflab::to_float(residual[at]);
      mine += value * value;
    }
    for (int d = warp.size() / 2; d > 0; d /= 2) mine += warp.shfl_down(mine, d);
    if (warp.thread_rank() == 0) atomicAdd(&squares[row], mine);
  }
  grid.sync();
  const long elements = static_cast<long>(rows) * width;
  for (long at = grid.thread_rank(); at < elements; at += grid.size()) {
    const float scale = 1.0f / sqrtf(squares[at / width] / width + epsilon);
    y[at] = rooflab::from_float<T>(rooflab::to_float(residual[at]) * scale *
                                   (1.0f + rooflab::to_float(weight[at % width])));
  }
}

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  int device = 0, processors = 0, each = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, add_then_norm<T>, kThreads, 0));
  float* squares = nullptr;
  CUDA_CHECK(cudaMallocAsync(&squares, rows * sizeof(float), stream));
  CUDA_CHECK(cudaMemsetAsync(squares, 0, rows * sizeof(float), stream));
  void* arguments[] = {&x, &residual, &weight, &y, &squares, &rows, &width, &epsilon};
  const long jobs = static_cast<long>(rows) * ((width + kPiece - 1) / kPiece);
  const auto blocks =
      static_cast<unsigned>(std::min<long>(jobs, static_cast<long>(processors) * each));
  CUDA_CHECK(cudaLaunchCooperativeKernel(add_then_norm<T>, dim3(blocks), dim3(kThreads), arguments,
                                         0, stream));
  CUDA_CHECK(cudaFreeAsync(squares, stream));
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
