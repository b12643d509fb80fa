#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simgpu/device/launch_rules.h"
#include "simgpu/device/timeline.h"
#include "simgpu/model/testing/described_gpu.h"
#include "simgpu/model/time_model.h"

// A grid that is cut into several launches on streams of their own.
namespace simgpu::device_share_test {
namespace {

/// What one warp of a kernel does, all warps being alike.
struct Warp {
  const char* what = "";
  unsigned fp32 = 0, integer = 0, wavefronts = 0, loads = 0, sectors = 0, dram_bytes = 0;
  unsigned barriers = 0;
  unsigned chain = 0;  ///< instructions of which each needs the one before
  unsigned registers = 32;
};

struct Launch {
  LaunchShape shape;
  KernelCounters counters;
  std::vector<InstructionInfo> program;
  std::vector<ExecutionCount> executed;

  Launch(const Warp& warp, std::uint32_t blocks, std::uint32_t threads) {
    shape.grid = {blocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.registers_per_thread = warp.registers;
    const std::uint64_t warps = std::uint64_t{blocks} * threads / 32;
    counters.shared_load_wavefronts = warps * warp.wavefronts;
    counters.global_load_requests = counters.l1_tag_lookups = warps * warp.loads;
    counters.global_load_sectors = counters.l2_read_sectors = warps * warp.sectors;
    counters.dram_read_bytes = warps * warp.dram_bytes;
    add(InstructionClass::fp32, 1, 0, warps * warp.fp32);
    add(InstructionClass::integer, 2, 0, warps * warp.integer);
    add(InstructionClass::fp32, 3, 3, warps * warp.chain);
    add(InstructionClass::barrier, 4, 0, warps * warp.barriers);
  }
  void add(InstructionClass cls, std::uint32_t writes, std::uint32_t reads, std::uint64_t times) {
    InstructionInfo info;
    info.cls = cls;
    info.writes = {writes};
    info.reads = {reads};
    info.starts_block = true;
    program.push_back(info);
    executed.push_back({times, 32 * times});
  }
  TimeBreakdown time(const gpu_spec::GpuSpec& gpu) const {
    return predict_time(counters, shape, {program, executed}, gpu);
  }
  double share(const gpu_spec::GpuSpec& gpu) const {
    return device_share(shape, time(gpu), device_time_us(counters, shape, {program, executed}, gpu),
                        gpu);
  }
};

const std::vector<Warp>& kinds_of_work() {
  static const std::vector<Warp> kinds = {
      {.what = "fp32", .fp32 = 20000},
      {.what = "integer", .integer = 20000},
      {.what = "issue", .fp32 = 9000, .integer = 9000, .loads = 2000},
      {.what = "shared", .fp32 = 4000, .wavefronts = 10000},
      {.what = "shared between barriers", .fp32 = 4000, .wavefronts = 10000, .barriers = 100},
      {.what = "l1", .fp32 = 1000, .loads = 10000, .sectors = 40000},
      {.what = "l2", .fp32 = 1000, .loads = 2000, .sectors = 60000},
      {.what = "dram", .fp32 = 100, .loads = 1000, .sectors = 4000, .dram_bytes = 128000},
      {.what = "latency", .chain = 20000},
      {.what = "latency and fp32", .fp32 = 12000, .chain = 6000},
      {.what = "fp32, few resident", .fp32 = 20000, .registers = 255},
  };
  return kinds;
}

/// How long a grid takes in launches of `piece` blocks, each on a stream of its own.
double split_us(const Warp& warp, std::uint32_t blocks, std::uint32_t threads, std::uint32_t piece,
                const gpu_spec::GpuSpec& gpu) {
  Timeline timeline;
  for (std::uint32_t first = 0; first < blocks; first += piece) {
    const Launch part(warp, std::min(piece, blocks - first), threads);
    timeline.issue(timeline.create_stream(false, 0), Timeline::Engine::compute,
                   picoseconds(part.time(gpu).total_us), part.share(gpu));
  }
  return microseconds(timeline.all_done());
}

TEST(DeviceShareTest, AGridInPiecesOnStreamsIsNoFasterThanInOneLaunch) {
  for (const char* id : {"a100", "t4", "a6000"}) {
    const gpu_spec::GpuSpec gpu = described_gpu(id);
    const auto sms = static_cast<std::uint32_t>(gpu.sm_count);
    for (const Warp& warp : kinds_of_work()) {
      for (const std::uint32_t threads : {64, 256, 1024}) {
        const Launch shape(warp, 1, threads);
        // Whole waves, so that the one launch has no tail that pieces could fill.
        const std::uint32_t blocks = 4 * sms * occupancy(shape.shape, gpu).blocks_per_sm;
        const TimeBreakdown whole = Launch(warp, blocks, threads).time(gpu);
        constexpr double kTurnovers = 3 * 430;  // cycles between the four waves
        const double least =
            whole.total_us - whole.launch_us - kTurnovers / gpu.clock_under_load_mhz();
        for (const std::uint32_t piece : {sms / 2, sms, 2 * sms, 5 * sms / 2, blocks / 2, blocks}) {
          EXPECT_GE(split_us(warp, blocks, threads, piece, gpu), least)
              << warp.what << " on " << id << ", blocks of " << threads << ", pieces of " << piece
              << " of " << blocks;
        }
      }
    }
  }
}

TEST(DeviceShareTest, KernelsThatLeaveMultiprocessorsIdleRunSideBySide) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  const auto a_quarter = static_cast<std::uint32_t>(gpu.sm_count) / 4;
  for (const Warp& warp : kinds_of_work()) {
    if (warp.sectors != 0) continue;  // L2 and DRAM are everybody's
    const double one = Launch(warp, a_quarter, 256).time(gpu).total_us;
    EXPECT_LT(split_us(warp, 4 * a_quarter, 256, a_quarter, gpu), 1.01 * one) << warp.what;
  }
}

TEST(DeviceShareTest, WhileOneWarpWaitsForItsOwnResultsThoseOfOtherKernelsRun) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  const Warp warp{.what = "latency", .chain = 20000};
  const auto sms = static_cast<std::uint32_t>(gpu.sm_count);
  const double one = Launch(warp, sms, 32).time(gpu).total_us;
  EXPECT_LT(split_us(warp, 4 * sms, 32, sms, gpu), 1.01 * one);
}

TEST(DeviceShareTest, WhatCrossesPcieIsSharedToo) {
  const gpu_spec::GpuSpec gpu = described_gpu("a100");
  const Launch launch({.what = "latency", .chain = 100}, 10, 32);
  TimeBreakdown time = launch.time(gpu);
  time.terms[Limiter::host_loads] = time.total_us = 100;
  EXPECT_EQ(device_share(launch.shape, time, 1, gpu), 1);
}

}  // namespace
}  // namespace simgpu::device_share_test
