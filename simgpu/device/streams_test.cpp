#include "simgpu/device/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace simgpu::streams_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

gpu_spec::GpuSpec gpu() {
  gpu_spec::GpuSpec gpu;
  gpu.launch_overhead_us = 3;
  return gpu;
}

/// With as little of a device as it takes.
class StreamsTest : public ::testing::Test {
 protected:
  std::vector<std::string> codes() const {
    std::vector<std::string> all;
    for (const Finding& finding : log_.activity().findings) {
      all.emplace_back(finding.code.text());
    }
    return all;
  }
  /// A fill on a stream.
  void fill(std::uint64_t stream) {
    streams_.issue(stream, Timeline::Engine::compute, 100, nullptr);
    ASSERT_TRUE(streams_.watches(stream));
    streams_.note_work({.kind = StreamWork::fill,
                        .name = "a memset",
                        .ranges = {{.begin = address_, .end = address_ + 256, .writes = true}}});
  }

  const gpu_spec::GpuSpec gpu_ = gpu();
  DeviceOptions options_;
  DeviceMemory memory_{std::uint64_t{1} << 24};
  Timeline timeline_;
  ActivityLog log_;
  MemoryPools pools_;
  LoadedModules modules_{gpu_, options_, memory_, log_};
  Streams streams_{gpu_, options_, memory_, timeline_, log_, modules_, pools_};
  std::uint64_t address_ = memory_.allocate(256, "cudaMalloc").value();
};

TEST_F(StreamsTest, StartANodeBehindAnotherSooner) {
  EXPECT_EQ(streams_.timed_gpu().launch_overhead_us, 3);
  streams_.begin_node(0, false, {});
  EXPECT_EQ(streams_.timed_gpu().launch_overhead_us, 3) << "a graph's first";
  streams_.end_node();
  streams_.begin_node(0, true, {});
  EXPECT_EQ(streams_.timed_gpu().launch_overhead_us, GraphCost::kNode);
  streams_.end_node();
  EXPECT_EQ(streams_.timed_gpu().launch_overhead_us, 3);
}

TEST_F(StreamsTest, AreWatchedWhereTheyCanRace) {
  EXPECT_FALSE(streams_.watches(Timeline::kLegacyStream));
  const std::uint64_t one = timeline_.create_stream(false, 0);
  EXPECT_TRUE(streams_.watches(one));
  options_.checkers = false;
  EXPECT_FALSE(streams_.watches(one));
}

TEST_F(StreamsTest, TellOfWorkThatNothingOrders) {
  const std::uint64_t one = timeline_.create_stream(false, 0);
  const std::uint64_t other = timeline_.create_stream(false, 0);
  fill(one);
  fill(one);
  streams_.host_waited_for_stream(one);
  fill(other);
  EXPECT_THAT(codes(), IsEmpty());
  fill(one);
  EXPECT_THAT(codes(), ElementsAre("RL0315"));
}

TEST_F(StreamsTest, HoldWorkAgainstTheCallers) {
  options_.sampled = true;  // nothing else is looked for
  const std::uint64_t callers = timeline_.create_callers_stream();
  const std::uint64_t own = timeline_.create_stream(false, 0);
  EXPECT_FALSE(streams_.watches(own));
  streams_.note_callers_work({{address_, 256}}, true);
  EXPECT_FALSE(streams_.watches(callers));
  fill(own);
  EXPECT_THAT(codes(), ElementsAre("RL0325"));
}

TEST_F(StreamsTest, TellOfSourcesThatTheHostChangesTooEarly) {
  const SharedBlock block = memory_.allocate_shared(256, "cudaMallocHost", Sharing::pinned).value();
  const auto copy = [&] {
    streams_.issue(Timeline::kLegacyStream, Timeline::Engine::copy_to_device, 100, nullptr);
    streams_.note_host_side({block.address, 256, 256, 1}, true, false);
  };
  copy();
  streams_.host_waited_for_all();
  std::memset(memory_.host(block.address), 1, 256);
  streams_.report_changed_sources();
  EXPECT_THAT(codes(), IsEmpty());
  copy();
  std::memset(memory_.host(block.address) + 8, 2, 4);
  streams_.report_changed_sources();
  EXPECT_THAT(codes(), ElementsAre("RL0320"));
  EXPECT_THAT(log_.activity().findings[0].message, HasSubstr("byte 8 of 256"));
}

}  // namespace
}  // namespace simgpu::streams_test
