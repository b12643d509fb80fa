#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "pattern.h"

/// Warps of a block with roles of their own, which tell each other by barriers what is done.
namespace {

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

template <int kBarrier>
__device__ void arrive(int threads) {
  asm volatile("bar.arrive %0, %1;" ::"n"(kBarrier), "r"(threads) : "memory");
}
template <int kBarrier>
__device__ void wait(int threads) {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "r"(threads) : "memory");
}

/// A warp fills one half of a buffer while the other warps use the other half.
__global__ void producer_and_consumers(int* out, bool wrong) {
  __shared__ int buffer[2][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kRounds = 6;
  if (threadIdx.x < 32) {
    for (int r = 0; r < kRounds; r += 2) {
      if (!wrong) wait<3>(96);
      buffer[0][lane] = r * lane;
      arrive<1>(96);
      wait<4>(96);
      buffer[1][lane] = (r + 1) * lane;
      arrive<2>(96);
    }
  } else {
    if (!wrong) arrive<3>(96);
    arrive<4>(96);
    int sum = 0;
    for (int r = 0; r < kRounds; r += 2) {
      wait<1>(96);
      // TOLD producer_and_consumers RL0302 shared-race
      sum += buffer[0][31 - lane];
      if (r + 2 < kRounds && !wrong) arrive<3>(96);
      wait<2>(96);
      sum += buffer[1][31 - lane];
      if (r + 2 < kRounds) arrive<4>(96);
    }
    out[threadIdx.x - 32] = sum;
  }
}

__global__ void barrier_cta_spelling(int* out, bool wrong) {
  __shared__ int row[32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    row[lane] = lane;
    if (!wrong) asm volatile("barrier.cta.arrive.aligned 5, 64;" ::: "memory");
    if (wrong) asm volatile("barrier.cta.arrive.aligned 6, 64;" ::: "memory");
  } else {
    // TOLD barrier_cta_spelling RL0306 deadlock
    asm volatile("barrier.cta.sync.aligned 5, 64;" ::: "memory");
    out[lane] = row[31 - lane];
  }
}

__global__ void barriers_of_subsets(int* out, bool wrong) {
  __shared__ int row[128];
  const int i = static_cast<int>(threadIdx.x);
  const int other = i ^ (wrong ? 64 : 32);
  row[i] = i;
  if (i < 64) {
    wait<1>(64);
  } else {
    wait<2>(64);
  }
  // TOLD barriers_of_subsets RL0302 shared-race
  out[i] = row[other];
}

__global__ void arrive_and_wait(int* out, bool wrong) {
  __shared__ Barrier barrier;
  __shared__ int row[128];
  const int i = static_cast<int>(threadIdx.x);
  if (i == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    // TOLD arrive_and_wait RL0301 shared-race
    row[i] = r * i;
    barrier.arrive_and_wait();
    // TOLD arrive_and_wait RL0302 shared-race
    out[i] += row[127 - i];
    if (!wrong) barrier.arrive_and_wait();
  }
}

/// Two buffers, each with a barrier for "full" and one for "empty".
__global__ void full_and_empty(int* out, bool wrong) {
  __shared__ Barrier full[2], empty[2];
  __shared__ int buffer[2][32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kRounds = 6;
  if (threadIdx.x < 2) {
    init(&full[threadIdx.x], blockDim.x);
    init(&empty[threadIdx.x], blockDim.x);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int r = 0; r < kRounds; ++r) {
      empty[r % 2].arrive_and_wait();
      // TOLD full_and_empty RL0301 shared-race
      buffer[r % 2][lane] = r * lane;
      (void)full[r % 2].arrive();
    }
  } else {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    int sum = 0;
    for (int r = 0; r < kRounds; ++r) {
      full[r % 2].arrive_and_wait();
      if (wrong) (void)empty[r % 2].arrive();
      sum += buffer[r % 2][31 - lane];
      if (!wrong) (void)empty[r % 2].arrive();
    }
    out[threadIdx.x - 32] = sum;
  }
}

__global__ void tokens(int* out) {
  __shared__ Barrier barrier;
  __shared__ int row[128];
  const int i = static_cast<int>(threadIdx.x);
  if (i == 0) init(&barrier, blockDim.x);
  __syncthreads();
  row[i] = i;
  Barrier::arrival_token token = barrier.arrive();
  int work = 0;
  for (int k = 0; k < i; ++k) work += k % 3;
  barrier.wait(std::move(token));
  out[i] = row[127 - i] + 0 * work;
}

/// One warp produces for a long time, while the others poll.
__global__ void long_wait(int* out, int rounds) {
  __shared__ Barrier full, empty;
  __shared__ int row[32];
  const int i = static_cast<int>(threadIdx.x);
  if (i == 0) {
    init(&full, blockDim.x);
    init(&empty, blockDim.x);
  }
  __syncthreads();
  int sum = 0;
  for (int r = 0; r < 3; ++r) {
    if (i < 32) {
      unsigned value = threadIdx.x;
      for (int k = 0; k < rounds; ++k) value = value * 5 + static_cast<unsigned>(k);
      row[i] = static_cast<int>(value % 2) + r;
    }
    full.arrive_and_wait();
    sum += row[i % 32] >= 0 ? 1 : 2;
    empty.arrive_and_wait();
  }
  if (i >= 32) out[i - 32] = sum;
}

__global__ void copies_with_a_barrier(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) int row[128];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  int sum = 0;
  for (int r = 0; r < 3; ++r) {
    cuda::memcpy_async(block, row, in + 128 * r, cuda::aligned_size_t<16>(sizeof(row)), barrier);
    barrier.arrive_and_wait();
    sum += row[127 - block.thread_rank()];
    block.sync();
  }
  out[block.thread_rank()] = sum;
}

__global__ void stages_of_a_pipeline(const int* in, int* out) {
  constexpr int kStages = 2, kRounds = 6;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ alignas(16) int rows[kStages][64];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto fetch = [&](int r) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, rows[r % kStages], in + 64 * r, cuda::aligned_size_t<16>(256),
                       pipeline);
    pipeline.producer_commit();
  };
  for (int r = 0; r < kStages; ++r) fetch(r);
  int sum = 0;
  for (int r = 0; r < kRounds; ++r) {
    pipeline.consumer_wait();
    sum += rows[r % kStages][63 - block.thread_rank()];
    pipeline.consumer_release();
    if (r + kStages < kRounds) fetch(r + kStages);
  }
  out[block.thread_rank()] = sum;
}

/// Half the warps have returned before the others share a barrier of their own.
__global__ void subset_after_returns(int* out) {
  __shared__ int row[64];
  const int i = static_cast<int>(threadIdx.x);
  if (i >= 64) return;
  row[i] = i;
  wait<7>(64);
  out[i] = row[63 - i];
}

int* numbers(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i;
  int* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), values.size() * sizeof(int));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  return memory;
}

const std::vector<Pattern> patterns{
    {"producer_and_consumers", 64,
     [](int* out, bool wrong) { producer_and_consumers<<<1, 96>>>(out, wrong); },
     [](int i) { return 15 * (31 - i % 32); }},
    {"barrier_cta_spelling", 32,
     [](int* out, bool wrong) { barrier_cta_spelling<<<1, 64>>>(out, wrong); },
     [](int i) { return 31 - i; }},
    {"barriers_of_subsets", 128,
     [](int* out, bool wrong) { barriers_of_subsets<<<1, 128>>>(out, wrong); },
     [](int i) { return i ^ 32; }},
    {"arrive_and_wait", 128, [](int* out, bool wrong) { arrive_and_wait<<<1, 128>>>(out, wrong); },
     [](int i) { return 6 * (127 - i); }},
    {"full_and_empty", 64, [](int* out, bool wrong) { full_and_empty<<<1, 96>>>(out, wrong); },
     [](int i) { return 15 * (31 - i % 32); }},
    {"tokens", 128, [](int* out, bool) { tokens<<<1, 128>>>(out); }, [](int i) { return 127 - i; },
     false},
    {"long_wait", 96, [](int* out, bool) { long_wait<<<1, 128>>>(out, 200000); },
     [](int) { return 3; }, false},
    {"copies_with_a_barrier", 128,
     [](int* out, bool) { copies_with_a_barrier<<<1, 128>>>(numbers(384), out); },
     [](int i) { return 384 + 3 * (127 - i); }, false},
    {"stages_of_a_pipeline", 64,
     [](int* out, bool) { stages_of_a_pipeline<<<1, 64>>>(numbers(384), out); },
     [](int i) { return 64 * 15 + 6 * (63 - i); }, false},
    {"subset_after_returns", 64, [](int* out, bool) { subset_after_returns<<<1, 128>>>(out); },
     [](int i) { return 63 - i; }, false},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
