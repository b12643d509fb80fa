#include "grader/pipeline/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

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
  record.time.limiter = "dram";
  return record;
}

simgpu::MemoryRecord copy(const std::string& kind, std::uint64_t bytes, double start_us,
                          double time_us) {
  simgpu::MemoryRecord record;
  record.kind = kind;
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

TEST(Trace, ShowsEveryKernelAndCopyWhereAndAsLongAsItRan) {
  simgpu::Activity activity;
  activity.memory = {copy("copy host to device", 4096, 1.5, 2)};
  activity.kernels = {kernel("gemm(float*)", 4, 12.25), kernel("scale(float*)", 17, 3)};
  TraceLog log;
  log.add("gemm: square", activity);

  const auto spans = events(log, "X");
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].at("name"), "gemm(float*)");
  EXPECT_EQ(spans[0].at("ts"), 4.0);
  EXPECT_EQ(spans[0].at("dur"), 12.25);
  EXPECT_EQ(spans[0].at("args").at("grid"), "[4, 2, 1]");
  EXPECT_EQ(spans[0].at("args").at("block"), "[32, 8, 1]");
  EXPECT_EQ(spans[0].at("args").at("shared memory"), 1536);
  EXPECT_EQ(spans[0].at("args").at("theoretical occupancy %"), 50.0);
  EXPECT_EQ(spans[0].at("args").at("limiter"), "dram");
  EXPECT_EQ(spans[1].at("name"), "scale(float*)");
  EXPECT_EQ(spans[1].at("tid"), spans[0].at("tid")) << "kernels share a row";
  EXPECT_EQ(spans[2].at("name"), "copy host to device");
  EXPECT_EQ(spans[2].at("ts"), 1.5);
  EXPECT_EQ(spans[2].at("dur"), 2.0);
  EXPECT_EQ(spans[2].at("args").at("bytes"), 4096);
  EXPECT_NE(spans[2].at("tid"), spans[0].at("tid")) << "copies have a row of their own";
}

TEST(Trace, KeepsRunsApartAndNamesThem) {
  simgpu::Activity activity;
  activity.kernels = {kernel("gemm", 0, 1)};
  TraceLog log;
  log.add("gemm: square", activity);
  log.add("gemm: tall", activity);

  const auto spans = events(log, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_NE(spans[0].at("pid"), spans[1].at("pid"));
  const auto names = events(log, "M");
  const auto named = [&](const json& span, const std::string& what) {
    const auto found = std::ranges::find_if(names, [&](const json& name) {
      return name.at("name") == what && name.at("pid") == span.at("pid") &&
             name.at("tid") == span.at("tid");
    });
    return found == names.end() ? std::string() : found->at("args").at("name").get<std::string>();
  };
  EXPECT_EQ(named(spans[0], "process_name"), "gemm: square");
  EXPECT_EQ(named(spans[1], "process_name"), "gemm: tall");
  EXPECT_EQ(named(spans[0], "thread_name"), "kernels");
}

TEST(Trace, IsWellFormedWhateverAKernelIsNamed) {
  simgpu::Activity activity;
  activity.kernels = {kernel("gemm\"\xff\n", 0, 1)};
  TraceLog log;
  log.add("run", activity);
  EXPECT_EQ(events(log, "X").size(), 1U);
}

}  // namespace
}  // namespace rooflab
