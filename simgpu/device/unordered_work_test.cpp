#include "simgpu/device/unordered_work.h"

#include <gtest/gtest.h>

#include <vector>

namespace simgpu::unordered_work_test {
namespace {

constexpr std::uint64_t kOne = 21, kOther = 22, kEvent = 31;
constexpr Picoseconds kEnd = 1000;

UnorderedWork::Places places(const TouchedPlaces& places) {
  return std::make_shared<TouchedPlaces>(places);
}
UnorderedWork::Places writing(std::uint64_t first, std::uint64_t bytes) {
  return places({.read = {}, .written = {{first, bytes}}, .updated = {}});
}
UnorderedWork::Places reading(std::uint64_t first, std::uint64_t bytes) {
  return places({.read = {{first, bytes}}, .written = {}, .updated = {}});
}
UnorderedWork::Places updating(std::uint64_t first, std::uint64_t bytes) {
  return places({.read = {}, .written = {}, .updated = {{first, bytes}}});
}

class UnorderedWorkTest : public ::testing::Test {
 protected:
  void begin(std::uint64_t stream, UnorderedWork::Places places, Picoseconds end = kEnd,
             StreamRaces::Node node = StreamRaces::Node()) {
    work_.add({.stamp = order_.issue(stream, {}),
               .node = std::move(node),
               .end = end,
               .places = std::move(places)},
              0);
  }
  Picoseconds start(std::uint64_t stream, const UnorderedWork::Places& places,
                    const StreamRaces::Node& node = StreamRaces::Node()) {
    order_.issue(stream, {});
    return work_.earliest(node, stream, places, order_);
  }

  StreamOrder order_;
  UnorderedWork work_;
};

TEST_F(UnorderedWorkTest, WaitsForWhatItNeedsOrOverwritesWithoutAnOrder) {
  begin(kOne, writing(100, 50));
  EXPECT_EQ(start(kOther, reading(149, 10)), kEnd);
  EXPECT_EQ(start(kOther, writing(90, 11)), kEnd);
  EXPECT_EQ(start(kOther, updating(120, 4)), kEnd);
}

TEST_F(UnorderedWorkTest, RunsBesideWhatTouchesOtherPlaces) {
  begin(kOne, writing(100, 50));
  EXPECT_EQ(start(kOther, writing(150, 50)), 0);
  EXPECT_EQ(start(kOther, reading(0, 100)), 0);
}

TEST_F(UnorderedWorkTest, RunsBesideWhatOnlyReadsTheSameOrAddsToIt) {
  begin(kOne, reading(100, 50));
  EXPECT_EQ(start(kOther, reading(100, 50)), 0);
  EXPECT_EQ(start(kOther, writing(149, 1)), kEnd);
  begin(kOne, updating(500, 8));
  EXPECT_EQ(start(kOther, updating(500, 8)), 0);
  EXPECT_EQ(start(kOther, reading(500, 8)), kEnd);
}

TEST_F(UnorderedWorkTest, WaitsWhereNobodyKnowsWhatIsTouched) {
  begin(kOne, nullptr);
  EXPECT_EQ(start(kOther, reading(0, 1)), kEnd);
  begin(kOther, reading(0, 1), 2 * kEnd);
  EXPECT_EQ(start(kOne, nullptr), 2 * kEnd);
}

TEST_F(UnorderedWorkTest, LeavesOrderedWorkToTheStreams) {
  begin(kOne, writing(100, 50));
  EXPECT_EQ(start(kOne, writing(100, 50)), 0);
  order_.record(kEvent, kOne, {});
  order_.wait(kOther, kEvent);
  EXPECT_EQ(start(kOther, writing(100, 50)), 0);
}

TEST_F(UnorderedWorkTest, HoldsNodesOfAGraphToItsEdges) {
  std::vector<GraphNode> nodes(3);
  nodes[1].dependencies = {0};
  const auto graph = std::make_shared<GraphOrder>(nodes);
  const auto node = [&](std::uint32_t number) {
    return StreamRaces::Node{.launch = 1, .order = graph, .node = number};
  };
  begin(kOne, writing(100, 50), kEnd, node(0));
  EXPECT_EQ(start(kOne, writing(100, 50), node(1)), 0);
  EXPECT_EQ(start(kOne, writing(100, 50), node(2)), kEnd);
}

TEST_F(UnorderedWorkTest, WaitsForNodesOfAGraphThatIsTooLargeToKnowItsOrder) {
  const auto graph =
      std::make_shared<GraphOrder>(std::vector<GraphNode>(GraphOrder::kMostNodes + 1));
  const auto node = [&](std::uint32_t number) {
    return StreamRaces::Node{.launch = 1, .order = graph, .node = number};
  };
  begin(kOne, writing(100, 50), kEnd, node(0));
  EXPECT_EQ(start(kOne, writing(100, 50), node(1)), kEnd);
}

TEST_F(UnorderedWorkTest, LetsNothingRunBesideWhatItHasForgotten) {
  begin(kOne, writing(100, 50));
  for (int i = 0; i < 1000; ++i) begin(kOne, nullptr, kEnd + 1 + i);
  EXPECT_GE(start(kOther, reading(0, 1)), kEnd);
}

}  // namespace
}  // namespace simgpu::unordered_work_test
