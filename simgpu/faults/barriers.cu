#include "fault.h"

/// Barriers and warp-wide operations that not all threads reach, and threads that wait for ever.
namespace {

__global__ void half_a_warp(int* out, bool wrong) {
  const unsigned i = threadIdx.x;
  if (!wrong || i < 16) {
    // FAULT half_a_warp RL0305 divergent-barrier
    __syncthreads();
  }
  out[i] = 1;
}

/// Threads that have returned are not waited for, but their values are gone.
__global__ void return_before(const int* in, int* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= count) return;
  int sum = in[i];
  for (int step = 16; step > 0; step /= 2) {
    // FAULT return_before RL0305 divergent-barrier "has returned from the kernel"
    sum += __shfl_xor_sync(~0u, sum, step);
  }
  out[i] = sum;
}

__global__ void different_rounds(int* out, const int* rounds) {
  int sum = 0;
  for (int r = 0; r < rounds[threadIdx.x]; ++r) {
    sum += r;
    // FAULT different_rounds RL0305 divergent-barrier
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void different_barriers(int* out, int barrier) {
  const unsigned i = threadIdx.x;
  if (i < 32) {
    // FAULT different_barriers RL0306 deadlock
    asm volatile("bar.sync 0;" ::: "memory");
  } else {
    asm volatile("bar.sync %0;" ::"r"(barrier) : "memory");
  }
  out[i] = 1;
}

__global__ void count_too_large(int* out, int threads) {
  // FAULT count_too_large RL0306 deadlock
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
  out[threadIdx.x] = 1;
}

__global__ void count_of_no_warps(int* out, int threads) {
  // FAULT count_of_no_warps RL0305 divergent-barrier
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
  out[threadIdx.x] = 1;
}

__global__ void no_such_barrier(int* out, int barrier) {
  // FAULT no_such_barrier RL0305 divergent-barrier
  asm volatile("bar.sync %0;" ::"r"(barrier) : "memory");
  out[threadIdx.x] = 1;
}

__global__ void syncwarp_names_absent(int* out, unsigned mask) {
  const unsigned i = threadIdx.x;
  if (i < 16) {
    // FAULT syncwarp_names_absent RL0305 divergent-barrier
    __syncwarp(mask);
  }
  atomicAdd(&out[i], 1);
}

__global__ void shuffle_in_a_branch(int* out, unsigned mask) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  if (i < 16) {
    // FAULT shuffle_in_a_branch RL0305 divergent-barrier
    value = __shfl_sync(mask, i, 3);
  }
  atomicAdd(&out[i], value);
}

__global__ void shuffle_before_a_load(const int* in, int* out, unsigned mask) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  if (i < 16) {
    // FAULT shuffle_before_a_load RL0305 divergent-barrier
    value = __shfl_sync(mask, i, 3);
  }
  out[i] = value + in[i];
}

__global__ void shuffle_from_absent(int* out, int source) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 16) {
    // FAULT shuffle_from_absent RL0305 divergent-barrier
    out[i] = __shfl_sync(0xffffu, i, source);
  }
}

__global__ void vote_in_a_branch(unsigned* out, unsigned mask) {
  const unsigned i = threadIdx.x;
  unsigned votes = 0;
  if (i % 2 == 0) {
    // FAULT vote_in_a_branch RL0305 divergent-barrier
    votes = __ballot_sync(mask, i > 8);
  }
  atomicAdd(&out[i], votes);
}

__global__ void reduce_in_a_loop(const int* in, int* out, int count, bool wrong) {
  int sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < (wrong ? count : 64); i += 32) {
    int value = i < count ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) {
      // FAULT reduce_in_a_loop RL0305 divergent-barrier
      value += __shfl_xor_sync(~0u, value, step);
    }
    sum += value;
  }
  atomicAdd(&out[threadIdx.x], sum);
}

const std::vector<Fault> faults{
    {"half_a_warp", [](bool wrong) { half_a_warp<<<1, 64>>>(zeros<int>(64), wrong); }},
    {"return_before",
     [](bool wrong) {
       const int count = wrong ? 50 : 64;
       return_before<<<1, 64>>>(zeros<int>(64), zeros<int>(64), count);
     }},
    {"different_rounds",
     [](bool wrong) {
       std::vector<int> rounds(32, 2);
       if (wrong) rounds[7] = 3;
       int* on_device = zeros<int>(32);
       cudaMemcpy(on_device, rounds.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
       different_rounds<<<1, 32>>>(zeros<int>(32), on_device);
     }},
    {"different_barriers",
     [](bool wrong) { different_barriers<<<1, 64>>>(zeros<int>(64), wrong); }},
    {"count_too_large",
     [](bool wrong) { count_too_large<<<1, 64>>>(zeros<int>(64), wrong ? 96 : 64); }},
    {"count_of_no_warps",
     [](bool wrong) { count_of_no_warps<<<1, 64>>>(zeros<int>(64), wrong ? 48 : 64); }},
    {"no_such_barrier",
     [](bool wrong) { no_such_barrier<<<1, 64>>>(zeros<int>(64), wrong ? 16 : 15); }},
    {"syncwarp_names_absent",
     [](bool wrong) { syncwarp_names_absent<<<1, 32>>>(zeros<int>(32), wrong ? ~0u : 0xffffu); }},
    {"shuffle_in_a_branch",
     [](bool wrong) { shuffle_in_a_branch<<<1, 32>>>(zeros<int>(32), wrong ? ~0u : 0xffffu); }},
    {"shuffle_before_a_load",
     [](bool wrong) {
       shuffle_before_a_load<<<1, 32>>>(zeros<int>(32), zeros<int>(32), wrong ? ~0u : 0xffffu);
     }},
    {"shuffle_from_absent",
     [](bool wrong) { shuffle_from_absent<<<1, 32>>>(zeros<int>(32), wrong ? 20 : 4); }},
    {"vote_in_a_branch",
     [](bool wrong) {
       vote_in_a_branch<<<1, 32>>>(zeros<unsigned>(32), wrong ? ~0u : 0x5555'5555u);
     }},
    {"reduce_in_a_loop",
     [](bool wrong) { reduce_in_a_loop<<<1, 32>>>(zeros<int>(40), zeros<int>(32), 40, wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
