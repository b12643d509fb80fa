#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "simgpu/checkers/block_checkers.h"
#include "simgpu/checkers/test_access.h"

/// Races in shared and global memory, against the rule as it is written down.
namespace simgpu {
namespace {

constexpr std::uint32_t kWarpsOfRandomBlock = 4;

/// The race rule, word for word: keeps every access of the interval and compares all pairs.
class PlainRaces {
 public:
  struct Access {
    AccessKind kind;
    unsigned thread;
    std::uint64_t first, bytes;
    bool meets_atomics = false;
  };
  void barrier() { accesses_.clear(); }
  /// Whether this access races with an earlier one.
  bool races(const Access& now) {
    bool found = false;
    for (const Access& then : accesses_) {
      const bool overlap =
          then.first < now.first + now.bytes && now.first < then.first + then.bytes;
      const bool store = then.kind == AccessKind::store || now.kind == AccessKind::store;
      const bool conflict =
          store || is_plain_beside_atomic(then, now) || is_plain_beside_atomic(now, then);
      found = found || (overlap && conflict && then.thread != now.thread);
    }
    accesses_.push_back(now);
    return found;
  }

 private:
  static bool is_plain_beside_atomic(const Access& load, const Access& other) {
    return load.kind == AccessKind::load && !load.meets_atomics && other.kind == AccessKind::atomic;
  }
  std::vector<Access> accesses_;
};

/// Instructions of odd numbers may meet atomics, if they are loads.
std::vector<AccessFacts> facts_of_random_block() {
  std::vector<AccessFacts> facts(12);
  for (std::size_t pc = 1; pc < facts.size(); pc += 2) facts[pc].meets_atomics = true;
  return facts;
}

TEST(RandomRaceTest, TheFirstRaceOfAnyIntervalIsFound) {
  DeviceMemory memory(1 << 20);
  std::mt19937 random(13);
  int raced = 0;
  for (int round = 0; round < 4000; ++round) {
    BlockCheckers checkers(memory, facts_of_random_block());
    checkers.begin_block(0, 64, kWarpsOfRandomBlock, 0);
    TestAccess all(
        AccessKind::store, 16, [](auto lane) { return 16 * lane; }, 0xfU);
    checkers.shared(all.get());
    checkers.block_barrier();
    PlainRaces expected;
    for (int step = 0; step < 12; ++step) {
      if (random() % 8 == 0) {
        checkers.block_barrier();
        expected.barrier();
      }
      const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
      const auto kind = static_cast<AccessKind>(random() % 3);
      const std::uint64_t first = random() % 64 / bytes * bytes;
      const unsigned lane = random() % 2;
      const auto warp = static_cast<std::uint16_t>(random() % kWarpsOfRandomBlock);
      TestAccess access(
          kind, bytes, [&](auto) { return first; }, 1U << lane);
      checkers.shared(access.by(warp, static_cast<std::uint32_t>(step)).get());
      const bool wanted = expected.races({kind, 32U * warp + lane, first, bytes, step % 2 != 0});
      ASSERT_EQ(!checkers.take_findings().empty(), wanted) << "round " << round << " step " << step;
      if (wanted) {
        ++raced;
        break;
      }
    }
  }
  EXPECT_GT(raced, 500);
}

TEST(RandomRaceTest, TheFirstRaceInGlobalMemoryIsFoundAcrossBlocksAndWindows) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "array").value();
  memory.fill(base, 1, 4096);
  std::mt19937 random(29);
  BlockCheckers checkers(memory, facts_of_random_block());
  int raced = 0;
  for (std::uint64_t block = 0; block < 4000; ++block) {
    checkers.begin_block(block, 0, kWarpsOfRandomBlock, 0);
    const std::uint64_t around = base + 512 * (1 + random() % 6) - 32;
    PlainRaces expected;
    for (int step = 0; step < 12; ++step) {
      if (random() % 8 == 0) {
        checkers.block_barrier();
        expected.barrier();
      }
      const auto bytes = static_cast<std::uint8_t>(1U << random() % 5);
      const auto kind = static_cast<AccessKind>(random() % 3);
      const std::uint64_t first = around + random() % 64 / bytes * bytes;
      const unsigned lane = random() % 2;
      const auto warp = static_cast<std::uint16_t>(random() % kWarpsOfRandomBlock);
      TestAccess access(
          kind, bytes, [&](auto) { return first; }, 1U << lane);
      checkers.global(access.by(warp, static_cast<std::uint32_t>(step)).get());
      const bool wanted = expected.races({kind, 32U * warp + lane, first, bytes, step % 2 != 0});
      const std::vector<RawFinding> findings = checkers.take_findings();
      ASSERT_EQ(!findings.empty(), wanted) << "block " << block << " step " << step;
      if (!wanted) continue;
      EXPECT_EQ(findings.front().code, Code("RL0316"));
      EXPECT_EQ(findings.front().block, block);
      EXPECT_EQ(findings.front().other_block, block);
      EXPECT_GE(findings.front().address, first);
      EXPECT_LT(findings.front().address, first + bytes);
      ++raced;
      break;
    }
  }
  EXPECT_GT(raced, 500);
}

TEST(GlobalRaceTest, MoreThanIsWatchedAtATimeIsRememberedAndNeverInvented) {
  constexpr std::uint64_t kBytes = 1 << 20;
  DeviceMemory memory(2 * kBytes);
  const std::uint64_t base = memory.allocate(kBytes, "array").value();
  memory.fill(base, 1, kBytes);
  BlockCheckers checkers(memory);
  checkers.begin_block(0, 0, 2, 0);
  const auto touch = [&](AccessKind kind, std::uint16_t warp, std::uint64_t offset) {
    TestAccess access(kind, 4, [&](auto lane) { return base + offset + 4 * lane; });
    checkers.global(access.by(warp, 0).get());
    return !checkers.take_findings().empty();
  };
  // Each warp to a half of every 256 bytes: nobody meets anybody.
  for (std::uint64_t offset = 0; offset < kBytes; offset += 256) {
    EXPECT_FALSE(touch(AccessKind::store, 0, offset)) << offset;
    EXPECT_FALSE(touch(AccessKind::store, 1, offset + 128)) << offset;
  }
  EXPECT_TRUE(touch(AccessKind::load, 1, kBytes - 256)) << "what was touched last is watched";
  EXPECT_FALSE(touch(AccessKind::load, 0, 0)) << "by the same threads";
  EXPECT_TRUE(touch(AccessKind::load, 1, 0)) << "so is what was touched first";
}

TEST(RandomRaceTest, TheFirstRaceOfWholeWarpsIsFound) {
  constexpr std::uint32_t kBytes = 768;
  constexpr int kSteps = 7;  // so that no two stores of a round store the same byte
  DeviceMemory memory(1 << 20);
  std::mt19937 random(17);
  int raced = 0;
  for (int round = 0; round < 4000; ++round) {
    BlockCheckers checkers(memory, facts_of_random_block());
    checkers.begin_block(0, kBytes, kWarpsOfRandomBlock, 0);
    for (const std::uint64_t first : {0, 256, 512}) {
      TestAccess all(AccessKind::store, 8, [&](auto lane) { return first + 8 * lane; });
      checkers.shared(all.get());
    }
    checkers.block_barrier();
    PlainRaces expected;
    for (int step = 0; step < kSteps; ++step) {
      if (random() % 4 == 0) {
        checkers.block_barrier();
        expected.barrier();
      }
      // Rows that start anywhere, a place that all lanes touch, or one lane alone.
      const auto bytes = static_cast<std::uint8_t>(4U << random() % 2);
      constexpr std::array kKinds{AccessKind::load,  AccessKind::load,  AccessKind::load,
                                  AccessKind::store, AccessKind::store, AccessKind::atomic};
      const AccessKind kind = kKinds[random() % kKinds.size()];
      const std::uint64_t first = random() % 32 * 8;
      const unsigned form = random() % 4;
      const std::uint64_t stride = form < 2 ? bytes : 0;
      const std::uint32_t mask = form == 3 ? 1U << random() % 2 : ~0U;
      const auto warp = static_cast<std::uint16_t>(random() % kWarpsOfRandomBlock);
      std::array<std::uint8_t, kWarpSize * 8> values{};
      for (unsigned i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::uint8_t>(32 * static_cast<unsigned>(step) + i / bytes + 1);
      }
      TestAccess access(
          kind, bytes, [&](auto lane) { return first + stride * lane; }, mask);
      access.access.values = values.data();
      checkers.shared(access.by(warp, static_cast<std::uint32_t>(step)).get());
      bool wanted = false;
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        if ((mask >> lane & 1U) == 0) continue;
        const bool races =
            expected.races({kind, 32U * warp + lane, first + stride * lane, bytes, step % 2 != 0});
        wanted = wanted || races;
      }
      ASSERT_EQ(!checkers.take_findings().empty(), wanted) << "round " << round << " step " << step;
      if (wanted) {
        ++raced;
        break;
      }
    }
  }
  EXPECT_GT(raced, 500);
  EXPECT_LT(raced, 3900);
}

}  // namespace
}  // namespace simgpu
