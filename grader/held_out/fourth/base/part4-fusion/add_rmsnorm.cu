#include "add_rmsnorm.h"

#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kGroup = 8;  // warps of a block, all of them on one row

__device__ float sum_of_lanes(float value) {
  for (int hop = 1; hop < 32; hop <<= 1) value += __shfl_xor_sync(0xffffffff, value, hop);
  return value;
}

template <typename T>
struct Row {
  const T* x;
  T* residual;
  T* y;
};

template <typename T>
__global__ void add_then_norm(const T* x, T* residual, const T* weight, T* y, int width,
                              float epsilon) {
  __shared__ float squares[kGroup];
  const size_t offset = static_cast<size_t>(blockIdx.x) * width;
  const Row<T> row{x + offset, residual + offset, y + offset};
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int me = warp * 32 + lane;

  float mine = 0.0f;
  for (int i = me; i < width; i += 32 * kGroup) {
    const float both = rooflab::to_float(row.residual[i]) + rooflab::to_float(row.x[i]);
    const T stored = rooflab::from_float<T>(both);
    row.residual[i] = stored;
    const float value = rooflab::to_float(stored);
    mine = fmaf(value, value, mine);
  }
  mine = sum_of_lanes(mine);
  if (lane == 0) squares[warp] = mine;
  __syncthreads();

  float all = 0.0f;
  for (int w = 0; w < kGroup; ++w) all += squares[w];
  const float inverse = 1.0f / sqrtf(all / width + epsilon);
  for (int i = me; i < width; i += 32 * kGroup) {
    const float factor = 1.0f + rooflab::to_float(weight[i]);
    row.y[i] = rooflab::from_float<T>(rooflab::to_float(row.residual[i]) * inverse * factor);
  }
}

}  // namespace

template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream) {
  const dim3 block(32, kGroup);
  add_then_norm<<<rows, block, 0, stream>>>(x, residual, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void add_rmsnorm(const float*, float*, const float*, float*, int, int, float,
                          cudaStream_t);
template void add_rmsnorm(const __nv_bfloat16*, __nv_bfloat16*, const __nv_bfloat16*,
                          __nv_bfloat16*, int, int, float, cudaStream_t);
