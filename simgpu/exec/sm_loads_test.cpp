#include "simgpu/exec/sm_loads.h"

#include <gtest/gtest.h>

namespace simgpu {
namespace {

using Weight = BlockWeights::Weight;

Weight block_of(std::uint64_t instructions) {
  return {.slots = instructions, .longest_way = instructions};
}

TEST(SmLoads, EqualBlocksFillAllSmsInTurn) {
  SmLoads sms(4, 8);
  for (int block = 0; block < 10; ++block) sms.add(block_of(100));
  EXPECT_EQ(sms.busiest().slots, 300U);
}

TEST(SmLoads, BlocksThatLandOnHalfOfTheSmsKeepThoseBusy) {
  SmLoads sms(4, 8);
  for (int block = 0; block < 8; ++block) sms.add(block_of(block % 4 < 2 ? 100 : 0));
  EXPECT_EQ(sms.busiest().slots, 200U) << "of 400 on four";
}

TEST(SmLoads, LightBlocksMakeRoomForOthers) {
  SmLoads sms(2, 2);
  for (const std::uint64_t work : {10'000, 1000, 1000, 1000}) sms.add(block_of(work));
  EXPECT_EQ(sms.busiest().slots, 10'000U);
}

TEST(SmLoads, AHeavyBlockThatComesLastFindsNobodyIdle) {
  SmLoads sms(2, 2);
  for (const std::uint64_t work : {50, 50, 100}) sms.add(block_of(work));
  EXPECT_EQ(sms.busiest().slots, 150U);
}

}  // namespace
}  // namespace simgpu
