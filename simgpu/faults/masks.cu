#include "fault.h"

/// Warp-wide operations whose mask does not name the thread that executes them: undefined, whatever
/// the mask names.
namespace {

constexpr unsigned kAll = ~0u;
constexpr unsigned kWithoutFour = kAll ^ 0x10u;

__global__ void syncwarp_without_caller(int* out, unsigned mask) {
  __shared__ int slots[32];
  const unsigned i = threadIdx.x;
  slots[i] = static_cast<int>(i);
  // FAULT syncwarp_without_caller RL0305 divergent-barrier "its mask does not name"
  __syncwarp(mask);
  out[i] = slots[i];
}

__global__ void shuffle_without_caller(int* out, unsigned mask) {
  const int i = static_cast<int>(threadIdx.x);
  // FAULT shuffle_without_caller RL0305 divergent-barrier "its mask does not name"
  out[i] = __shfl_sync(mask, i, 3);
}

__global__ void shuffle_xor_without_caller(int* out, unsigned mask) {
  const int i = static_cast<int>(threadIdx.x);
  // FAULT shuffle_xor_without_caller RL0305 divergent-barrier "its mask does not name"
  out[i] = __shfl_xor_sync(mask, i, 1);
}

__global__ void ballot_without_caller(unsigned* out, unsigned mask) {
  // FAULT ballot_without_caller RL0305 divergent-barrier "its mask does not name"
  out[threadIdx.x] = __ballot_sync(mask, threadIdx.x > 8);
}

__global__ void all_without_caller(int* out, unsigned mask) {
  // FAULT all_without_caller RL0305 divergent-barrier "its mask does not name"
  out[threadIdx.x] = __all_sync(mask, threadIdx.x < 32);
}

__global__ void match_without_caller(unsigned* out, unsigned mask) {
  // FAULT match_without_caller RL0305 divergent-barrier "its mask does not name"
  out[threadIdx.x] = __match_any_sync(mask, threadIdx.x / 2);
}

__global__ void match_all_without_caller(unsigned* out, unsigned mask) {
  int same = 0;
  // FAULT match_all_without_caller RL0305 divergent-barrier "its mask does not name"
  out[threadIdx.x] = __match_all_sync(mask, 7u, &same);
}

__global__ void reduce_without_caller(unsigned* out, unsigned mask) {
  // FAULT reduce_without_caller RL0305 divergent-barrier "its mask does not name"
  out[threadIdx.x] = __reduce_add_sync(mask, threadIdx.x);
}

/// Half a warp with the mask of the other half.
__global__ void mask_of_the_others(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < 16) {
    // FAULT mask_of_the_others RL0305 divergent-barrier "its mask does not name"
    __syncwarp(wrong ? 0xffff0000u : 0x0000ffffu);
    out[i] = i;
  }
}

/// The mask of those for whom the condition holds, used by all.
__global__ void mask_of_a_condition(int* out, bool wrong) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned odd = __ballot_sync(kAll, i % 2 != 0);
  int sum = i;
  if (wrong || i % 2 != 0) {
    // FAULT mask_of_a_condition RL0305 divergent-barrier "its mask does not name"
    sum += __shfl_xor_sync(odd, i, 2);
  }
  out[i] = sum;
}

template <class T, void (*kernel)(T*, unsigned)>
void with_mask(bool wrong) {
  kernel<<<1, 32>>>(zeros<T>(32), wrong ? kWithoutFour : kAll);
}

const std::vector<Fault> faults{
    {"syncwarp_without_caller", with_mask<int, syncwarp_without_caller>},
    {"shuffle_without_caller", with_mask<int, shuffle_without_caller>},
    {"shuffle_xor_without_caller", with_mask<int, shuffle_xor_without_caller>},
    {"ballot_without_caller", with_mask<unsigned, ballot_without_caller>},
    {"all_without_caller", with_mask<int, all_without_caller>},
    {"match_without_caller", with_mask<unsigned, match_without_caller>},
    {"match_all_without_caller", with_mask<unsigned, match_all_without_caller>},
    {"reduce_without_caller", with_mask<unsigned, reduce_without_caller>},
    {"mask_of_the_others",
     [](bool wrong) { mask_of_the_others<<<1, 32>>>(zeros<int>(32), wrong); }},
    {"mask_of_a_condition",
     [](bool wrong) { mask_of_a_condition<<<1, 32>>>(zeros<int>(32), wrong); }},
};

}  // namespace

int main(int count, char** arguments) { return run_faults(faults, count, arguments); }
