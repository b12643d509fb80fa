#include "simgpu/device/guest_activity.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace simgpu::guest_activity_test {
namespace {

using protocol::ActivityEntry;
using protocol::ActivityKind;
using ::testing::ElementsAre;

struct Taken {
  std::uint64_t dropped = 0;
  std::vector<ActivityEntry> entries;
  std::vector<std::string> names;
};

Taken take(GuestActivity& activity, std::size_t most = protocol::kChunkBytes) {
  wire::Writer writer;
  activity.take(writer, most);
  wire::Reader reader(writer.bytes());
  Taken taken{.dropped = reader.get<std::uint64_t>(), .entries = {}, .names = {}};
  std::size_t left = writer.bytes().size() - sizeof taken.dropped;
  while (left > 0) {
    taken.entries.push_back(reader.get<ActivityEntry>());
    taken.names.push_back(reader.get_string(protocol::kMaxName));
    left -= sizeof(ActivityEntry) + sizeof(std::uint32_t) + taken.names.back().size();
  }
  return taken;
}

KernelRecord kernel(const std::string& name, double start_us, double time_us) {
  KernelRecord record;
  record.name = name;
  record.start_us = start_us;
  record.time.total_us = time_us;
  return record;
}

TEST(GuestActivity, TellsWhatAWatchedLogWasGiven) {
  ActivityLog log;
  GuestActivity activity;
  log.add(kernel("before", 0, 1));
  log.watch(&activity);
  log.begin_call("cudaMemcpyAsync", 2.0);
  KernelRecord counted = kernel("counted", 2.5, 4.25);
  counted.counters.flops = {{"fp32", 10}, {"fp64", 5}};
  counted.counters.dram_read_bytes = 100;
  counted.counters.dram_write_bytes = 20;
  log.add(counted);
  MemoryRecord copy;
  copy.operation = MemoryOperation::copy_to_host;
  copy.bytes = 77;
  log.add(copy);
  log.end_call(3.0, CudaError::invalid_value);
  log.watch(nullptr);
  log.add(kernel("after", 9, 1));

  const Taken taken = take(activity);
  EXPECT_THAT(taken.names, ElementsAre("counted", "copy device to host", "cudaMemcpyAsync"));
  ASSERT_EQ(taken.entries.size(), 3u);
  EXPECT_EQ(taken.entries[0].kind, ActivityKind::kernel);
  EXPECT_EQ(taken.entries[0].start_ns, 2500u);
  EXPECT_EQ(taken.entries[0].end_ns, 6750u);
  EXPECT_EQ(taken.entries[0].flops, 15u);
  EXPECT_EQ(taken.entries[0].dram_bytes, 120u);
  EXPECT_EQ(taken.entries[1].direction, protocol::CopyDirection::from_device);
  EXPECT_EQ(taken.entries[1].bytes, 77u);
  EXPECT_EQ(taken.entries[1].asynchronous, 1u);
  EXPECT_EQ(taken.entries[2].end_ns, 3000u);
  EXPECT_EQ(taken.entries[2].error, static_cast<std::uint32_t>(CudaError::invalid_value));
  for (const ActivityEntry& entry : taken.entries) EXPECT_EQ(entry.correlation, 1u);
  EXPECT_TRUE(take(activity).entries.empty()) << "what was taken is gone";
}

TEST(GuestActivity, CountsWhatDoesNotFitAndGoesOnOnceThereIsRoom) {
  GuestActivity activity;
  const KernelRecord record = kernel(std::string(3000, 'k'), 0, 1);
  constexpr std::size_t kMany = 6000;  // 18 MB, over the bound of 16 MiB
  for (std::size_t i = 0; i < kMany; ++i) activity.see(record, {});
  std::size_t taken = 0;
  Taken first = take(activity);
  const std::uint64_t dropped = first.dropped;
  for (Taken more = first; !more.entries.empty(); more = take(activity)) {
    if (taken != 0) {
      EXPECT_EQ(more.dropped, 0u) << "told twice";
    }
    taken += more.entries.size();
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(taken + dropped, kMany);
  activity.see(record, {});
  EXPECT_EQ(take(activity).entries.size(), 1u);
}

TEST(GuestActivity, FitsEveryAnswerIntoOneMessage) {
  GuestActivity activity;
  for (int i = 0; i < 100; ++i) activity.see(kernel(std::string(100'000, 'n'), 0, 1), {});
  std::size_t entries = 0;
  for (Taken chunk = take(activity, 20'000); !chunk.entries.empty();
       chunk = take(activity, 20'000)) {
    std::size_t bytes = 0;
    for (const std::string& name : chunk.names) bytes += sizeof(ActivityEntry) + name.size();
    EXPECT_LE(bytes, 20'000u);
    entries += chunk.entries.size();
  }
  EXPECT_EQ(entries, 100u) << "names are cut rather than lost";
}

TEST(ActivityLogTest, TellsTheGuestTheFunctionAndAReaderOfTheTraceALaunch) {
  GuestActivity activity;
  ActivityLog log;
  log.watch(&activity);
  log.begin_call("cudaLaunchKernel", 0);
  log.rename_call("__cudaLaunchKernel");
  log.end_call(1, CudaError::success);
  EXPECT_THAT(take(activity).names, ElementsAre("__cudaLaunchKernel"));
  EXPECT_EQ(log.activity().calls.at(0).name, "cudaLaunchKernel");
}

TEST(ActivityLogTest, AGraphLaunchCoversWhatItsCallIssuesAndItsContinuation) {
  ActivityLog log;
  log.begin_call("cudaGraphLaunch", 0);
  log.begin_graph_launch();
  log.add(kernel("first node", 0, 1));
  log.end_call(1, CudaError::success);
  log.add(kernel("after a host node", 2, 1));
  log.begin_call("cudaLaunchKernel", 3);
  log.add(kernel("between", 3, 1));
  log.end_call(4, CudaError::success);
  log.end_graph_launch();
  log.add(kernel("outside", 5, 1));

  const auto& kernels = log.activity().kernels;
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[0].graph_launch, 1u);
  EXPECT_EQ(kernels[1].graph_launch, 1u);
  EXPECT_EQ(kernels[1].correlation, kernels[0].correlation);
  EXPECT_EQ(kernels[2].graph_launch, 0u) << "a call of its own cannot hide in a graph";
  EXPECT_NE(kernels[2].correlation, kernels[0].correlation);
  EXPECT_EQ(kernels[3].graph_launch, 0u);
  EXPECT_EQ(host_launches(log.activity()), 3u);
}

}  // namespace
}  // namespace simgpu::guest_activity_test
