#include "simgpu/device/stream_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "simgpu/device/stream_races.h"

namespace simgpu::stream_order_test {
namespace {

constexpr std::uint64_t kOne = 21, kOther = 22, kThird = 23, kEvent = 31, kNext = 32;

class StreamOrderTest : public ::testing::Test {
 protected:
  StreamOrder order_;
  StreamOrder::Stamp issue(std::uint64_t stream) { return order_.issue(stream, {}); }
};

TEST_F(StreamOrderTest, WorkOfOneStreamIsOrderedAndThatOfTwoIsNot) {
  const StreamOrder::Stamp work = issue(kOne);
  EXPECT_TRUE(order_.is_before(work, kOne));
  issue(kOther);
  EXPECT_FALSE(order_.is_before(work, kOther));
}

TEST_F(StreamOrderTest, AnEventOrdersWhatWasIssuedBeforeItsRecordOnly) {
  const StreamOrder::Stamp before = issue(kOne);
  order_.record(kEvent, kOne, {});
  const StreamOrder::Stamp behind = issue(kOne);
  order_.wait(kOther, kEvent);
  EXPECT_TRUE(order_.is_before(before, kOther));
  EXPECT_FALSE(order_.is_before(behind, kOther));
}

TEST_F(StreamOrderTest, OrderPassesFromStreamToStream) {
  const StreamOrder::Stamp work = issue(kOne);
  order_.record(kEvent, kOne, {});
  order_.wait(kOther, kEvent);
  order_.record(kNext, kOther, {});
  order_.wait(kThird, kNext);
  EXPECT_TRUE(order_.is_before(work, kThird));
}

TEST_F(StreamOrderTest, WhatTheHostWaitedForIsBeforeAllThatItIssuesLater) {
  const StreamOrder::Stamp work = issue(kOne);
  const StreamOrder::Stamp other = issue(kOther);
  order_.host_waits_for_stream(kOne, {});
  issue(kThird);
  EXPECT_TRUE(order_.is_before(work, kThird));
  EXPECT_TRUE(order_.is_done(work));
  EXPECT_FALSE(order_.is_before(other, kThird));
  order_.host_waits_for_all();
  EXPECT_TRUE(order_.is_before(other, kThird));
}

TEST_F(StreamOrderTest, TheDefaultStreamWaitsForTheOthers) {
  const StreamOrder::Stamp work = issue(kOne);
  const std::array others{kOne};
  order_.issue(0, others);
  EXPECT_TRUE(order_.is_before(work, 0));
}

TEST(StreamRacesTest, RangesThatShareAByteRaceWhenOneIsWritten) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  for (const bool first_writes : {false, true}) {
    for (const bool second_writes : {false, true}) {
      for (const std::uint64_t shared : {0, 4}) {
        StreamOrder order;
        StreamRaces races;
        StreamRaces::Work first{.stamp = order.issue(kOne, {}), .name = "first"};
        first.ranges = {{base, base + 1000, first_writes}};
        StreamRaces::Work second{.stamp = order.issue(kOther, {}), .name = "second"};
        second.ranges = {{base + 1000 - shared, base + 2000, second_writes}};
        EXPECT_TRUE(races.add(first, order, memory).empty());
        const bool races_now = shared != 0 && (first_writes || second_writes);
        EXPECT_EQ(races.add(second, order, memory).size(), races_now ? 1U : 0U);
      }
    }
  }
}

TEST(StreamRacesTest, HalvesOfAWordAreApart) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  const std::uint64_t sector = (base - kDeviceBase) / kSectorBytes;
  for (const bool is_odd : {false, true}) {
    StreamOrder order;
    StreamRaces races;
    StreamRaces::Work first{.stamp = order.issue(kOne, {}), .name = "the first half"};
    first.sectors = {{.sector = sector, .written = 0x003f}};
    StreamRaces::Work second{.stamp = order.issue(kOther, {}), .name = "the second half"};
    second.sectors = {{.sector = sector, .written = is_odd ? 0xffe0U : 0xffc0U}};
    StreamRaces::Work copy{.stamp = order.issue(kOther, {}), .name = "a copy"};
    copy.ranges = {{base + (is_odd ? 5U : 6U), base + 16, true}};
    races.add(first, order, memory);
    const auto of_launch = races.add(second, order, memory);
    const auto of_copy = races.add(copy, order, memory);
    ASSERT_EQ(of_launch.size(), is_odd ? 1U : 0U);
    ASSERT_EQ(of_copy.size(), is_odd ? 1U : 0U);
    if (is_odd) {
      EXPECT_EQ(of_copy[0].code, Code("RL0315"));
    }
  }
}

TEST(StreamRacesTest, ACopyRacesWithTheWordsThatALaunchTouched) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  const std::uint64_t sector = (base - kDeviceBase) / kSectorBytes;
  for (const bool launch_first : {false, true}) {
    for (const std::uint64_t word : {0, 1, 2, 3}) {
      StreamOrder order;
      StreamRaces races;
      StreamRaces::Work copy{.stamp = order.issue(kOne, {}), .name = "a copy"};
      copy.ranges = {{base + 4 * word, base + 4 * word + 4, true}};
      StreamRaces::Work launch{.stamp = order.issue(kOther, {}), .name = "a launch"};
      launch.sectors = {{.sector = sector, .read = 0x00f0, .written = 0x0f00}};
      races.add(launch_first ? launch : copy, order, memory);
      const auto found = races.add(launch_first ? copy : launch, order, memory);
      ASSERT_EQ(found.size(), word == 1 || word == 2 ? 1U : 0U) << "word " << word;
      if (!found.empty()) {
        EXPECT_EQ(found[0].code, Code("RL0315"));
      }
    }
  }
}

/// Fills on one stream, each of a place of its own or all of the same, and then a copy of what an
/// earlier kernel on another stream has stored.
class ManyPiecesTest : public StreamOrderTest {
 protected:
  static constexpr std::uint64_t kFill = 4;

  std::size_t races_of(std::uint64_t stream, std::uint64_t begin, std::uint64_t end, bool writes) {
    const std::uint64_t at = base_ + begin;
    return races_
        .add({.stamp = issue(stream), .name = "work", .ranges = {{at, base_ + end, writes}}},
             order_, memory_)
        .size();
  }
  void fill(std::size_t times, bool one_place) {
    for (std::size_t i = 0; i < times; ++i) {
      const std::uint64_t at = kResult + (one_place ? 0 : i * kFill);
      EXPECT_EQ(races_of(kOther, at, at + kFill, true), 0U);
    }
  }
  static constexpr std::uint64_t kResult = 1000;
  StreamRaces races_;

 private:
  DeviceMemory memory_{1 << 20};
  std::uint64_t base_ = memory_.allocate(1 << 16, "a").value();
};

TEST_F(ManyPiecesTest, WorkIsRememberedBehindAnyNumberOfFillsOfOnePlace) {
  races_of(kOne, 0, kResult, true);
  fill(5 * StreamRaces::kMostWork, true);
  EXPECT_EQ(races_of(kOther, 0, kResult, false), 1U);
  EXPECT_EQ(races_.unjudged(), 0U);
}

TEST_F(ManyPiecesTest, WhatMayRaceWithForgottenWorkIsCounted) {
  races_of(kOne, 0, kResult, true);
  fill(2 * StreamRaces::kMostWork, false);
  EXPECT_GT(races_.unjudged(), 0U);
}

TEST_F(ManyPiecesTest, WorkBehindWhatIsForgottenIsNotInDoubt) {
  fill(2 * StreamRaces::kMostWork, false);
  EXPECT_EQ(races_.unjudged(), 0U) << "on the same stream";
  order_.record(kEvent, kOther, {});
  order_.wait(kOne, kEvent);
  races_of(kOne, 0, kResult, true);
  EXPECT_EQ(races_.unjudged(), 0U) << "behind an event";
  order_.host_waits_for_all();
  races_.drop_done(order_);
  races_of(kOne + kOther, 0, kResult, true);
  EXPECT_EQ(races_.unjudged(), 0U) << "the host has waited";
}

TEST_F(ManyPiecesTest, RepeatedWorkStaysAsWhatTheStreamDidLast) {
  fill(1, true);
  order_.record(kEvent, kOther, {});
  order_.wait(kOne, kEvent);
  fill(5 * StreamRaces::kMostWork, true);
  EXPECT_GE(races_of(kOne, kResult, kResult + kFill, false), 1U) << "the event is of the first";
}

TEST(StreamRacesTest, NodesOfAGraphAreOrderedByPathsOfEdgesAlone) {
  DeviceMemory memory(1 << 20);
  const std::uint64_t base = memory.allocate(4096, "a").value();
  // 0 -> 1 -> 3, and 2 beside them
  std::vector<GraphNode> nodes(4);
  nodes[1].dependencies = {0};
  nodes[3].dependencies = {1};
  const auto graph = std::make_shared<const GraphOrder>(nodes);
  EXPECT_TRUE(graph->branches());
  StreamOrder order;
  StreamRaces races;
  const auto run = [&](std::uint64_t launch, std::uint32_t node) {
    StreamRaces::Work work{
        .stamp = order.issue(kOne, {}), .name = "a node", .ranges = {{base, base + 100, true}}};
    work.node = {.launch = launch, .order = graph, .node = node};
    return races.add(work, order, memory);
  };
  EXPECT_TRUE(run(1, 0).empty());
  EXPECT_TRUE(run(1, 1).empty());
  EXPECT_EQ(run(1, 2).size(), 2U) << "with both that no edge leads to it from";
  const std::vector<Finding> last = run(1, 3);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].code, Code("RL0317"));
  EXPECT_TRUE(run(2, 0).empty()) << "launches of one stream follow each other";
}

TEST(GraphOrderTest, AChainHasNoBranches) {
  std::vector<GraphNode> nodes(3);
  nodes[1].dependencies = {0};
  nodes[2].dependencies = {0, 1};
  EXPECT_FALSE(GraphOrder(nodes).branches());
  EXPECT_TRUE(GraphOrder(nodes).is_before(0, 2));
  EXPECT_TRUE(GraphOrder({}).is_before(0, 0));
}

/// A caller's work on an array before and behind a function, and the function's own between them.
class CallersStreamTest : public StreamOrderTest {
 protected:
  void caller_works() {
    StreamRaces::Work work{.stamp = issue(kOne), .name = "work of the caller", .of_caller = true};
    work.ranges = {{base_, base_ + 1000, true}};
    add(work);
  }
  void function_works(std::uint64_t stream, bool writes) {
    StreamRaces::Work work{.stamp = issue(stream), .name = "a memset"};
    work.ranges = {{base_ + 100, base_ + 200, writes}};
    add(work);
  }
  void add(const StreamRaces::Work& work) {
    for (const Finding& finding : races_.add(work, order_, memory_)) {
      codes_.push_back(finding.code.text());
    }
  }
  std::vector<std::string> codes_;

 private:
  DeviceMemory memory_{1 << 20};
  std::uint64_t base_ = memory_.allocate(4096, "x").value();
  StreamRaces races_;
};

TEST_F(CallersStreamTest, WorkOnItsStreamIsOrdered) {
  caller_works();
  function_works(kOne, true);
  caller_works();
  EXPECT_TRUE(codes_.empty());
}

TEST_F(CallersStreamTest, WorkOnAnotherStreamComesTooEarlyAndTooLate) {
  caller_works();
  function_works(kOther, false);
  EXPECT_EQ(codes_, std::vector<std::string>{"RL0325"});
  caller_works();
  EXPECT_EQ(codes_, (std::vector<std::string>{"RL0325", "RL0325"}));
}

TEST_F(CallersStreamTest, WorkThatIsForkedAndJoinedIsOrdered) {
  caller_works();
  order_.record(kEvent, kOne, {});
  order_.wait(kOther, kEvent);
  function_works(kOther, true);
  EXPECT_TRUE(codes_.empty());
  order_.record(kNext, kOther, {});
  order_.wait(kOne, kNext);
  order_.forget_stream(kOther, false);
  caller_works();
  EXPECT_TRUE(codes_.empty());
}

TEST_F(CallersStreamTest, WorkThatIsNeverJoinedIsTooLateThoughItsStreamIsGone) {
  caller_works();
  order_.record(kEvent, kOne, {});
  order_.wait(kOther, kEvent);
  function_works(kOther, true);
  order_.forget_stream(kOther, false);
  caller_works();
  EXPECT_EQ(codes_, std::vector<std::string>{"RL0325"});
}

TEST_F(CallersStreamTest, TheCallersWorkIsRememberedBehindAnyNumberOfOthers) {
  caller_works();
  for (int i = 0; i < 1000; ++i) function_works(kOne, true);
  EXPECT_TRUE(codes_.empty());
  function_works(kOther, false);
  EXPECT_NE(std::ranges::find(codes_, "RL0325"), codes_.end());
}

}  // namespace
}  // namespace simgpu::stream_order_test
