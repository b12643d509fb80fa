#include "simgpu/checkers/kept_races.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "simgpu/checkers/memory_races.h"
#include "simgpu/checkers/test_access.h"

namespace simgpu {
namespace {

constexpr std::uint32_t kStretch = 512;
constexpr std::uint16_t kWarpsThatTouchIt = 4;

std::vector<std::string> in_words(const std::vector<RawFinding>& findings) {
  std::vector<std::string> words;
  for (const RawFinding& one : findings) {
    words.push_back(std::string(one.code.text()) + " " + std::to_string(one.address) + " pc " +
                    std::to_string(one.pc) + " lane " + std::to_string(one.lane) + " with pc " +
                    std::to_string(one.other_pc) + " warp " + std::to_string(one.other_warp) +
                    " lane " + std::to_string(one.other_lane));
  }
  return words;
}

/// Two records of one stretch, of which one is packed and unpacked now and then.
class PackedRaces : public testing::Test {
 protected:
  PackedRaces() { order_.begin_block(kWarpsThatTouchIt); }
  void begin() {
    for (MemoryRaces* races : {&plain_, &packed_}) races->begin_stretch(0, 0, kStretch, true);
  }
  KeptRaces pack() {
    KeptRaces kept = packed_.keep_since(order_.interval());
    packed_.begin_stretch(0, 0, kStretch, true);
    packed_.restore(kept);
    return kept;
  }
  void expect_same(const WarpAccess& access) {
    FindingList plain, packed;
    plain_.access(access, {}, order_, plain);
    packed_.access(access, {}, order_, packed);
    ASSERT_EQ(in_words(packed.take()), in_words(plain.take()));
  }

  WarpOrder order_;
  MemoryRaces plain_, packed_;
};

TEST_F(PackedRaces, AreTheSameBehindAnyAccesses) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    begin();
    for (std::uint32_t step = 0; step < 12; ++step) {
      if (random() % 6 == 0) order_.warp_barrier(random() % kWarpsThatTouchIt, ~0U);
      if (random() % 12 == 0) order_.block_barrier();
      const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
      const std::uint64_t places = kStretch / bytes;
      const std::uint64_t first = random() % places;
      const std::uint64_t apart = random() % 3;
      std::array<std::uint8_t, kWarpSize * 16> values{};
      for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random() % 2);
      TestAccess access(
          static_cast<AccessKind>(random() % 3), bytes,
          [&](auto lane) { return (first + apart * lane) % places * bytes; }, random());
      access.access.values = access.access.kind == AccessKind::store ? values.data() : nullptr;
      access.access.meets_atomics = access.access.kind == AccessKind::atomic || random() % 4 == 0;
      access.by(static_cast<std::uint16_t>(random() % kWarpsThatTouchIt), step);
      expect_same(access.get());
      if (random() % 2 == 0) pack();
    }
  }
}

TEST_F(PackedRaces, TakeLittleWhereLanesTouchNeighbours) {
  for (const std::uint8_t bytes : {4, 8, 16}) {
    begin();
    for (std::uint64_t at = 0; at < kStretch; at += std::uint64_t{32} * bytes) {
      TestAccess access(AccessKind::load, bytes, [&](auto lane) { return at + bytes * lane; });
      expect_same(access.by(1, 1).get());
    }
    EXPECT_EQ(pack().runs.size(), kStretch / 32 / bytes);
  }
}

TEST_F(PackedRaces, HaveNothingOfWhatTheLastBarrierOrders) {
  begin();
  TestAccess access(AccessKind::load, 4, [](auto lane) { return 4 * lane; });
  expect_same(access.by(1, 1).get());
  order_.block_barrier();
  EXPECT_TRUE(pack().runs.empty());
}

}  // namespace
}  // namespace simgpu
