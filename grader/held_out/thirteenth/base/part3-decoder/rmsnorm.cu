#include "rmsnorm.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

using rooflab::from_float;
using rooflab::to_float;

constexpr int kWarps = 4;  // of a block, each with a row of its own

// A warp sums the squares of its row, then goes over it once more.
template <typename T>
__global__ void norm_rows(const T* x, const T* weight, T* y, int rows, int width, float epsilon) {
  const int lane = threadIdx.x & 31;
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarps + (threadIdx.x >> 5);
  if (row >= rows) return;
  const T* in = x + row * width;
  T* out = y + row * width;

  float squares = 0.0f;
  for (int i = lane; i < width; i += 32) {
    const float value = to_float(in[i]);
    squares = fmaf(value, value, squares);
  }
  for (int hop = 16; hop != 0; hop >>= 1) squares += __shfl_xor_sync(~0u, squares, hop);

  const float shrink = rsqrtf(squares / width + epsilon);
  for (int i = lane; i < width; i += 32) {
    const float gain = 1.0f + to_float(weight[i]);
    out[i] = from_float<T>(to_float(in[i]) * shrink * gain);
  }
}

}  // namespace

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  const int blocks = (rows - 1) / kWarps + 1;
  norm_rows<<<blocks, kWarps * 32, 0, stream>>>(x, weight, y, rows, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
