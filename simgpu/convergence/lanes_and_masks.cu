#include "pattern.h"

/// Which lanes an exchange may name, and ask; and what orders lanes of one warp.
namespace {

constexpr unsigned kAll = ~0u;

/// A block of 20 threads: the last 12 lanes of its warp are nobody.
__global__ void source_in_a_part_warp(int* out, int source) {
  const int i = static_cast<int>(threadIdx.x);
  // TOLD source_in_a_part_warp RL0305 divergent-barrier "does not take part"
  out[i] = __shfl_sync(kAll, 3 * i, source);
}

__global__ void neighbours_in_a_part_warp(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  // TOLD neighbours_in_a_part_warp RL0305 divergent-barrier "no thread of the block"
  const int other = __shfl_down_sync(kAll, i, 8);
  out[i] = wrong || i + 8 < static_cast<int>(blockDim.x) ? other : -1;
}

__global__ void sum_of_a_part_warp(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  int sum = i;
  for (int step = wrong ? 16 : 8; step > 0; step /= 2) {
    // TOLD sum_of_a_part_warp RL0305 divergent-barrier "no thread of the block"
    sum += __shfl_down_sync(kAll, sum, step);
  }
  if (i == 0) *out = sum;
}

__global__ void mask_names_its_lanes(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned mask = wrong || i < 16 ? 0xffffu : 0xffff0000u;
  // TOLD mask_names_its_lanes RL0305 divergent-barrier "does not name"
  out[i] = __shfl_sync(mask, 2 * i, i & 16);
}

__global__ void ballot_names_its_lanes(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned below = wrong ? __ballot_sync(kAll, i < 20) : kAll;
  // TOLD ballot_names_its_lanes RL0305 divergent-barrier "does not name"
  out[i] = __popc(__ballot_sync(below, i < 10));
}

__global__ void syncwarp_names_its_lanes(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned half = i < 16 ? 0xffffu : 0xffff0000u;
  // TOLD syncwarp_names_its_lanes RL0305 divergent-barrier "does not name"
  __syncwarp(wrong ? ~half : half);
  out[i] = i;
}

/// Lanes overwrite what other lanes of their warp have read: __syncwarp orders that.
__global__ void rows_by_turns(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[32];
  row[i] = i;
  __syncwarp();
  const int value = row[31 - i];
  if (!wrong) __syncwarp();
  // TOLD rows_by_turns RL0301 shared-race
  row[i] = value + 1;
  __syncwarp();
  out[i] = row[31 - i];
}

/// Each half of a warp is ordered by itself.
__global__ void rows_of_halves(int* out, int distance) {
  const int i = static_cast<int>(threadIdx.x);
  __shared__ int row[32];
  row[i] = i;
  __syncwarp(i < 16 ? 0xffffu : 0xffff0000u);
  // TOLD rows_of_halves RL0302 shared-race
  out[i] = row[i ^ distance];
}

const std::vector<Pattern> patterns{
    {"source_in_a_part_warp", 20,
     [](int* out, bool wrong) { source_in_a_part_warp<<<1, 20>>>(out, wrong ? 25 : 19); },
     [](int) { return 57; }},
    {"neighbours_in_a_part_warp", 20,
     [](int* out, bool wrong) { neighbours_in_a_part_warp<<<1, 20>>>(out, wrong); },
     [](int i) { return i < 12 ? i + 8 : -1; }},
    {"sum_of_a_part_warp", 1,
     [](int* out, bool wrong) { sum_of_a_part_warp<<<1, 20>>>(out, wrong); },
     [](int) { return 120; }},
    {"mask_names_its_lanes", 32,
     [](int* out, bool wrong) { mask_names_its_lanes<<<1, 32>>>(out, wrong); },
     [](int i) { return 2 * (i & 16); }},
    {"ballot_names_its_lanes", 32,
     [](int* out, bool wrong) { ballot_names_its_lanes<<<1, 32>>>(out, wrong); },
     [](int) { return 10; }},
    {"syncwarp_names_its_lanes", 32,
     [](int* out, bool wrong) { syncwarp_names_its_lanes<<<1, 32>>>(out, wrong); },
     [](int i) { return i; }},
    {"rows_by_turns", 32, [](int* out, bool wrong) { rows_by_turns<<<1, 32>>>(out, wrong); },
     [](int i) { return i + 1; }},
    {"rows_of_halves", 32,
     [](int* out, bool wrong) { rows_of_halves<<<1, 32>>>(out, wrong ? 24 : 8); },
     [](int i) { return i ^ 8; }},
};

}  // namespace

int main(int count, char** arguments) { return run_patterns(patterns, count, arguments); }
