#pragma once

// What kernels of several files need. The file is yours: whatever you put here, every file of this
// part may include.

// How many pieces of size b cover a.
__host__ __device__ inline int divide_up(int a, int b) { return (a - 1) / b + 1; }

// GELU by the tanh formula, as in Part 3's geglu.
__device__ inline float gelu(float x) {
  constexpr float kSqrt2OverPi = 0.7978845608f;
  const float inner = kSqrt2OverPi * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// Sum of `value` over the lanes of a warp, in each of them.
__device__ inline float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// Sum of `value` over the threads of a block of whole warps, in every thread: first over each warp,
// then over the warps' sums. A kernel calls it once: the next call would overwrite the sums.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kWarpSize];  // a block has 32 warps at most
  const int lane = threadIdx.x % kWarpSize;
  value = warp_sum(value);
  if (lane == 0) sums[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  const int warps = blockDim.x / kWarpSize;
  return warp_sum(lane < warps ? sums[lane] : 0.0f);
}
