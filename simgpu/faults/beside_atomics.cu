#include <cooperative_groups.h>

#include <cuda/atomic>

#include "fault.h"

/// Plain accesses beside the atomics of other threads, in any order that a run may have. What twins
/// do instead is legal: barriers, fences and flags, volatile and atomic loads, and loads that only
/// guess what an atomic of their own thread will find.
namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 8;

/// A plain load; in C++ nvcc would make one volatile load of it and of the twin's.
__device__ int plain(const int* place) {
  int value;
  // FAULT progress_by_volatile RL0302 shared-race
  // FAULT filtered_minimum RL0316 global-race
  // FAULT plain_poll RL0304 global-race
  asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(place));
  return value;
}

/// The thread that reads comes first here, and anywhere on a GPU.
__global__ void counter_read_first(int* out, bool wrong) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  // WITH counter_read_first
  if (wrong && threadIdx.x == 0) *out = total;
  // FAULT counter_read_first RL0301 shared-race
  atomicAdd(&total, 1);
  __syncthreads();
  if (!wrong && threadIdx.x == 0) *out = total;
}

__global__ void counter_read_last(int* out, bool wrong) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  // WITH counter_read_last
  atomicAdd(&total, 1);
  if (!wrong) __syncthreads();
  // FAULT counter_read_last RL0302 shared-race
  if (threadIdx.x == kThreads - 1) *out = total;
}

__global__ void bins_read_early(const int* in, int* out, bool wrong) {
  __shared__ int bins[kThreads];
  bins[threadIdx.x] = 0;
  __syncthreads();
  // WITH bins_read_early
  atomicAdd(&bins[in[threadIdx.x]], 1);
  if (!wrong) __syncthreads();
  // FAULT bins_read_early RL0302 shared-race
  out[threadIdx.x] = bins[kThreads - 1 - threadIdx.x];
}

__global__ void lanes_of_a_maximum(int* out, bool wrong) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncwarp();
  // WITH lanes_of_a_maximum
  atomicMax(&most, static_cast<int>(threadIdx.x));
  if (!wrong) __syncwarp();
  // FAULT lanes_of_a_maximum RL0302 shared-race "__syncwarp()"
  out[threadIdx.x] = most;
}

/// One warp looks how far the others are.
__global__ void progress_by_volatile(int* out, bool wrong) {
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    // WITH progress_by_volatile
    if (threadIdx.x == 0) atomicAdd(&done, 1);
  } else if (threadIdx.x == 64) {
    *out = wrong ? plain(&done) : *static_cast<volatile int*>(&done);
  }
}

/// The same with the loads of the C++ library.
__global__ void progress_by_reference(int* out, bool wrong) {
  __shared__ int done;
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> count(done);
  // WITH progress_by_reference
  if (threadIdx.x == 0) count.fetch_add(1, cuda::memory_order_relaxed);
  if (threadIdx.x == 64) {
    // FAULT progress_by_reference RL0302 shared-race
    *out = wrong ? done : count.load(cuda::memory_order_relaxed);
  }
}

/// A maximum by compare and swap, whose first value is a guess that the swap checks.
__device__ void raise(float* place, float value) {
  int* bits = reinterpret_cast<int*>(place);
  int old = *bits;
  while (__int_as_float(old) < value) {
    const int assumed = old;
    // WITH maximum_by_swap
    old = atomicCAS(bits, assumed, __float_as_int(value));
    if (assumed == old) break;
  }
}
__global__ void maximum_by_swap(int* out, bool wrong) {
  __shared__ float most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  raise(&most, static_cast<float>(threadIdx.x + 1));
  if (!wrong) __syncthreads();
  // FAULT maximum_by_swap RL0302 shared-race
  if (threadIdx.x == kThreads - 1) *out = static_cast<int>(most);
}

/// The distance is only looked at to see whether the atomic is worth its time.
__global__ void filtered_minimum(int* distance, int* out, bool wrong) {
  const int candidate = -1 - static_cast<int>(threadIdx.x);
  // WITH filtered_minimum
  // ALSO filtered_minimum RL0316 global-race
  if (candidate < *distance) atomicMin(distance, candidate);
  if (wrong) out[threadIdx.x] = plain(distance);
}

__global__ void count_of_blocks_read_first(int* count, int* out, bool wrong) {
  if (threadIdx.x != 0) return;
  // WITH count_of_blocks_read_first
  if (wrong && blockIdx.x == 0) *out = *count;
  // FAULT count_of_blocks_read_first RL0304 global-race "updates atomically"
  atomicAdd(count, 1);
}

__global__ void count_of_blocks_read_last(int* count, int* out, bool wrong) {
  if (threadIdx.x != 0) return;
  // WITH count_of_blocks_read_last
  if (blockIdx.x != kBlocks - 1) atomicAdd(count, 1);
  if (blockIdx.x == kBlocks - 1) {
    // FAULT count_of_blocks_read_last RL0304 global-race
    *out = wrong ? *count : atomicAdd(count, 0);
  }
}

/// The last block reads a sum to which all have added; the ticket alone orders nothing.
__global__ void last_block_without_fence(int* sum, unsigned* ticket, int* out, bool wrong) {
  if (threadIdx.x != 0) return;
  // WITH last_block_without_fence
  atomicAdd(sum, static_cast<int>(blockIdx.x));
  if (!wrong) __threadfence();
  if (atomicInc(ticket, gridDim.x - 1) != gridDim.x - 1) return;
  if (!wrong) __threadfence();
  // FAULT last_block_without_fence RL0304 global-race "needs a fence"
  *out = *sum;
}

/// Polls what another block adds to.
__global__ void plain_poll(int* count, int* out, bool wrong) {
  if (blockIdx.x == 0) {
    // WITH plain_poll
    atomicAdd(count, 1);
    return;
  }
  out[blockIdx.x] = wrong ? plain(count) : *static_cast<volatile int*>(count);
}

__global__ void grid_sum_read_early(int* sum, int* out, bool wrong) {
  // WITH grid_sum_read_early
  // ALSO grid_sum_read_early RL0304 global-race
  if (threadIdx.x == 0) atomicAdd(sum, 1);
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (!wrong) grid.sync();
  // FAULT grid_sum_read_early RL0304 global-race
  if (threadIdx.x == 0) out[blockIdx.x] = *sum;
  if (wrong) grid.sync();
}

/// Vertices are relaxed from the distances that other blocks lower meanwhile.
__global__ void relaxed_from_neighbour(int* distance, int count, bool wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 >= count) return;
  // FAULT relaxed_from_neighbour RL0304 global-race
  const int own = wrong ? distance[i] : atomicAdd(&distance[i], 0);
  // WITH relaxed_from_neighbour
  // ALSO relaxed_from_neighbour RL0316 global-race
  atomicMin(&distance[i + 1], own + 1);
}

void cooperative(const void* kernel, int* sum, int* out, bool wrong) {
  void* arguments[] = {&sum, &out, &wrong};
  cudaLaunchCooperativeKernel(kernel, kBlocks, 64, arguments);
}

template <auto kernel>
void with_output(bool wrong) {
  kernel<<<1, kThreads>>>(zeros<int>(kThreads), wrong);
}
template <auto kernel>
void with_counter(bool wrong) {
  kernel<<<kBlocks, 32>>>(zeros<int>(1), zeros<int>(kBlocks), wrong);
}

const std::vector<Fault> faults{
    {"counter_read_first", with_output<counter_read_first>},
    {"counter_read_last", with_output<counter_read_last>},
    {"bins_read_early",
     [](bool wrong) {
       bins_read_early<<<1, kThreads>>>(zeros<int>(kThreads), zeros<int>(kThreads), wrong);
     }},
    {"lanes_of_a_maximum",
     [](bool wrong) { lanes_of_a_maximum<<<1, 32>>>(zeros<int>(32), wrong); }},
    {"progress_by_volatile", with_output<progress_by_volatile>},
    {"progress_by_reference", with_output<progress_by_reference>},
    {"maximum_by_swap", with_output<maximum_by_swap>},
    {"filtered_minimum",
     [](bool wrong) { filtered_minimum<<<1, 64>>>(zeros<int>(1), zeros<int>(64), wrong); }},
    {"count_of_blocks_read_first", with_counter<count_of_blocks_read_first>},
    {"count_of_blocks_read_last", with_counter<count_of_blocks_read_last>},
    {"last_block_without_fence",
     [](bool wrong) {
       last_block_without_fence<<<kBlocks, 32>>>(zeros<int>(1), zeros<unsigned>(1), zeros<int>(1),
                                                 wrong);
     }},
    {"plain_poll", with_counter<plain_poll>},
    {"grid_sum_read_early",
     [](bool wrong) {
       cooperative(reinterpret_cast<const void*>(grid_sum_read_early), zeros<int>(1),
                   zeros<int>(kBlocks), wrong);
     }},
    {"relaxed_from_neighbour",
     [](bool wrong) { relaxed_from_neighbour<<<kBlocks, 32>>>(zeros<int>(256), 256, wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
