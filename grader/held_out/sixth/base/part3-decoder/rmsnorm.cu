#include "rmsnorm.h"

#include "common.cuh"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define TEAM 128
#define TEAM_WARPS (TEAM / kWarpSize)

/* Sum over all threads of the block, in each of them. */
__device__ static float team_sum(float value) {
  __shared__ float of_warp[TEAM_WARPS];
  int lane = threadIdx.x % kWarpSize;
  int warp = threadIdx.x / kWarpSize;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();

  float total = 0.0f;
  int w;
  for (w = 0; w < TEAM_WARPS; w++) total += of_warp[w];
  return total;
}

template <typename T>
__global__ void rmsnorm_kernel(const T* x, const T* weight, T* y, int width, float epsilon) {
  std::int64_t begin = (std::int64_t)blockIdx.x * width;
  const T* from = x + begin;
  T* to = y + begin;
  float squares = 0.0f;
  int i;

  for (i = threadIdx.x; i < width; i += TEAM) {
    float v = rooflab::to_float(from[i]);
    squares += v * v;
  }
  float mean = team_sum(squares) / (float)width;
  float factor = 1.0f / sqrtf(mean + epsilon);

  for (i = threadIdx.x; i < width; i += TEAM) {
    float v = rooflab::to_float(from[i]);
    float w = rooflab::to_float(weight[i]);
    to[i] = rooflab::from_float<T>(v * factor * (1.0f + w));
  }
}

template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream) {
  rmsnorm_kernel<T><<<rows, TEAM, 0, stream>>>(x, weight, y, width, epsilon);
  CUDA_CHECK(cudaGetLastError());
}

template void rmsnorm(const float*, const float*, float*, int, int, float, cudaStream_t);
template void rmsnorm(const __nv_bfloat16*, const __nv_bfloat16*, __nv_bfloat16*, int, int, float,
                      cudaStream_t);
