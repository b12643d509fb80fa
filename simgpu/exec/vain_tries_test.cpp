#include "simgpu/exec/vain_tries.h"

#include <gtest/gtest.h>

#include <array>

namespace simgpu {
namespace {

class VainTriesTest : public ::testing::Test {
 protected:
  /// A try of the instruction that sees `value`.
  void note(std::size_t instruction, int value, bool is_atomic = false, std::uint64_t effects = 0) {
    const int address = 0x100;
    tries_.note(&code_[instruction], std::as_bytes(std::span(&value, 1)),
                std::as_bytes(std::span(&address, 1)), is_atomic, effects);
  }

  std::array<Lowered, 2> code_{};
  VainTries tries_;
};

TEST_F(VainTriesTest, CountsHowOftenTheSameWasSeenAgain) {
  note(0, 7);
  EXPECT_EQ(tries_.times, 0U);
  for (int i = 0; i < 3; ++i) note(0, 7);
  EXPECT_TRUE(tries_.reach(3, 0));
  EXPECT_FALSE(tries_.reach(4, 0));
  EXPECT_EQ(tries_.atomics, 0U);
}

TEST_F(VainTriesTest, ALoopMayTryAtSeveralInstructions) {
  for (int i = 0; i < 3; ++i) {
    note(0, 7);
    note(1, 9, true);
  }
  EXPECT_EQ(tries_.times, 4U);
  EXPECT_EQ(tries_.atomics, 2U);
}

TEST_F(VainTriesTest, SomethingNewIsNoTryInVain) {
  for (int i = 0; i < 3; ++i) note(0, 7);
  note(0, 8);
  EXPECT_EQ(tries_.times, 0U);
}

TEST_F(VainTriesTest, AChangeOfMemoryMakesTriesWorthwhile) {
  for (int i = 0; i < 3; ++i) note(0, 7);
  EXPECT_FALSE(tries_.reach(2, 1)) << "memory has changed since";
  note(0, 7, false, 1);
  EXPECT_EQ(tries_.times, 0U);
}

}  // namespace
}  // namespace simgpu
