#pragma once

#include <cuda_runtime.h>

/// The largest value of a warp's 32 lanes, for each of them. All lanes must call it together.
__device__ inline float warp_max(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}

/// The sum over a warp's 32 lanes, for each of them. All lanes must call it together.
__device__ inline float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, distance);
  }
  return value;
}
