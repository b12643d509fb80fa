#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "simgpu/exec/engine_testing.h"

/// Every way a launch can fail, each with a twin that does it right.
namespace simgpu::testing {
namespace {

using ::testing::HasSubstr;

class Findings : public ::testing::Test {
 protected:
  Device device_ = Device::with_test_kernels();

  /// The only finding of a launch that must end with `status`.
  static Finding only(const LaunchResult& result, LaunchStatus status) {
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.findings.size(), 1U);
    return result.findings.empty() ? Finding{} : result.findings.back();
  }
  static void expect_clean(const LaunchResult& result) {
    EXPECT_EQ(result.status, LaunchStatus::ok);
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().message;
  }
};

TEST_F(Findings, GlobalOutOfBoundsNamesTheAllocationAndTheThread) {
  const std::uint64_t data = device_.put(std::vector<float>(100, 1.0F));
  const Finding finding =
      only(device_.run("scale", {.grid = {4, 1, 1}, .block = {32, 1, 1}}, data, 101),
           LaunchStatus::illegal_address);
  EXPECT_EQ(finding.code, Code("RL0201"));
  EXPECT_EQ(finding.kind(), FindingKind::out_of_bounds);
  EXPECT_EQ(finding.kernel, "scale");
  EXPECT_THAT(finding.where.file, HasSubstr("kernels.cu"));
  EXPECT_GT(finding.where.line, 0U);
  EXPECT_EQ(finding.where.block, (Dim3{3, 0, 0}));
  EXPECT_EQ(finding.where.thread, (Dim3{4, 0, 0}));
  EXPECT_THAT(finding.object, HasSubstr("the first byte past the end of the 400-byte allocation"));
  const std::uint64_t good = device_.put(std::vector<float>(100, 1.0F));
  expect_clean(device_.run("scale", {.grid = {4, 1, 1}, .block = {32, 1, 1}}, good, 100));
}

TEST_F(Findings, ABlockThatFailsFirstLeavesTheOthersOut) {
  Launch launch{.grid = {400, 1, 1}};
  const std::uint64_t data = device_.put(std::vector<float>(32 * 399, 1.0F));
  const LaunchResult in_order = device_.run("scale", launch, data, 32 * 400);
  launch.first_block = 399;
  const LaunchResult at_once = device_.run("scale", launch, data, 32 * 400);
  EXPECT_EQ(only(at_once, LaunchStatus::illegal_address), only(in_order, in_order.status));
  EXPECT_LT(100 * at_once.work, in_order.work);
}

TEST_F(Findings, WhichBlockBeginsChangesNoResult) {
  for (const std::uint64_t first : {0, 1, 3, 4, 1000}) {
    const std::uint64_t data = device_.put(std::vector<float>(100, 1.0F));
    const LaunchResult result =
        device_.run("scale", {.grid = {4, 1, 1}, .first_block = first}, data, 100);
    expect_clean(result);
    EXPECT_EQ(device_.get<float>(data, 100), std::vector<float>(100, 2.0F)) << first;
    EXPECT_EQ(result.counters.global_store_sectors, 13U) << first;
  }
}

TEST_F(Findings, NullPointersAreOutOfBounds) {
  const Finding finding =
      only(device_.run("scale", {}, std::uint64_t{0}, 5), LaunchStatus::illegal_address);
  EXPECT_THAT(finding.object, HasSubstr("null pointer"));
}

TEST_F(Findings, FreedMemoryIsOutOfBounds) {
  const std::uint64_t data = device_.put(std::vector<float>(100, 1.0F));
  ASSERT_TRUE(device_.memory().release(data));
  const Finding finding = only(device_.run("scale", {}, data, 5), LaunchStatus::illegal_address);
  EXPECT_THAT(finding.object, HasSubstr("freed"));
}

TEST_F(Findings, SharedOutOfBoundsNamesTheArray) {
  const std::uint64_t out = device_.put(std::vector<int>(64));
  const Finding finding = only(device_.run("shared_index", {.block = {64, 1, 1}}, out, 1),
                               LaunchStatus::illegal_address);
  EXPECT_EQ(finding.code, Code("RL0202"));
  EXPECT_EQ(finding.where.thread, (Dim3{63, 0, 0}));
  EXPECT_THAT(finding.object, HasSubstr("the first byte past the end of shared memory"));
  EXPECT_THAT(finding.object, HasSubstr("row"));
  ASSERT_EQ(finding.places.size(), 1u);
  EXPECT_EQ(finding.places[0].name, "row");
  EXPECT_EQ(finding.places[0].bytes, 256u);
  EXPECT_EQ(finding.places[0].offset, 256);
  expect_clean(device_.run("shared_index", {.block = {64, 1, 1}}, out, 0));
}

TEST_F(Findings, DynamicSharedOutOfBoundsNamesTheThirdLaunchArgument) {
  const std::uint64_t data = device_.put(std::vector<int>(64));
  const Finding finding =
      only(device_.run("reverse_block", {.block = {64, 1, 1}, .shared = 64}, data),
           LaunchStatus::illegal_address);
  EXPECT_EQ(finding.code, Code("RL0202"));
  EXPECT_EQ(finding.detail, FindingDetail::past_dynamic_shared);
  EXPECT_THAT(finding.message, HasSubstr("64 bytes of dynamic shared memory, its third argument"));
  EXPECT_THAT(finding.message, HasSubstr("as many as the block has threads"));
  expect_clean(device_.run("reverse_block", {.block = {64, 1, 1}, .shared = 256}, data));
}

TEST_F(Findings, LocalOutOfBounds) {
  const std::uint64_t data = device_.put(std::vector<int>(32));
  EXPECT_EQ(only(device_.run("local_index", {}, data, 4000), LaunchStatus::illegal_address).code,
            Code("RL0203"));
  expect_clean(device_.run("local_index", {}, data, 4));
}

TEST_F(Findings, MisalignedAccess) {
  const std::uint64_t data = device_.put(std::vector<float>(80, 1.0F));
  const std::uint64_t out = device_.put(std::vector<float>(32));
  const Finding finding =
      only(device_.run("misaligned_pair", {}, data, out, 4), LaunchStatus::misaligned_address);
  EXPECT_EQ(finding.code, Code("RL0204"));
  EXPECT_EQ(finding.kind(), FindingKind::misaligned);
  expect_clean(device_.run("misaligned_pair", {}, data, out, 8));
}

TEST_F(Findings, BarrierThatHalfAWarpReaches) {
  const std::uint64_t out = device_.put(std::vector<int>(64));
  const Finding finding = only(device_.run("divergent_barrier", {}, out), LaunchStatus::ok);
  EXPECT_EQ(finding.code, Code("RL0305"));
  EXPECT_EQ(finding.kind(), FindingKind::divergent_barrier);
  EXPECT_THAT(finding.message, HasSubstr("16 of the 32"));
  ASSERT_TRUE(finding.other.has_value());
  EXPECT_EQ(finding.other->thread, (Dim3{16, 0, 0}));
  expect_clean(device_.run("divergent_barrier", {.block = {16, 1, 1}}, out));
  expect_clean(device_.run("divergent_barrier", {.checkers = false}, out));
}

TEST_F(Findings, BarrierThatNeverFills) {
  const std::uint64_t out = device_.put(std::vector<int>(64));
  const Finding finding = only(device_.run("barrier_of_half_the_warps", {.block = {64, 1, 1}}, out),
                               LaunchStatus::launch_failure);
  EXPECT_EQ(finding.code, Code("RL0306"));
  EXPECT_EQ(finding.kind(), FindingKind::deadlock);
  expect_clean(device_.run("barrier_of_both_warps", {.block = {64, 1, 1}}, out));
}

TEST_F(Findings, ShuffleWithAbsentLanes) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  EXPECT_EQ(only(device_.run("divergent_shuffle", {}, out), LaunchStatus::ok).code, Code("RL0305"));
  expect_clean(device_.run("convergent_shuffle", {}, out));
}

TEST_F(Findings, AFlagThatNobodySetsIsWaitedForInVain) {
  const std::uint64_t flag = device_.put(std::vector<int>{0});
  EXPECT_EQ(
      only(device_.run("endless", {.budget = 100'000}, flag), LaunchStatus::launch_timeout).code,
      Code("RL0307"));
  const std::uint64_t set = device_.put(std::vector<int>{1});
  expect_clean(device_.run("endless", {.budget = 100'000}, set));
}

TEST_F(Findings, BeyondItsBudgetAKernelIsTooLongAndNotEndless) {
  const Finding finding =
      only(device_.run("goes_round", {.budget = 100'000}), LaunchStatus::launch_timeout);
  EXPECT_EQ(finding.code, Code("RL0319"));
  EXPECT_EQ(finding.kind(), FindingKind::too_long);
}

TEST_F(Findings, TrapAndAssert) {
  const std::uint64_t out = device_.put(std::vector<int>(32));
  const Finding trapped = only(device_.run("traps", {}, out, 5), LaunchStatus::trap);
  EXPECT_EQ(trapped.code, Code("RL0311"));
  EXPECT_EQ(trapped.where.thread, (Dim3{5, 0, 0}));
  expect_clean(device_.run("traps", {}, out, 32));
  const Finding asserted = only(device_.run("asserts", {}, out, 20), LaunchStatus::assert_failed);
  EXPECT_EQ(asserted.code, Code("RL0310"));
  EXPECT_EQ(asserted.where.thread, (Dim3{20, 0, 0}));
  EXPECT_THAT(asserted.message, HasSubstr("threadIdx.x < limit"));
  expect_clean(device_.run("asserts", {}, out, 32));
}

TEST_F(Findings, WhatIsMissingIsRefusedByName) {
  const std::uint64_t out = device_.put(std::vector<std::uint64_t>(32));
  const Finding finding = only(device_.run("uses_wgmma", {}, out), LaunchStatus::unsupported);
  EXPECT_EQ(finding.code, Code("RL0312"));
  EXPECT_THAT(finding.message, HasSubstr("wgmma.fence.sync.aligned (kernels.cu:"));
}

TEST_F(Findings, UnknownOpcodesAreRefusedWithTheirPlace) {
  Device device(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry strange()\n{\n"
      ".reg .b32 %r<3>;\nfrobnicate.sync.u32 %r1, %r2;\nadd.frob.u32 %r1, %r1, %r2;\nret;\n}\n");
  const LaunchResult result = device.run("strange", {});
  EXPECT_EQ(result.status, LaunchStatus::unsupported);
  EXPECT_THAT(result.findings.at(0).message, HasSubstr("frobnicate.sync.u32 (PTX line 7)"));
  EXPECT_THAT(result.findings.at(0).message, HasSubstr("add.frob.u32"));
}

TEST_F(Findings, RacesAreToldInTheProgramsTerms) {
  const std::uint64_t out = device_.put(std::vector<int>(64));
  const LaunchResult result = device_.run("race_in_block", {.block = {64, 1, 1}}, out);
  const auto race =
      std::find_if(result.findings.begin(), result.findings.end(),
                   [](const Finding& found) { return found.kind() == FindingKind::shared_race; });
  ASSERT_NE(race, result.findings.end());
  const Finding& finding = *race;
  EXPECT_THAT(finding.object, HasSubstr("shared array cell"));
  ASSERT_TRUE(finding.other.has_value());
  EXPECT_NE(finding.where.thread, finding.other->thread);
  EXPECT_TRUE(
      device_.run("race_in_block", {.block = {64, 1, 1}, .checkers = false}, out).findings.empty());
}

template <typename Element>
void blocks_may_share_a_word_but_no_element(Device& device, const char* kernel) {
  const std::vector<Element> data(130, Element{5});
  const Launch launch{.grid = {4, 1, 1}, .block = {32, 1, 1}};
  const std::uint64_t own = device.put(data);
  const std::uint64_t out = device.put(data);
  const LaunchResult clean = device.run(kernel, launch, own, out, 0);
  EXPECT_EQ(clean.status, LaunchStatus::ok);
  EXPECT_TRUE(clean.findings.empty()) << clean.findings.front().message;
  const std::vector<Element> sums = device.get<Element>(own, data.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    ASSERT_EQ(sums[i], i >= 1 && i <= 128 ? 6 : 5) << "element " << i;
  }
  const LaunchResult racing = device.run(kernel, launch, own, out, 1);
  ASSERT_EQ(racing.findings.size(), 2U);
  const bool blocks_first = racing.findings[0].code == "RL0304";
  const Finding& of_blocks = racing.findings[blocks_first ? 0 : 1];
  const Finding& of_threads = racing.findings[blocks_first ? 1 : 0];
  EXPECT_EQ(of_blocks.code, Code("RL0304"));
  EXPECT_EQ(of_blocks.occurrences, 3U) << "at each border of two blocks";
  EXPECT_EQ(of_threads.code, Code("RL0316"));
  EXPECT_EQ(of_threads.occurrences, 4U * 31) << "at each border of two lanes";
}

TEST_F(Findings, BlocksMayShareAWordButNoShort) {
  blocks_may_share_a_word_but_no_element<std::int16_t>(device_, "add_to_shorts");
}

TEST_F(Findings, BlocksMayShareAWordButNoByte) {
  blocks_may_share_a_word_but_no_element<std::int8_t>(device_, "add_to_chars");
}

TEST(Registers, ReadBeforeTheirFirstWriteAreZero) {
  Device device(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry reads(.param .u64 out)\n{\n"
      ".reg .b32 %r<4>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\n"
      "add.u32 %r1, %r2, 5;\nst.global.u32 [%rd1], %r1;\nret;\n}\n");
  const std::uint64_t out = device.put(std::vector<int>{1});
  ASSERT_EQ(device.run("reads", {.block = {1, 1, 1}}, out).status, LaunchStatus::ok);
  EXPECT_EQ(device.get<int>(out, 1).front(), 5);
}

/// Blocks that run side by side share the memory for records of races: of many of them, one that
/// touches 32,768 windows between two barriers has not enough.
TEST(UnwatchedRaces, AreToldWithTheNumberOfWindowsAndFailNothing) {
  Device device(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry wide(.param .u64 out, .param .u32 steps)\n{\n"
      ".reg .pred %p<2>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [out];\nld.param.u32 %r4, [steps];\n"
      "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"
      "mov.u32 %r2, %tid.x;\nmov.u32 %r3, 0;\n"
      "again:\nmul.wide.u32 %rd2, %r2, 512;\nadd.u64 %rd3, %rd1, %rd2;\n"
      "st.global.u8 [%rd3], %r1;\nadd.u32 %r2, %r2, 32;\nadd.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, %r4;\n@%p1 bra again;\nret;\n}\n");
  constexpr std::uint32_t kSteps = 1024;
  const std::uint64_t out = device.put(std::vector<std::int8_t>(kSteps * 32 * 512));
  const Launch side_by_side{.grid = {1024, 1, 1}, .cooperative = true};
  const LaunchResult wide = device.run("wide", side_by_side, out, kSteps);
  EXPECT_EQ(wide.status, LaunchStatus::ok);
  ASSERT_EQ(wide.findings.size(), 1U);
  EXPECT_EQ(wide.findings[0].code, Code("RL0615"));
  EXPECT_GT(wide.findings[0].occurrences, kSteps * 16);
  EXPECT_THAT(wide.findings[0].message,
              HasSubstr("it forgot " + std::to_string(wide.findings[0].occurrences) + " windows"));
  const LaunchResult narrow = device.run("wide", side_by_side, out, std::uint32_t{2});
  EXPECT_EQ(narrow.status, LaunchStatus::ok);
  EXPECT_TRUE(narrow.findings.empty());
}

TEST_F(Findings, ALoadOfConstantMemoryBehindAStoreOfTheLaunchIsNamed) {
  const std::uint64_t data = device_.put(std::vector<int>(64)),
                      out = device_.put(std::vector<int>(64));
  const Launch one_block{.grid = {1, 1, 1}, .block = {64, 1, 1}};
  const Finding finding = only(device_.run("read_back", one_block, data, out, 1), LaunchStatus::ok);
  EXPECT_EQ(finding.code, Code("RL0318"));
  EXPECT_EQ(finding.kind(), FindingKind::global_race);
  EXPECT_THAT(finding.object, HasSubstr("256-byte allocation"));
  ASSERT_TRUE(finding.other);
  EXPECT_LT(finding.other->line, finding.where.line);
  expect_clean(device_.run("read_back", one_block, data, out, 0));
}

TEST_F(Findings, AnElementThatIsReadAndThenReplacedIsNoLoadOfWhatWasStored) {
  const std::uint64_t data = device_.put(std::vector<int>(256, 1));
  expect_clean(device_.run("double_in_place", {.grid = {4, 1, 1}, .block = {64, 1, 1}}, data));
}

TEST_F(Findings, ALoadOfConstantMemoryDoesNotSeeWhatOtherBlocksHandOver) {
  const std::uint64_t parts = device_.put(std::vector<int>(16)),
                      sum = device_.put(std::vector<int>(1));
  const Launch blocks{.grid = {16, 1, 1}, .block = {1, 1, 1}};
  const auto run = [&](int as_constant) {
    const std::uint64_t done = device_.put(std::vector<unsigned>(1));
    return device_.run("last_block_adds", blocks, parts, done, sum, as_constant);
  };
  EXPECT_EQ(only(run(1), LaunchStatus::ok).code, Code("RL0318"));
  expect_clean(run(0));
}

}  // namespace
}  // namespace simgpu::testing
