#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simgpu/model/latency.h"
#include "simgpu/model/time_model.h"

namespace simgpu {

/// A launch told instruction by instruction, each executed by every warp the same number of times.
struct ToldLaunch {
  LaunchShape shape;
  KernelCounters counters;
  std::vector<InstructionInfo> program;
  std::vector<ExecutionCount> executed;

  ToldLaunch(std::uint32_t blocks, std::uint32_t threads) {
    shape.grid = {blocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.registers_per_thread = 32;
  }
  std::uint64_t warps() const { return shape.grid.count() * ((shape.block.count() + 31) / 32); }

  /// All in one basic block.
  ToldLaunch& add(InstructionClass cls, std::vector<std::uint32_t> writes,
                  std::vector<std::uint32_t> reads, std::uint64_t times = 1) {
    InstructionInfo info;
    info.cls = cls;
    info.writes = std::move(writes);
    info.reads = std::move(reads);
    info.starts_block = program.empty();
    program.push_back(info);
    executed.push_back({times * warps(), 32 * times * warps()});
    return *this;
  }

  model::Work work(const gpu_spec::GpuSpec& gpu) const {
    return model::gather(counters, shape, program, executed, gpu);
  }
  TimeBreakdown on(const gpu_spec::GpuSpec& gpu) const {
    return predict_time(counters, shape, program, executed, gpu);
  }
  double cycles(const gpu_spec::GpuSpec& gpu) const { return model::warp_cycles(work(gpu)); }
};

}  // namespace simgpu
