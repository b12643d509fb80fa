#include <cooperative_groups.h>

#include "pattern.h"

/// Lanes of one warp that come to what they wait for at different places of the program.
namespace {

constexpr unsigned kAll = ~0u;

template <bool kWrong>
__global__ void syncwarp_in_both_branches(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[32];
  if (i < 16) {
    row[i] = 10 * i;
    // TOLD syncwarp_in_both_branches RL0305 divergent-barrier "took another way"
    __syncwarp();
    out[i] = row[i + 16];
  } else {
    row[i] = 10 * i;
    if (kWrong) {
      // TOLD syncwarp_in_both_branches RL0305 divergent-barrier "took another way"
      out[32] = __popc(__ballot_sync(kAll, 1));
    } else {
      __syncwarp();
    }
    // TOLD syncwarp_in_both_branches RL0302 shared-race
    out[i] = row[i - 16];
  }
}

__global__ void syncwarp_in_a_switch(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[32];
  row[i] = 0;
  switch (i % 3) {
    case 0:
      row[i] = i;
      __syncwarp();
      break;
    case 1:
      row[i] = 2 * i;
      __syncwarp();
      break;
    default:
      __syncwarp();
      out[i] = row[i - 1] + row[i - 2];
  }
}

/// The upper lanes read what the lower ones write, round by round, each in a loop of its own.
__global__ void loops_of_two_roles(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[16];
  int sum = 0;
  if (i < 16) {
    for (int r = 0; r < 5; ++r) {
      row[i] = r * i;
      __syncwarp();
      __syncwarp();
    }
  } else {
    int r = 0;
    do {
      __syncwarp();
      sum += row[i - 16];
      __syncwarp();
    } while (++r < 5);
  }
  out[i] = sum;
}

__global__ void shuffles_of_halves(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 16) {
    out[i] = __shfl_sync(0xffffu, 3 * i, 15 - i);
  } else {
    out[i] = __shfl_down_sync(0xffff0000u, 5 * i, 1, 2);
  }
}

template <bool kWrong>
__global__ void shuffles_of_all(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 100 + i;
  if (i % 2 == 0) {
    value *= 2;
    // TOLD shuffles_of_all RL0305 divergent-barrier "took another way"
    out[i] = __shfl_xor_sync(kAll, value, 1);
  } else if (kWrong) {
    // TOLD shuffles_of_all RL0305 divergent-barrier "took another way"
    out[i] = __shfl_up_sync(kAll, value, 1);
  } else {
    out[i] = __shfl_xor_sync(kAll, value, 1) + 1;
  }
}

__global__ void ballots_of_all(unsigned* out) {
  const unsigned i = threadIdx.x;
  if (i < 7) {
    out[i] = __ballot_sync(kAll, i % 2 == 0);
  } else {
    out[i] = __ballot_sync(kAll, i < 9);
  }
}

__global__ void reductions_of_all(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 12) {
    out[i] = __reduce_max_sync(kAll, i);
  } else {
    out[i] = -__reduce_max_sync(kAll, 2 * i);
  }
}

__global__ void matches_of_all(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 12) {
    out[i] = __popc(__match_any_sync(kAll, i / 8));
  } else {
    out[i] = __popc(__match_any_sync(kAll, i > 13 ? 7 : 1));
  }
}

/// Whole warps may come to a barrier at different places.
template <bool kWrong>
__global__ void syncthreads_in_both_branches(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[64];
  if (i < (kWrong ? 16 : 32)) {
    row[i] = i;
    // TOLD syncthreads_in_both_branches RL0305 divergent-barrier "16 of the 32"
    __syncthreads();
    out[i] = row[63 - i];
  } else {
    row[i] = 2 * i;
    // TOLD syncthreads_in_both_branches RL0305 divergent-barrier "16 of the 32"
    __syncthreads();
    out[i] = row[63 - i] + 1;
  }
}

template <bool kWrong>
__global__ void exchange_behind_a_branch(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int value = i;
  if (i < 20) {
    value = 2 * i;
    // TOLD exchange_behind_a_branch RL0305 divergent-barrier "took another way"
    if (kWrong) value = __shfl_sync(kAll, value, 0);
  }
  if (!kWrong) value = __shfl_sync(kAll, value, 31 - i);
  atomicAdd(&out[i], value);
}

/// Lanes leave a loop one after the other; who is left says so.
template <bool kWrong>
__global__ void mask_of_those_left(int* out, int n) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = lane; i < n; i += 32) {
    const unsigned left = kWrong ? kAll : __activemask();
    // TOLD mask_of_those_left RL0305 divergent-barrier "took another way"
    sum += __reduce_add_sync(left, 1);
  }
  atomicAdd(&out[lane], sum);
}

/// The lanes that left a loop early wait behind it, where the others come too.
__global__ void waiting_behind_a_loop(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int value = 0;
  for (int r = 0; r < i % 5; ++r) value += i;
  __syncwarp();
  out[i] = __shfl_xor_sync(kAll, value, 16);
}

const std::vector<Pattern> patterns{
    {"syncwarp_in_both_branches", 33,
     [](int* out, bool wrong) {
       wrong ? syncwarp_in_both_branches<true><<<1, 32>>>(out)
             : syncwarp_in_both_branches<false><<<1, 32>>>(out);
     },
     [](int i) { return i == 32 ? 0 : 10 * (i ^ 16); }},
    {"syncwarp_in_a_switch", 32, [](int* out, bool) { syncwarp_in_a_switch<<<1, 32>>>(out); },
     [](int i) { return i % 3 == 2 ? 2 * (i - 1) + i - 2 : 0; }, false},
    {"loops_of_two_roles", 32, [](int* out, bool) { loops_of_two_roles<<<1, 32>>>(out); },
     [](int i) { return i < 16 ? 0 : 10 * (i - 16); }, false},
    {"shuffles_of_halves", 32, [](int* out, bool) { shuffles_of_halves<<<1, 32>>>(out); },
     [](int i) { return i < 16 ? 3 * (15 - i) : 5 * (i | 1); }, false},
    {"shuffles_of_all", 32,
     [](int* out, bool wrong) {
       wrong ? shuffles_of_all<true><<<1, 32>>>(out) : shuffles_of_all<false><<<1, 32>>>(out);
     },
     [](int i) { return i % 2 == 0 ? 101 + i : 2 * (99 + i) + 1; }},
    {"ballots_of_all", 32,
     [](int* out, bool) { ballots_of_all<<<1, 32>>>(reinterpret_cast<unsigned*>(out)); },
     [](int) { return 0x1d5; }, false},
    {"reductions_of_all", 32, [](int* out, bool) { reductions_of_all<<<1, 32>>>(out); },
     [](int i) { return i < 12 ? 62 : -62; }, false},
    {"matches_of_all", 32, [](int* out, bool) { matches_of_all<<<1, 32>>>(out); },
     [](int i) { return i < 8    ? 8
                        : i < 14 ? 6
                                 : 18; }, false},
    {"syncthreads_in_both_branches", 64,
     [](int* out, bool wrong) {
       wrong ? syncthreads_in_both_branches<true><<<1, 64>>>(out)
             : syncthreads_in_both_branches<false><<<1, 64>>>(out);
     },
     [](int i) { return i < 32 ? 2 * (63 - i) : 64 - i; }},
    {"exchange_behind_a_branch", 32,
     [](int* out, bool wrong) {
       wrong ? exchange_behind_a_branch<true><<<1, 32>>>(out)
             : exchange_behind_a_branch<false><<<1, 32>>>(out);
     },
     [](int i) { return 31 - i < 20 ? 2 * (31 - i) : 31 - i; }},
    {"mask_of_those_left", 32,
     [](int* out, bool wrong) {
       wrong ? mask_of_those_left<true><<<1, 32>>>(out, 40)
             : mask_of_those_left<false><<<1, 32>>>(out, 40);
     },
     [](int i) { return i < 8 ? 40 : 32; }},
    {"waiting_behind_a_loop", 32, [](int* out, bool) { waiting_behind_a_loop<<<1, 32>>>(out); },
     [](int i) { return (i ^ 16) * ((i ^ 16) % 5); }, false},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
