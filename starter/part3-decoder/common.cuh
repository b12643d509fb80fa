#pragma once

// What kernels of several files need. The file is yours: whatever you put here, every file of this
// part may include.

constexpr int kWarpSize = 32;
constexpr unsigned kAllLanes = 0xffffffff;

// Sum of `value` over the lanes of a warp, in each of them.
__device__ inline float warp_sum(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}

// Largest `value` of the lanes of a warp, in each of them.
__device__ inline float warp_max(float value) {
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}
