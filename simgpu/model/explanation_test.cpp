#include "simgpu/model/explanation.h"

#include <gmock/gmock.h>

namespace simgpu {
namespace {

using testing::HasSubstr;

KernelRecord bound_by_shared_memory() {
  KernelRecord kernel;
  kernel.name = "tiled";
  kernel.grid = {250, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.blocks_per_sm = 2;
  kernel.occupancy_limiter = "registers";
  kernel.time.total_us = 111;
  kernel.time.launch_us = 1;
  kernel.time.limiter = "shared";
  kernel.time.terms = {{"shared", 100}, {"fp32", 36}, {"latency", 20}, {"fp64", 0}};
  kernel.time.wave_quantisation = 1.2;
  return kernel;
}

TEST(ExplanationTest, TellsTheLimiterTheNextOneAndWhatNothingHides) {
  const Explanation why = explain(bound_by_shared_memory(), 100);
  EXPECT_EQ(why.limiter, "shared memory");
  EXPECT_THAT(why.meaning, HasSubstr("100 us of 111 us"));
  EXPECT_THAT(why.change, HasSubstr("registers"));
  EXPECT_EQ(why.next_limiter, "fp32");
  EXPECT_DOUBLE_EQ(why.most_gain, 3);  // 111 us over 36 us and the launch
  EXPECT_DOUBLE_EQ(why.exposed_us, 10);
  EXPECT_DOUBLE_EQ(why.waves, 1.25);
}

TEST(ExplanationTest, TheTerminalShowsEveryTermThatCounts) {
  const std::string text = explain_in_words(bound_by_shared_memory(), 100);
  EXPECT_THAT(text, HasSubstr("tiled: 111 us modelled, 250 blocks of 256 threads"));
  EXPECT_THAT(text, HasSubstr("shared 100 us, fp32 36 us, latency 20 us, launch 1 us"));
  EXPECT_THAT(text, HasSubstr("waves: 1.25, 2 blocks at a time on each of 100"));
  EXPECT_THAT(text, testing::Not(HasSubstr("fp64")));
}

TEST(ExplanationTest, ALaunchThatOutweighsItsWorkIsSaidToBeOne) {
  KernelRecord kernel;
  kernel.time.total_us = 1.6;
  kernel.time.launch_us = 1.5;
  kernel.time.limiter = "launch";
  kernel.time.terms = {{"dram", 0.1}};
  const Explanation why = explain(kernel, 100);
  EXPECT_THAT(why.meaning, HasSubstr("starting the kernel takes longer"));
  EXPECT_DOUBLE_EQ(why.exposed_us, 0);
  EXPECT_DOUBLE_EQ(why.most_gain, 1);
}

TEST(ExplanationTest, NothingIsSaidOfAKernelWithoutTerms) {
  EXPECT_EQ(advice_for({}), "");
  EXPECT_EQ(explain({}, 100).waves, 0);
}

}  // namespace
}  // namespace simgpu
