#include <cooperative_groups.h>

#include "pattern.h"

/// `if (i >= n) return;` and its like, before whatever waits for threads: those that have returned
/// are not waited for.
namespace {

namespace cg = cooperative_groups;
constexpr unsigned kAll = ~0u;

__global__ void part_of_a_warp(int* out, int n, int distance) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  // TOLD part_of_a_warp RL0305 divergent-barrier "has returned from the kernel"
  out[i] = __shfl_xor_sync(kAll, i, distance);
}

__global__ void whole_warps(int* out, int n, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[128];
  if (i >= n) return;
  row[i] = i;
  __syncthreads();
  // TOLD whole_warps RL0206 uninitialized-read
  out[i] = row[wrong ? i + 32 : n - 1 - i];
}

__global__ void after_work(int* out, int* returned, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) {
    out[i] = -i;
    for (int k = 0; k < i % 3; ++k) atomicAdd(returned, 1);
    return;
  }
  out[i] = __popc(__ballot_sync(kAll, 1));
}

template <bool kWrong>
__global__ void in_a_loop(int* out, const int* rounds) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int r = 0; r < 8; ++r) {
    if (r == rounds[i]) {
      out[i] = sum;
      if (!kWrong) return;
      break;
    }
    // TOLD in_a_loop RL0305 divergent-barrier
    sum += __reduce_add_sync(kAll, 1);
  }
  atomicAdd(out + 32, 1);
}

__device__ int sum_of_pairs(int value) {
  for (int distance = 1; distance < 8; distance *= 2) {
    value += __shfl_xor_sync(kAll, value, distance);
  }
  return value;
}
__device__ int twice(int value) { return 2 * sum_of_pairs(value); }
__global__ void before_nested_functions(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = twice(i);
}

__device__ __noinline__ int not_inlined(int value) {
  return __shfl_sync(kAll, value, 5) + __any_sync(kAll, value == 3);
}
__global__ void before_a_function_out_of_line(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = not_inlined(i);
}

__device__ __noinline__ int deeper(int depth, int value) {
  if (depth == 0) return __shfl_xor_sync(kAll, value, 1);
  return deeper(depth - 1, value + 1) + depth;
}
__global__ void before_recursion(int* out, int n, int depth) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) {
    out[i] = 7;
    return;
  }
  out[i] = deeper(depth, i);
}

__global__ void before_match(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = __popc(__match_any_sync(kAll, i / 16));
}

__global__ void before_votes(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = 4 * __all_sync(kAll, i < n) + 2 * __any_sync(kAll, i == n) + __any_sync(kAll, i == 0);
}

__global__ void before_syncwarp(int* out, int n, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[32];
  if (i >= n) return;
  row[i] = i;
  if (!wrong) __syncwarp();
  // TOLD before_syncwarp RL0302 shared-race
  out[i] = row[n - 1 - i];
}

__global__ void before_syncthreads(const int* in, int* out, int n, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[64];
  if (i >= n) return;
  row[i] = in[i];
  __syncthreads();
  // TOLD before_syncthreads RL0206 uninitialized-read
  out[i] = row[wrong ? 63 - i : n - 1 - i];
}

__global__ void two_returns(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  if (i % 8 == 0) {
    if (i > 20) {
      out[i] = 1;
      return;
    }
    out[i] = 2;
    return;
  }
  out[i] = __popc(__ballot_sync(kAll, true));
  __syncthreads();
}

template <bool kWrong>
__global__ void break_and_end(int* out, const int* rounds) {
  const int i = static_cast<int>(threadIdx.x);
  for (int r = 0; r < 4; ++r) {
    if (r == rounds[i]) break;
    out[i] = r + 1;
    // TOLD break_and_end RL0305 divergent-barrier
    __syncthreads();
  }
  if (kWrong) out[i] = 9;
}

__global__ void coalesced(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  group.sync();
  out[i] = group.shfl(i, 0) + static_cast<int>(group.size());
}

__global__ void tiles(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  if (i >= n) return;
  tile.sync();
  out[i] = tile.shfl_xor(i, 4);
}

__global__ void active_lanes(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i % 3 == 0 && i < n) {
    const unsigned active = __activemask();
    const int leader = __ffs(static_cast<int>(active)) - 1;
    int base = 0;
    if (i == leader) base = atomicAdd(out + 32, __popc(active));
    out[i] = __shfl_sync(active, base, leader) + __popc(active & ((1u << i) - 1));
  }
}

/// Half the warp has returned: the first step adds what lanes 8 to 15 should not have, and nobody
/// looks at it.
__global__ void halving(int* out, int n, int first) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  int sum = i;
  // TOLD halving RL0305 divergent-barrier "has returned from the kernel"
  for (int step = first; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (i == 0) *out = sum;
}

__global__ void guarded_use(int* out, int n, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  int sum = 1;
  for (int step = 16; step > 0; step /= 2) {
    // TOLD guarded_use RL0305 divergent-barrier "has returned from the kernel"
    const int other = __shfl_down_sync(kAll, sum, step);
    if (wrong || i + step < n) sum += other;
  }
  if (i == 0) *out = sum;
}

__global__ void warp_sums(const int* in, int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int sums[4];
  if (i >= n) return;
  const int sum = __reduce_add_sync(kAll, in[i]);
  if (i % 32 == 0) sums[i / 32] = sum;
  __syncthreads();
  if (i == 0) {
    for (int w = 0; w < (n + 31) / 32; ++w) *out += sums[w];
  }
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
    {"part_of_a_warp", 64,
     [](int* out, bool wrong) { part_of_a_warp<<<1, 64>>>(out, 40, wrong ? 16 : 1); },
     [](int i) { return i < 40 ? (i ^ 1) : 0; }},
    {"whole_warps", 128, [](int* out, bool wrong) { whole_warps<<<1, 128>>>(out, 64, wrong); },
     [](int i) { return i < 64 ? 63 - i : 0; }},
    {"after_work", 65, [](int* out, bool) { after_work<<<1, 64>>>(out, out + 64, 40); },
     [](int i) { return i < 32   ? 32
                        : i < 40 ? 8
                        : i < 64 ? -i
                                 : 24; }, false},
    {"in_a_loop", 33,
     [](int* out, bool wrong) {
       wrong ? in_a_loop<true><<<1, 32>>>(out, numbers(32))
             : in_a_loop<false><<<1, 32>>>(out, numbers(32));
     },
     [](int i) { return i == 32 ? 24
                        : i < 8 ? 31 * i - i * (i - 1) / 2
                                : 0; }},
    {"before_nested_functions", 32,
     [](int* out, bool) { before_nested_functions<<<1, 32>>>(out, 16); },
     [](int i) { return i >= 16 ? 0
                        : i < 8 ? 56
                                : 184; }, false},
    {"before_a_function_out_of_line", 32,
     [](int* out, bool) { before_a_function_out_of_line<<<1, 32>>>(out, 9); },
     [](int i) { return i < 9 ? 6 : 0; }, false},
    {"before_recursion", 32, [](int* out, bool) { before_recursion<<<1, 32>>>(out, 10, 3); },
     [](int i) { return i < 10 ? (i ^ 1) + 9 : 7; }, false},
    {"before_match", 32, [](int* out, bool) { before_match<<<1, 32>>>(out, 20); },
     [](int i) { return i < 16   ? 16
                        : i < 20 ? 4
                                 : 0; }, false},
    {"before_votes", 32, [](int* out, bool) { before_votes<<<1, 32>>>(out, 20); },
     [](int i) { return i < 20 ? 5 : 0; }, false},
    {"before_syncwarp", 32,
     [](int* out, bool wrong) { before_syncwarp<<<1, 32>>>(out, 20, wrong); },
     [](int i) { return i < 20 ? 19 - i : 0; }},
    {"before_syncthreads", 64,
     [](int* out, bool wrong) { before_syncthreads<<<1, 64>>>(numbers(64), out, 50, wrong); },
     [](int i) { return i < 50 ? 49 - i : 0; }},
    {"two_returns", 32, [](int* out, bool) { two_returns<<<1, 32>>>(out, 30); },
     [](int i) { return i >= 30      ? 0
                        : i % 8 != 0 ? 26
                        : i > 20     ? 1
                                     : 2; }, false},
    {"break_and_end", 64,
     [](int* out, bool wrong) {
       wrong ? break_and_end<true><<<1, 64>>>(out, numbers(64))
             : break_and_end<false><<<1, 64>>>(out, numbers(64));
     },
     [](int i) { return i < 4 ? i : 4; }},
    {"coalesced", 32, [](int* out, bool) { coalesced<<<1, 32>>>(out, 13); },
     [](int i) { return i < 13 ? 13 : 0; }, false},
    {"tiles", 64, [](int* out, bool) { tiles<<<1, 64>>>(out, 40); },
     [](int i) { return i < 40 ? (i ^ 4) : 0; }, false},
    {"active_lanes", 33, [](int* out, bool) { active_lanes<<<1, 32>>>(out, 20); },
     [](int i) { return i == 32                ? 7
                        : i % 3 == 0 && i < 20 ? i / 3
                                               : 0; }, false},
    {"halving", 1, [](int* out, bool wrong) { halving<<<1, 32>>>(out, 16, wrong ? 16 : 8); },
     [](int) { return 120; }},
    {"guarded_use", 1, [](int* out, bool wrong) { guarded_use<<<1, 32>>>(out, 16, wrong); },
     [](int) { return 16; }},
    {"warp_sums", 1, [](int* out, bool) { warp_sums<<<1, 128>>>(numbers(128), out, 75); },
     [](int) { return 74 * 75 / 2; }, false},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
