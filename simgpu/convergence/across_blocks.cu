#include <cooperative_groups.h>

#include "pattern.h"

/// Threads that wait for lanes, warps and blocks by looking at memory again and again.
namespace {

namespace cg = cooperative_groups;

/// The first block waits for all others, looking at the flag of each in turn.
__global__ void flags_of_several_blocks(int* out, volatile int* flags, bool wrong) {
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  if (block != 0) {
    // TOLD flags_of_several_blocks RL0304 global-race
    out[block] = 3 * block;
    if (!wrong) __threadfence();
    flags[block] = 1;
    return;
  }
  for (int seen = 0; seen < blocks - 1;) {
    seen = 0;
    for (int b = 1; b < blocks; ++b) seen += flags[b];
  }
  __threadfence();
  for (int b = 1; b < blocks; ++b) out[0] += out[b];
}

/// Who waits stores, again and again, what is there already.
__global__ void storing_while_waiting(int* out, volatile int* flags) {
  const int block = static_cast<int>(blockIdx.x);
  if (block == 0) {
    while (flags[1] == 0 || flags[2] == 0) flags[0] = 5;
    out[0] = flags[1] + flags[2] + flags[0];
  } else {
    flags[block] = block;
  }
}

/// Two warps of the first block wait for two other blocks, and count how often they looked.
__global__ void counting_while_waiting(int* out, int* flags) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (blockIdx.x == 0) {
    if (threadIdx.x % 32 != 0) return;
    int tries = 0;
    while (atomicAdd(&flags[warp], 0) == 0) ++tries;
    out[warp] = tries >= 0 ? 1 : 0;
  } else if (threadIdx.x == 0) {
    atomicExch(&flags[blockIdx.x - 1], 1);
  }
}

/// Prefix sums of one pass: a block looks back over those before it, at the sums that they have
/// published, until it finds one which holds all before it.
__global__ void look_back(int* out, volatile int* states, volatile int* sums, int* next) {
  __shared__ int tile, before;
  if (threadIdx.x == 0) tile = atomicAdd(next, 1);
  __syncthreads();
  const int own = tile, value = own * 64 + static_cast<int>(threadIdx.x);
  const int total = 64 * own * 64 + 63 * 32;
  if (threadIdx.x == 0) {
    sums[2 * own] = total;
    __threadfence();
    states[own] = 1;
    int sum = 0;
    for (int at = own - 1; at >= 0;) {
      const int state = states[at];
      if (state == 0) continue;
      __threadfence();
      sum += sums[2 * at + (state == 2 ? 1 : 0)];
      at = state == 2 ? -1 : at - 1;
    }
    sums[2 * own + 1] = sum + total;
    __threadfence();
    states[own] = 2;
    before = sum;
  }
  __syncthreads();
  if (threadIdx.x == 63) out[own] = before + value;
}

__global__ void lock_of_each_lane(int* out, int* lock, bool wrong) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    const int value = *static_cast<volatile int*>(out);
    *static_cast<volatile int*>(out) = value + 1;
    __threadfence();
    if (!wrong || threadIdx.x != 7) atomicExch(lock, 0);
    done = true;
  }
}

__global__ void grid_of_blocks(int* out, int* parts) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  grid.sync();
  if (grid.thread_rank() < gridDim.x) {
    out[grid.thread_rank()] = parts[gridDim.x - 1 - grid.thread_rank()];
  }
}

template <typename T>
T* zeros(std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}

const std::vector<Pattern> patterns{
    {"flags_of_several_blocks", 9,
     [](int* out, bool wrong) { flags_of_several_blocks<<<9, 1>>>(out, zeros<int>(9), wrong); },
     [](int i) { return i == 0 ? 108 : 3 * i; }},
    {"storing_while_waiting", 1,
     [](int* out, bool) { storing_while_waiting<<<3, 1>>>(out, zeros<int>(3)); },
     [](int) { return 8; }, false},
    {"counting_while_waiting", 2,
     [](int* out, bool) { counting_while_waiting<<<3, 64>>>(out, zeros<int>(2)); },
     [](int) { return 1; }, false},
    {"look_back", 20,
     [](int* out, bool) {
       look_back<<<20, 64>>>(out, zeros<int>(20), zeros<int>(40), zeros<int>(1));
     },
     [](int i) { return 64 * i * (64 * i - 1) / 2 + 64 * i + 63; }, false},
    {"lock_of_each_lane", 1,
     [](int* out, bool) { lock_of_each_lane<<<2, 48>>>(out, zeros<int>(1), false); },
     [](int) { return 96; }, false},
    {"grid_of_blocks", 6,
     [](int* out, bool) {
       int* parts = zeros<int>(6);
       void* arguments[] = {&out, &parts};
       cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_of_blocks), dim3(6), dim3(64),
                                   arguments);
     },
     [](int i) { return 6 - i; }, false},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
