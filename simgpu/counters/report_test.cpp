#include "simgpu/report.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "simgpu/isa/instruction_info.h"

namespace simgpu::report_test {
namespace {

TEST(ReportTest, FindingKindsAreSpelledAsInTheReport) {
  EXPECT_STREQ(name_of(FindingKind::out_of_bounds), "out-of-bounds");
  EXPECT_STREQ(name_of(FindingKind::uninitialized_read), "uninitialized-read");
  EXPECT_STREQ(name_of(FindingKind::invalid_api_use), "invalid-api-use");
  std::set<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(FindingKind::too_long); ++kind) {
    names.insert(name_of(static_cast<FindingKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(FindingKind::too_long) + 1);
}

TEST(ReportTest, EveryInstructionClassHasItsOwnName) {
  std::set<std::string> names;
  for (int cls = 0; cls < kInstructionClasses; ++cls) {
    names.insert(name_of(static_cast<InstructionClass>(cls)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kInstructionClasses));
}

TEST(ReportTest, AGraphIsOneLaunchOfTheHostHoweverManyNodesItHas) {
  Activity activity;
  EXPECT_EQ(host_launches(activity), 0u);
  for (const std::uint64_t graph_launch : {0, 1, 1, 1, 0, 2}) {
    activity.kernels.emplace_back().graph_launch = graph_launch;
  }
  activity.memory.emplace_back().graph_launch = 2;
  EXPECT_EQ(host_launches(activity), 4u);           // two kernels and two graphs
  activity.memory.emplace_back().graph_launch = 3;  // a graph of copies alone
  activity.memory.emplace_back();                   // a copy is no launch
  EXPECT_EQ(host_launches(activity), 5u);
}

TEST(ReportTest, CountersCarryNsightsNames) {
  KernelRecord record;
  record.grid = {4, 2, 1};
  record.block = {32, 4, 1};
  record.time.total_us = 12.5;
  KernelCounters& c = record.counters;
  c.warp_instructions = 10;
  c.thread_instructions = 250;
  c.global_load_requests = 2;
  c.global_load_sectors = 8;
  c.l1_hit_sectors = 2;
  c.l2_read_sectors = 6;
  c.l2_hit_sectors = 3;
  c.dram_read_bytes = 96;
  c.shared_load_wavefronts = 7;
  c.ffma = 99;
  const std::map<std::string, double> named = nsight_counters(record);
  EXPECT_EQ(named.at("launch__grid_size"), 8);
  EXPECT_EQ(named.at("launch__block_size"), 128);
  EXPECT_EQ(named.at("gpu__time_duration.sum"), 12500) << "nanoseconds";
  EXPECT_EQ(named.at("smsp__inst_executed.sum"), 10);
  EXPECT_EQ(named.at("smsp__thread_inst_executed_per_inst_executed.ratio"), 25);
  EXPECT_EQ(named.at("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), 99);
  EXPECT_EQ(named.at("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), 4);
  EXPECT_EQ(named.at("l1tex__t_sector_hit_rate.pct"), 25);
  EXPECT_EQ(named.at("lts__t_sector_hit_rate.pct"), 50);
  EXPECT_EQ(named.at("dram__bytes_read.sum"), 96);
  EXPECT_EQ(named.at("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 7);
}

TEST(ReportTest, ALaunchThatDidNothingHasFiniteRatios) {
  for (const auto& [name, value] : nsight_counters({})) EXPECT_TRUE(std::isfinite(value)) << name;
}

}  // namespace
}  // namespace simgpu::report_test
