#pragma once

#include <cuda_runtime.h>

/// Reductions by shuffles, for softmax over scores that lie in neighbouring lanes. Each group of
/// kLanes neighbouring lanes, a power of two of them, gets a result of its own: by default the
/// whole warp one. All lanes of the warp must call together.

/// The largest value of the group, for each of its lanes.
template <int kLanes = 32>
__device__ float warp_max(float value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}

/// The sum over the group, for each of its lanes.
template <int kLanes = 32>
__device__ float warp_sum(float value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, distance);
  }
  return value;
}
