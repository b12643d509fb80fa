#include "rmsnorm.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a block sums the squares of a row, then scales the row.
namespace {

using rooflab::kVectorSize;

constexpr int kMostThreads = 256;

// Sum of `value` over the threads of a block, in every thread: first over each warp, then over the
// warps' sums.
__device__ float block_sum(float value) {
  __shared__ float sums[kMostThreads / kWarpSize];
  const int lane = threadIdx.x % kWarpSize;
  value = warp_sum(value);
  if (lane == 0) sums[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  const int warps = blockDim.x / kWarpSize;
  return warp_sum(lane < warps ? sums[lane] : 0.0f);
}

// One block for each row.
template <typename T>
__global__ void rmsnorm_kernel(const T* x, const T* weight, T* y, int width, float epsilon) {
  x += static_cast<size_t>(blockIdx.x) * width;
  y += static_cast<size_t>(blockIdx.x) * width;
  const int first = threadIdx.x * kVectorSize<T>;
  const int step = blockDim.x * kVectorSize<T>;

  float values[kVectorSize<T>];
  float squares = 0.0f;
  for (int i = first; i < width; i += step) {
    rooflab::load(x + i, width - i, values);
    for (const float value : values) squares += value * value;
  }
  const float scale = rsqrtf(block_sum(squares) / width + epsilon);

  // A thread still holds its part of a row that is no longer than the block. Of a longer row it
  // holds only the last part, and reads again.
  const bool is_held = width <= step;
  for (int i = first; i < width; i += step) {
    if (!is_held) rooflab::load(x + i, width - i, values);
    float weights[kVectorSize<T>];
    rooflab::load(weight + i, width - i, weights);
    for (int j = 0; j < kVectorSize<T>; ++j) values[j] *= scale * (1.0f + weights[j]);
    rooflab::store(y + i, width - i, values);
  }
}

int divide_up(int a, int b) { return (a + b - 1) / b; }

}  // namespace
// END SOLUTION

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give each row one block; start with the sum of its squares");
  const int warps = divide_up(width, kVectorSize<T> * kWarpSize);  // one vector for each thread
  const int threads = std::min(warps * kWarpSize, kMostThreads);
  rmsnorm_kernel<<<rows, threads, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
