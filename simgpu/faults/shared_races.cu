#include <cuda_pipeline.h>

#include "fault.h"

/// Threads of one block that touch shared memory without order.
namespace {

constexpr int kThreads = 128;

__global__ void read_too_early(const int* in, int* out, bool wrong) {
  __shared__ int tile[kThreads];
  // WITH read_too_early
  // ALSO read_too_early RL0301 shared-race
  tile[threadIdx.x] = in[threadIdx.x];
  if (!wrong) __syncthreads();
  // FAULT read_too_early RL0302 shared-race
  // ALSO read_too_early RL0206 uninitialized-read
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void overwritten_too_early(const int* in, int* out, int tiles, bool wrong) {
  __shared__ int tile[kThreads];
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    // FAULT overwritten_too_early RL0301 shared-race
    tile[threadIdx.x] = in[t * kThreads + threadIdx.x];
    __syncthreads();
    // WITH overwritten_too_early
    // ALSO overwritten_too_early RL0302 shared-race
    for (int k = 0; k < kThreads; ++k) sum += tile[k];
    if (!wrong) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void two_writers(int* out, int different) {
  __shared__ int winner;
  if (threadIdx.x % 32 == 0) {
    // FAULT two_writers RL0303 shared-race
    winner = static_cast<int>(threadIdx.x) * different;
  }
  __syncthreads();
  out[threadIdx.x] = winner;
}

__global__ void lanes_of_one_store(int* out, int step) {
  __shared__ int slots[32];
  // FAULT lanes_of_one_store RL0303 shared-race
  slots[threadIdx.x * step] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = slots[threadIdx.x * step];
}

__global__ void tree_without_barrier(const int* in, int* out, bool wrong) {
  __shared__ int sums[kThreads];
  const unsigned i = threadIdx.x;
  sums[i] = in[i];
  __syncthreads();
  for (unsigned step = kThreads / 2; step > 0; step /= 2) {
    // FAULT tree_without_barrier RL0302 shared-race
    // ALSO tree_without_barrier RL0301 shared-race
    if (i < step) sums[i] += sums[i + step];
    if (!wrong) __syncthreads();
  }
  if (i == 0) *out = sums[0];
}

__global__ void without_syncwarp(const int* in, int* out, bool wrong) {
  __shared__ int sums[32];
  const unsigned i = threadIdx.x;
  sums[i] = in[i];
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    // FAULT without_syncwarp RL0302 shared-race
    const int other = i < step ? sums[i + step] : 0;
    __syncwarp();
    if (i < step) sums[i] += other;
    if (!wrong) __syncwarp();
  }
  if (i == 0) *out = sums[0];
}

__global__ void by_shuffle(const int* in, int* out, bool wrong) {
  __shared__ int last;
  int sum = in[threadIdx.x];
  if (wrong) {
    if (threadIdx.x == 31) last = sum;
    // FAULT by_shuffle RL0302 shared-race
    sum += last;
  } else {
    sum += __shfl_sync(~0u, sum, 31);
  }
  out[threadIdx.x] = sum;
}

__global__ void syncwarp_of_others(int* out, unsigned mask) {
  __shared__ int slots[32];
  const unsigned i = threadIdx.x;
  slots[i] = static_cast<int>(i);
  if ((mask >> i & 1) != 0) __syncwarp(mask);
  // FAULT syncwarp_of_others RL0302 shared-race
  out[i] = slots[i ^ 1];
}

__global__ void copy_without_wait(const int* in, int* out, bool wrong) {
  __shared__ int tile[kThreads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  if (!wrong) __pipeline_wait_prior(0);
  __syncthreads();
  // FAULT copy_without_wait RL0313 shared-race
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

__global__ void copy_without_barrier(const int* in, int* out, bool wrong) {
  __shared__ int tile[kThreads];
  // ALSO copy_without_barrier RL0301 shared-race
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!wrong) __syncthreads();
  // FAULT copy_without_barrier RL0313 shared-race
  // ALSO copy_without_barrier RL0206 uninitialized-read
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

// Lanes without an element of their own copy the last one once more, or, wrongly, another in its
// place.
__global__ void copies_of_one_element(const int* in, int* out, bool wrong) {
  __shared__ int tile[100];
  const unsigned i = min(threadIdx.x, 99U);
  // FAULT copies_of_one_element RL0313 shared-race
  __pipeline_memcpy_async(&tile[i], &in[wrong ? threadIdx.x : i], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[99 - i];
}

__global__ void double_buffer(const int* in, int* out, int tiles, int buffers) {
  __shared__ int stages[2][kThreads];
  int sum = 0;
  stages[0][threadIdx.x] = in[threadIdx.x];
  for (int t = 0; t < tiles; ++t) {
    __syncthreads();
    const int next = (t + 1) % buffers;
    if (t + 1 < tiles) {
      // WITH double_buffer
      // ALSO double_buffer RL0301 shared-race
      stages[next][threadIdx.x] = in[(t + 1) * kThreads + threadIdx.x];
    }
    // FAULT double_buffer RL0302 shared-race
    sum += stages[t % buffers][kThreads - 1 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__global__ void atomics_and_reads(int* out, bool wrong) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  // WITH atomics_and_reads
  // ALSO atomics_and_reads RL0302 shared-race
  // ALSO atomics_and_reads RL0301 shared-race
  atomicAdd(&total, 1);
  if (!wrong) __syncthreads();
  if (threadIdx.x == 0) {
    // ALSO atomics_and_reads RL0302 shared-race
    *out = total;
    // FAULT atomics_and_reads RL0301 shared-race
    total = 0;
  }
}

__global__ void zeroed_beside_atomics(int* out, bool wrong) {
  __shared__ int total;
  // WITH zeroed_beside_atomics
  if (threadIdx.x == 0) total = 0;
  if (!wrong) __syncthreads();
  // FAULT zeroed_beside_atomics RL0302 shared-race
  atomicAdd(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) *out = total;
}

__global__ void histogram(const int* in, int* out, bool wrong) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  const int bin = in[threadIdx.x] & 7;
  if (wrong) {
    // FAULT histogram RL0301 shared-race
    // ALSO histogram RL0302 shared-race
    // ALSO histogram RL0303 shared-race
    ++bins[bin];
  } else {
    atomicAdd(&bins[bin], 1);
  }
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void scan_in_place(const int* in, int* out, bool wrong) {
  __shared__ int sums[kThreads];
  const unsigned i = threadIdx.x;
  sums[i] = in[i];
  __syncthreads();
  for (unsigned step = 1; step < kThreads; step *= 2) {
    // WITH scan_in_place
    // ALSO scan_in_place RL0302 shared-race
    const int before = i >= step ? sums[i - step] : 0;
    if (!wrong) __syncthreads();
    // FAULT scan_in_place RL0301 shared-race
    sums[i] += before;
    __syncthreads();
  }
  out[i] = sums[i];
}

__global__ void bytes_of_a_word(int* out, int width) {
  __shared__ __align__(4) unsigned char flags[kThreads + 4];
  const unsigned i = threadIdx.x;
  // Neighbours' bytes are no race, two bytes from each thread are.
  for (int k = 0; k < width; ++k) {
    // FAULT bytes_of_a_word RL0303 shared-race
    flags[i + k] = static_cast<unsigned char>(i);
  }
  __syncthreads();
  out[i] = flags[i];
}

/// Warps 0 and 1 make, warps 2 and 3 take; the barrier has to count all four.
__global__ void named_barrier(int* out, bool wrong) {
  __shared__ int box[64];
  const unsigned i = threadIdx.x;
  if (i < 64) {
    // WITH named_barrier
    box[i] = static_cast<int>(i);
    if (wrong) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
  } else {
    if (wrong) {
      asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
    }
    // FAULT named_barrier RL0302 shared-race
    out[i - 64] = box[127 - i];
  }
}

/// Columns of a transposed tile: the barrier stands before the loop instead of in it.
__global__ void barrier_outside_the_loop(const float* in, float* out, int rows, bool wrong) {
  __shared__ float tile[2][64];
  if (wrong) __syncthreads();
  float sum = 0;
  for (int r = 0; r < rows; ++r) {
    // ALSO barrier_outside_the_loop RL0301 shared-race
    tile[r & 1][threadIdx.x] = in[r * 64 + threadIdx.x];
    if (!wrong) __syncthreads();
    // FAULT barrier_outside_the_loop RL0302 shared-race
    // ALSO barrier_outside_the_loop RL0206 uninitialized-read
    sum += tile[r & 1][63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

__device__ int exchange(int* box, int value, bool wrong) {
  // WITH race_in_a_function
  // ALSO race_in_a_function RL0301 shared-race
  box[threadIdx.x] = value;
  if (!wrong) __syncthreads();
  // FAULT race_in_a_function RL0302 shared-race
  // ALSO race_in_a_function RL0206 uninitialized-read
  return box[threadIdx.x ^ 64];
}
__global__ void race_in_a_function(int* out, bool wrong) {
  __shared__ int box[kThreads];
  // VIA race_in_a_function exchange
  out[threadIdx.x] = exchange(box, 1, wrong);
}

int* numbers(std::size_t count) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
  int* memory = zeros<int>(count);
  cudaMemcpy(memory, values.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  return memory;
}

template <auto kernel>
void with_input(bool wrong) {
  kernel<<<1, kThreads>>>(numbers(kThreads), zeros<int>(kThreads), wrong);
}
template <auto kernel>
void with_output(bool wrong) {
  kernel<<<1, kThreads>>>(zeros<int>(kThreads), wrong);
}

const std::vector<Fault> faults{
    {"read_too_early", with_input<read_too_early>},
    {"overwritten_too_early",
     [](bool wrong) {
       overwritten_too_early<<<1, kThreads>>>(numbers(4 * kThreads), zeros<int>(kThreads), 4,
                                              wrong);
     }},
    {"two_writers", with_output<two_writers>},
    {"lanes_of_one_store",
     [](bool wrong) { lanes_of_one_store<<<1, 32>>>(zeros<int>(32), wrong ? 0 : 1); }},
    {"tree_without_barrier", with_input<tree_without_barrier>},
    {"without_syncwarp",
     [](bool wrong) { without_syncwarp<<<1, 32>>>(numbers(32), zeros<int>(1), wrong); }},
    {"by_shuffle", [](bool wrong) { by_shuffle<<<1, 32>>>(numbers(32), zeros<int>(32), wrong); }},
    {"syncwarp_of_others",
     [](bool wrong) { syncwarp_of_others<<<1, 32>>>(zeros<int>(32), wrong ? 0xffff'0000u : ~0u); }},
    {"copy_without_wait", with_input<copy_without_wait>},
    {"copy_without_barrier", with_input<copy_without_barrier>},
    {"copies_of_one_element", with_input<copies_of_one_element>},
    {"double_buffer",
     [](bool wrong) {
       double_buffer<<<1, kThreads>>>(numbers(4 * kThreads), zeros<int>(kThreads), 4, 2 - wrong);
     }},
    {"atomics_and_reads", with_output<atomics_and_reads>},
    {"zeroed_beside_atomics", with_output<zeroed_beside_atomics>},
    {"histogram", with_input<histogram>},
    {"scan_in_place", with_input<scan_in_place>},
    {"bytes_of_a_word",
     [](bool wrong) { bytes_of_a_word<<<1, kThreads>>>(zeros<int>(kThreads), 1 + wrong); }},
    {"named_barrier", with_output<named_barrier>},
    {"barrier_outside_the_loop",
     [](bool wrong) {
       barrier_outside_the_loop<<<1, 64>>>(zeros<float>(256), zeros<float>(64), 4, wrong);
     }},
    {"race_in_a_function", with_output<race_in_a_function>},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
