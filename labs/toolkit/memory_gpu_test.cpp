#include "toolkit/memory.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rooflab {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

void take_and_give_back(std::size_t bytes) {
  void* memory = nullptr;
  CUDA_CHECK(cudaMallocAsync(&memory, bytes, nullptr));
  CUDA_CHECK(cudaFreeAsync(memory, nullptr));
}

TEST(PeakMemory, TellsTheMostThatWasHeldAtOneTime) {
  const std::int64_t peak = peak_memory([] {
    take_and_give_back(kMebibyte);
    take_and_give_back(4 * kMebibyte);
    take_and_give_back(2 * kMebibyte);
  });
  EXPECT_EQ(peak, 4 * kMebibyte);
}

TEST(PeakMemory, AddsWhatIsHeldTogether) {
  const std::int64_t peak = peak_memory([] {
    void* outer = nullptr;
    CUDA_CHECK(cudaMallocAsync(&outer, 3 * kMebibyte, nullptr));
    take_and_give_back(2 * kMebibyte);
    CUDA_CHECK(cudaFreeAsync(outer, nullptr));
  });
  EXPECT_EQ(peak, 5 * kMebibyte);
}

TEST(PeakMemory, LeavesOutWhatWasHeldBefore) {
  void* held = nullptr;
  CUDA_CHECK(cudaMallocAsync(&held, 8 * kMebibyte, nullptr));
  EXPECT_EQ(peak_memory([] { take_and_give_back(kMebibyte); }), kMebibyte);
  EXPECT_EQ(peak_memory([] {}), 0);
  CUDA_CHECK(cudaFreeAsync(held, nullptr));
}

TEST(PeakMemory, ForgetsTheMarkOfEarlierWork) {
  take_and_give_back(16 * kMebibyte);
  EXPECT_EQ(peak_memory([] { take_and_give_back(kMebibyte); }), kMebibyte);
}

TEST(PeakMemory, PassesOnWhatTheWorkThrows) {
  EXPECT_THROW(peak_memory([] { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
}  // namespace rooflab
