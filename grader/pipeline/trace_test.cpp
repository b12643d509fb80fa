#include "grader/pipeline/trace.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "labs/toolkit/testing/trace_rules.h"

namespace rooflab {
namespace {

using nlohmann::json;

simgpu::KernelRecord kernel(const std::string& name, double start_us, double total_us) {
  simgpu::KernelRecord record;
  record.name = name;
  record.grid = {4, 2, 1};
  record.block = {32, 8, 1};
  record.registers_per_thread = 40;
  record.static_shared_bytes = 1024;
  record.dynamic_shared_bytes = 512;
  record.theoretical_occupancy = 0.5;
  record.start_us = start_us;
  record.time.total_us = total_us;
  record.time.limiter = simgpu::Limiter::dram;
  return record;
}

simgpu::MemoryRecord copy(simgpu::MemoryOperation operation, std::uint64_t bytes, double start_us,
                          double time_us) {
  simgpu::MemoryRecord record;
  record.operation = operation;
  record.bytes = bytes;
  record.start_us = start_us;
  record.time_us = time_us;
  return record;
}

/// The events of one kind: "X" are spans, "M" are names.
std::vector<json> events(const TraceLog& log, const std::string& phase) {
  const json document = json::parse(log.to_json());
  std::vector<json> chosen;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) chosen.push_back(event);
  }
  return chosen;
}

gpu_spec::GpuSpec small_gpu() {
  gpu_spec::GpuSpec gpu;
  gpu.name = "a small GPU";
  gpu.sm_count = 4;
  gpu.max_threads_per_sm = 1024;
  return gpu;
}

simgpu::ApiRecord call(const std::string& name, double start_us, double time_us,
                       std::uint64_t correlation) {
  simgpu::ApiRecord record;
  record.name = name;
  record.start_us = start_us;
  record.time_us = time_us;
  record.correlation = correlation;
  return record;
}

TEST(Trace, ShowsEveryKernelAndCopyWhereAndAsLongAsItRan) {
  simgpu::Activity activity;
  activity.memory = {copy(simgpu::MemoryOperation::copy_to_device, 4096, 1.5, 2)};
  activity.kernels = {kernel("gemm(float*)", 4, 12.25), kernel("scale(float*)", 17, 3)};
  activity.kernels[0].blocks_per_sm = 1;  // resident, of the two that each multiprocessor gets
  TraceLog log(small_gpu());
  log.add("gemm: square", activity);

  const auto spans = events(log, "X");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].at("name"), "copy host to device");
  EXPECT_EQ(spans[0].at("ts"), 1.5);
  EXPECT_EQ(spans[0].at("dur"), 2.0);
  EXPECT_EQ(spans[0].at("args").at("bytes"), 4096);
  EXPECT_EQ(spans[1].at("name"), "gemm(float*)");
  EXPECT_EQ(spans[1].at("ts"), 4.0);
  EXPECT_EQ(spans[1].at("dur"), 12.25);
  EXPECT_EQ(spans[1].at("args").at("grid"), json({4, 2, 1}));
  EXPECT_EQ(spans[1].at("args").at("block"), json({32, 8, 1}));
  EXPECT_EQ(spans[1].at("args").at("shared memory"), 1536);
  EXPECT_EQ(spans[1].at("args").at("blocks per SM"), 2.0);
  EXPECT_EQ(spans[1].at("args").at("warps per SM"), 16.0);
  EXPECT_EQ(spans[1].at("args").at("est. achieved occupancy %"), 25.0);
  EXPECT_EQ(spans[1].at("args").at("limiter"), "dram");
  EXPECT_EQ(spans[2].at("name"), "scale(float*)");
  EXPECT_EQ(spans[2].at("tid"), spans[1].at("tid")) << "one stream, one row";
  EXPECT_THAT(TraceRules::faults(log.to_json()), ::testing::IsEmpty());
}

TEST(Trace, JoinsEachCallWithWhatItIssued) {
  simgpu::Activity activity;
  activity.calls = {call("cudaLaunchKernel", 1, 2, 7), call("cudaGraphLaunch", 3, 2.5, 8),
                    call("cudaDeviceSynchronize", 5.5, 20, 9)};
  activity.kernels = {kernel("alone", 3, 1), kernel("left", 6, 10), kernel("right", 7, 10)};
  activity.kernels[0].correlation = 7;
  for (const std::size_t node : {1u, 2u}) {
    activity.kernels[node].correlation = 8;
    activity.kernels[node].graph_launch = 1;
    activity.kernels[node].stream = 2;
  }
  TraceLog log(small_gpu());
  log.add("graph", activity);

  EXPECT_THAT(TraceRules::faults(log.to_json()), ::testing::IsEmpty());
  EXPECT_EQ(events(log, "s").size(), 3U);
  std::vector<std::string> rows;
  for (const json& name : events(log, "M")) {
    if (name.at("name") == "thread_name") rows.push_back(name.at("args").at("name"));
  }
  EXPECT_THAT(rows, ::testing::ElementsAre("thread 0", "stream 0", "stream 2", "stream 2 (2)"))
      << "nodes that overlap have a line each";
}

TEST(Trace, KeepsRunsApartAndNamesThem) {
  simgpu::Activity activity;
  activity.kernels = {kernel("gemm", 0, 1)};
  TraceLog log(small_gpu());
  log.add("gemm: square", activity);
  log.add("gemm: tall", activity);

  const auto spans = events(log, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_NE(spans[0].at("pid"), spans[1].at("pid"));
  const auto names = events(log, "M");
  const auto process_name = [&](const json& span) {
    const auto found = std::ranges::find_if(names, [&](const json& name) {
      return name.at("name") == "process_name" && name.at("pid") == span.at("pid");
    });
    return found == names.end() ? std::string() : found->at("args").at("name").get<std::string>();
  };
  EXPECT_EQ(process_name(spans[0]), "gemm: square: a small GPU (modelled time)");
  EXPECT_EQ(process_name(spans[1]), "gemm: tall: a small GPU (modelled time)");
}

TEST(Trace, IsWellFormedWhateverAKernelIsNamed) {
  simgpu::Activity activity;
  activity.kernels = {kernel("gemm\"\xff\n", 0, 1)};
  TraceLog log(small_gpu());
  log.add("run", activity);
  EXPECT_EQ(events(log, "X").size(), 1U);
  EXPECT_THAT(TraceRules::faults(log.to_json()), ::testing::IsEmpty());
}

}  // namespace
}  // namespace rooflab
