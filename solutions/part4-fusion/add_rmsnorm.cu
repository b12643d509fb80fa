#include "add_rmsnorm.h"

#include <algorithm>

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/todo.h"
#include "toolkit/vectors.h"

// BEGIN SOLUTION
// STARTER: // Your kernel goes here: a block adds a row, sums the squares as it goes, then scales the row.
namespace {

using rooflab::kVectorSize;

constexpr int kMostThreads = 256;

// One block for each row. A thread meets the same elements in both loops, so that it reads back
// only what it stored itself.
template <typename T>
__global__ void add_rmsnorm_kernel(const T* x, T* residual, const T* weight, T* y, int width,
                                   float epsilon) {
  const size_t row = static_cast<size_t>(blockIdx.x) * width;
  x += row;
  residual += row;
  y += row;
  const int first = threadIdx.x * kVectorSize<T>;
  const int step = blockDim.x * kVectorSize<T>;

  float squares = 0.0f;
  for (int i = first; i < width; i += step) {
    float sums[kVectorSize<T>], addends[kVectorSize<T>];
    rooflab::load(residual + i, width - i, sums);
    rooflab::load(x + i, width - i, addends);
    for (int j = 0; j < kVectorSize<T>; ++j) {
      const T sum = rooflab::from_float<T>(sums[j] + addends[j]);
      sums[j] = rooflab::to_float(sum);  // what is stored is what is normed
      squares += sums[j] * sums[j];
    }
    rooflab::store(residual + i, width - i, sums);
  }
  const float scale = rsqrtf(block_sum(squares) / width + epsilon);

  for (int i = first; i < width; i += step) {
    float values[kVectorSize<T>], weights[kVectorSize<T>];
    rooflab::load(residual + i, width - i, values);  // from the caches, where the stores went
    rooflab::load(weight + i, width - i, weights);
    for (int j = 0; j < kVectorSize<T>; ++j) values[j] *= scale * (1.0f + weights[j]);
    rooflab::store(y + i, width - i, values);
  }
}

}  // namespace
// END SOLUTION

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("give each row one block; add x to residual first, and store the sums");
  const int warps = divide_up(width, kVectorSize<T> * kWarpSize);  // one vector for each thread
  const int threads = std::min(warps * kWarpSize, kMostThreads);
  add_rmsnorm_kernel<<<rows, threads, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
  // END SOLUTION
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
