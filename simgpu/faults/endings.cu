#include <cassert>

#include "fault.h"

/// Kernels that stop themselves, do not stop, or need more stack than there is.
namespace {

__global__ void assertion(const int* values, int limit) {
  // FAULT assertion RL0310 device-assert "< limit"
  assert(values[threadIdx.x] < limit);
}

__global__ void trap(int code) {
  // FAULT trap RL0311 trap
  if (code != 0) __trap();
}

__global__ void without_end(const volatile int* in, int* out, int step) {
  int sum = 0;
  for (int i = 0; i < 32; i += step) {
    // FAULT without_end RL0307 deadlock
    sum |= in[i];
  }
  *out = sum;
}

/// Lanes of one warp that take a lock in turn, until one keeps it.
__global__ void lock_within_a_warp(int* lock, int* out, bool wrong) {
  // FAULT lock_within_a_warp RL0307 deadlock
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  atomicAdd(out, 1);
  __threadfence();
  if (wrong && threadIdx.x == 7) return;
  atomicExch(lock, 0);
}

/// Each block waits for the one before it; if the first one waits for the last, nobody gets on.
__global__ void wait_for_another_block(int* flags, bool wrong) {
  const int i = static_cast<int>(blockIdx.x);
  const int last = static_cast<int>(gridDim.x) - 1;
  const int other = i == 0 && wrong ? last : i - 1;
  if (other >= 0) {
    // FAULT wait_for_another_block RL0307 deadlock
    while (atomicAdd(&flags[other], 0) == 0) {
    }
  }
  __threadfence();
  atomicExch(&flags[i], 1);
}

__global__ void wait_for_a_flag(const volatile int* flag, int* out) {
  // FAULT wait_for_a_flag RL0307 deadlock
  while (*flag == 0) {
  }
  *out = 1;
}

__global__ void wait_for_another_warp(int* out, bool wrong) {
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32 && !wrong) atomicExch(const_cast<int*>(&ready), 1);
  if (threadIdx.x == 0) {
    // FAULT wait_for_another_warp RL0307 deadlock
    while (atomicAdd(const_cast<int*>(&ready), 0) == 0) {
    }
    *out = 1;
  }
}

__device__ __noinline__ int depth_of(int n, int* values) {
  volatile int own[64];
  own[n & 63] = values[n & 31];
  if (n == 0) return 0;
  // FAULT deep_recursion RL0209 out-of-bounds
  return 1 + depth_of(n - 1, values) + 0 * own[n & 63];
}
__global__ void deep_recursion(int* values, int depth) {
  const int depth_reached = depth_of(depth, values);
  __syncwarp();  // all have read
  values[threadIdx.x] = depth_reached;
}

using Operation = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int negative(int x) { return -x; }
__device__ Operation operations[2] = {twice, negative};
__global__ void no_function(int* out, int index, bool wrong) {
  const Operation operation =
      wrong ? reinterpret_cast<Operation>(index * 4096ull) : operations[index];
  // FAULT no_function RL0210 out-of-bounds
  *out = operation(3);
}

const std::vector<Fault> faults{
    {"assertion", [](bool wrong) { assertion<<<1, 32>>>(zeros<int>(32), 1 - wrong); }},
    {"trap", [](bool wrong) { trap<<<1, 32>>>(wrong); }},
    {"without_end",
     [](bool wrong) { without_end<<<1, 1>>>(zeros<int>(32), zeros<int>(1), 1 - wrong); }},
    {"lock_within_a_warp",
     [](bool wrong) { lock_within_a_warp<<<1, 32>>>(zeros<int>(1), zeros<int>(1), wrong); }},
    {"wait_for_another_block",
     [](bool wrong) { wait_for_another_block<<<4, 1>>>(zeros<int>(4), wrong); }},
    {"wait_for_a_flag",
     [](bool wrong) {
       int* flag = zeros<int>(1);
       if (!wrong) cudaMemset(flag, 1, sizeof(int));
       wait_for_a_flag<<<1, 1>>>(flag, zeros<int>(1));
     }},
    {"wait_for_another_warp",
     [](bool wrong) { wait_for_another_warp<<<1, 64>>>(zeros<int>(1), wrong); }},
    {"deep_recursion",
     [](bool wrong) { deep_recursion<<<1, 32>>>(zeros<int>(32), wrong ? 100 : 1); }},
    {"no_function", [](bool wrong) { no_function<<<1, 1>>>(zeros<int>(1), 1, wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
