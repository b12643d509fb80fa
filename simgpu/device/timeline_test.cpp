#include "simgpu/device/timeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace simgpu::timeline_test {
namespace {

using Engine = Timeline::Engine;

TEST(Timeline, RunsOneStreamInOrderWithoutGaps) {
  Timeline timeline;
  EXPECT_EQ(timeline.issue(0, Engine::compute, 500), 0);
  EXPECT_EQ(timeline.issue(0, Engine::compute, 70), 500);
  EXPECT_EQ(timeline.all_done(), 570);
}

TEST(Timeline, StartsNothingBeforeItWasIssued) {
  Timeline timeline;
  timeline.spend(3.0);
  EXPECT_EQ(timeline.issue(0, Engine::compute, 1), picoseconds(3.0));
}

TEST(Timeline, MakesTheDefaultStreamWaitForBlockingStreamsAndTheyForIt) {
  Timeline timeline;
  const auto blocking = timeline.create_stream(true, 0), free = timeline.create_stream(false, 0);
  timeline.issue(blocking, Engine::compute, 100, 0.1);
  EXPECT_EQ(timeline.issue(Timeline::kLegacyStream, Engine::compute, 10, 0.1), 100);
  EXPECT_EQ(timeline.issue(blocking, Engine::compute, 5, 0.1), 110);
  EXPECT_EQ(timeline.issue(free, Engine::compute, 5, 0.1), 0);
}

TEST(Timeline, FinishesWhatWasIssuedToAStreamThatIsDestroyed) {
  Timeline timeline;
  const auto gone = timeline.create_stream(true, 0), other = timeline.create_stream(true, 0);
  timeline.issue(gone, Engine::compute, 100, 0.1);
  EXPECT_EQ(timeline.destroy_stream(gone), CudaError::success);
  EXPECT_EQ(timeline.issue(other, Engine::compute, 7, 0.1), 0);
  EXPECT_EQ(timeline.ready(Timeline::kLegacyStream), 100);
  EXPECT_EQ(timeline.issue(Timeline::kLegacyStream, Engine::compute, 10, 0.1), 100);
}

TEST(Timeline, RunsKernelsSideBySideOnlyWhileTheirSharesFit) {
  Timeline timeline;
  const auto first = timeline.create_stream(false, 0), second = timeline.create_stream(false, 0),
             third = timeline.create_stream(false, 0);
  EXPECT_EQ(timeline.issue(first, Engine::compute, 100, 0.5), 0);
  EXPECT_EQ(timeline.issue(second, Engine::compute, 60, 0.5), 0);
  EXPECT_EQ(timeline.issue(third, Engine::compute, 10, 0.5), 60);
  EXPECT_EQ(timeline.issue(third, Engine::copy_to_device, 10), 70);
}

TEST(Timeline, MeasuresBetweenEventsOnlyWhenBothAreDone) {
  Timeline timeline;
  const auto start = timeline.create_event(true), stop = timeline.create_event(true);
  Picoseconds elapsed = -1;
  EXPECT_EQ(timeline.elapsed(start, stop, &elapsed), CudaError::invalid_resource_handle);
  timeline.record_event(start, 0);
  timeline.issue(0, Engine::compute, 1234);
  timeline.record_event(stop, 0);
  EXPECT_EQ(timeline.elapsed(start, stop, &elapsed), CudaError::not_ready);
  timeline.wait_until(*timeline.event_time(stop));
  EXPECT_EQ(timeline.elapsed(start, stop, &elapsed), CudaError::success);
  EXPECT_EQ(elapsed, 1234);
}

TEST(Timeline, HoldsAStreamBackUntilAnEvent) {
  Timeline timeline;
  const auto first = timeline.create_stream(false, 0), second = timeline.create_stream(false, 0);
  const auto event = timeline.create_event(false);
  timeline.issue(first, Engine::compute, 300, 0.1);
  timeline.record_event(event, first);
  EXPECT_EQ(timeline.stream_wait(second, event), CudaError::success);
  EXPECT_EQ(timeline.issue(second, Engine::compute, 1, 0.1), 300);
}

TEST(Timeline, PlacesANodeByItsDependenciesWhateverItsStreamHasToDo) {
  Timeline timeline;
  const auto stream = timeline.create_stream(false, 0);
  const auto event = timeline.create_event(true);
  timeline.issue(stream, Engine::compute, 1000, 0.1);
  timeline.begin_node(300);
  timeline.spend(50.0);
  EXPECT_EQ(timeline.now(), 0) << "a node costs the host nothing";
  EXPECT_EQ(timeline.issue(stream, Engine::compute, 40, 0.1), 300);
  timeline.record_event(event, stream);
  EXPECT_EQ(timeline.end_node(), 340);
  EXPECT_EQ(timeline.event_time(event), 340);
  EXPECT_EQ(timeline.ready(stream), 1000);
  timeline.hold(stream, 340);
  EXPECT_EQ(timeline.ready(stream), 1000);
  timeline.hold(stream, 2000);
  EXPECT_EQ(timeline.issue(stream, Engine::compute, 1, 0.1), 2000);
}

TEST(Timeline, HoldsANodeBackUntilAnEvent) {
  Timeline timeline;
  const auto first = timeline.create_stream(false, 0), second = timeline.create_stream(false, 0);
  const auto event = timeline.create_event(false);
  timeline.issue(first, Engine::compute, 500, 0.1);
  timeline.record_event(event, first);
  timeline.begin_node(20);
  EXPECT_EQ(timeline.stream_wait(second, event), CudaError::success);
  EXPECT_EQ(timeline.end_node(), 500);
  EXPECT_EQ(timeline.ready(second), 0);
}

TEST(Timeline, RunsNodesSideBySideOnlyWhileTheirSharesFit) {
  Timeline timeline;
  const auto stream = timeline.create_stream(false, 0);
  const auto node = [&](Picoseconds from, double share) {
    timeline.begin_node(from);
    timeline.issue(stream, Engine::compute, 100, share);
    return timeline.end_node();
  };
  EXPECT_EQ(node(0, 0.5), 100);
  EXPECT_EQ(node(0, 0.5), 100);
  EXPECT_EQ(node(0, 0.5), 200);
}

TEST(Timeline, RefusesHandlesThatDoNotExist) {
  Timeline timeline;
  EXPECT_EQ(timeline.destroy_stream(99), CudaError::invalid_resource_handle);
  EXPECT_EQ(timeline.destroy_stream(Timeline::kLegacyStream), CudaError::invalid_resource_handle);
  EXPECT_EQ(timeline.record_event(99, 0), CudaError::invalid_resource_handle);
  EXPECT_FALSE(timeline.event_time(99).has_value());
}

TEST(Timeline, TurnsAbsurdDurationsIntoBounds) {
  EXPECT_EQ(picoseconds(-1), 0);
  EXPECT_EQ(picoseconds(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_GT(picoseconds(std::numeric_limits<double>::infinity()), picoseconds(1e9));
  EXPECT_EQ(picoseconds(1.5), 1'500'000);
}

TEST(Timeline, StaysWithinBoundsOfMemoryAndTimeForManyOutstandingLaunches) {
  Timeline timeline;
  const auto stream = timeline.create_stream(false, 0);
  Picoseconds last = -1;
  for (int i = 0; i < 10'000; ++i) {
    const Picoseconds start = timeline.issue(stream, Engine::compute, 7, 0.3);
    EXPECT_GT(start, last);
    last = start;
  }
  EXPECT_EQ(timeline.all_done(), 70'000);
}

// However much lies between, a stream's work is not placed over another's that was issued before.
TEST(Timeline, NeverPutsWorkWhereManyPiecesOfOthersHaveRun) {
  for (const int pieces_between : {0, 100, 127, 128, 129, 1000}) {
    for (const double share : {1.0, 0.4, 1e-3}) {
      Timeline timeline;
      const auto first = timeline.create_stream(false, 0), late = timeline.create_stream(false, 0);
      const Picoseconds end = timeline.issue(first, Engine::compute, 1'000'000, 1.0) + 1'000'000;
      for (int i = 0; i < pieces_between; ++i) timeline.issue(first, Engine::compute, 1, share);
      EXPECT_GE(timeline.issue(late, Engine::compute, 500, 0.5), end)
          << pieces_between << " pieces of " << share;
    }
  }
}

TEST(Timeline, TakesAsLongAsTheSharesOfManyOutstandingPiecesAddUpTo) {
  for (const double share : {0.5, 0.25, 0.01}) {
    Timeline timeline;
    std::vector<std::uint64_t> streams;
    for (int i = 0; i < 300; ++i) streams.push_back(timeline.create_stream(false, 0));
    double sum = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      const Picoseconds duration = 100 + static_cast<Picoseconds>(i * 7919 % 1000);
      timeline.issue(streams[i * 31 % streams.size()], Engine::compute, duration, share);
      sum += share * static_cast<double>(duration);
    }
    EXPECT_GE(static_cast<double>(timeline.all_done()), sum) << share;
  }
}

// A graph's branch that starts in the past, since the host waited in a node before it.
TEST(Timeline, PutsNoNodeOverWorkThatTheHostHasWaitedFor) {
  Timeline timeline;
  const auto stream = timeline.create_stream(false, 0), other = timeline.create_stream(false, 0);
  timeline.issue(other, Engine::compute, 1000, 1.0);
  timeline.wait_until(timeline.all_done());
  timeline.issue(other, Engine::compute, 10, 0.1);
  timeline.begin_node(0);
  EXPECT_GE(timeline.issue(stream, Engine::compute, 500, 0.5), 1000);
  timeline.end_node();
}

}  // namespace
}  // namespace simgpu::timeline_test
