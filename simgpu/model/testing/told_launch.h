#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simgpu/model/latency.h"
#include "simgpu/model/time_model.h"
#include "simgpu/model/warp_path.h"

namespace simgpu {

/// A launch told instruction by instruction, each executed by every warp the same number of times.
struct ToldLaunch {
  LaunchShape shape;
  KernelCounters counters;
  std::vector<InstructionInfo> program;
  std::vector<ExecutionCount> executed;
  WorkBalance balance;
  std::vector<InstructionSpills> spills;
  LoadCountsByPc loads;

  ToldLaunch(std::uint32_t blocks, std::uint32_t threads, unsigned registers = 32) {
    shape.grid = {blocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.registers_per_thread = registers;
  }
  std::uint64_t warps() const { return shape.grid.count() * ((shape.block.count() + 31) / 32); }

  /// Appends an instruction that every warp executes `times` times. A basic block leads to the
  /// next.
  ToldLaunch& add(InstructionClass cls, std::vector<std::uint32_t> writes,
                  std::vector<std::uint32_t> reads, double times = 1, bool starts_block = false) {
    InstructionInfo info;
    info.cls = cls;
    info.writes = std::move(writes);
    info.reads = std::move(reads);
    info.starts_block = starts_block || program.empty();
    if (info.starts_block && !program.empty()) {
      program[block_begin_].leads_to.push_back(static_cast<std::uint32_t>(program.size()));
      block_begin_ = program.size();
    }
    program.push_back(std::move(info));
    const auto count = static_cast<std::uint64_t>(times * static_cast<double>(warps()));
    executed.push_back({count, 32 * count});
    return *this;
  }

  /// The last block may lead back to the one that begins with instruction `target`.
  ToldLaunch& loop_to(std::uint32_t target) {
    program[block_begin_].leads_to.push_back(target);
    return *this;
  }

  ExecutedProgram told() const { return {program, executed, balance, spills, loads}; }
  model::Work work(const gpu_spec::GpuSpec& gpu) const {
    return model::gather(counters, shape, told(), gpu);
  }
  TimeBreakdown on(const gpu_spec::GpuSpec& gpu) const {
    return predict_time(counters, shape, told(), gpu);
  }
  double cycles(const gpu_spec::GpuSpec& gpu) const { return model::warp_cycles(work(gpu)); }

 private:
  std::size_t block_begin_ = 0;
};

}  // namespace simgpu
