#include "simgpu/model/latency.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "simgpu/model/local_memory.h"

namespace simgpu::model {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

/// Of loads that L1, and L2 of the others, serve these shares of.
double latency_by_shares(const Work& work, double l1, double l2) {
  // DRAM does not slow down with the SMs, whose cycles at the boost clock latencies are told in.
  const double behind_l2 =
      (work.gpu.dram_latency - work.gpu.l2_latency) / work.gpu.slowdown_under_load();
  const double beyond = work.gpu.l2_latency + (1 - l2) * behind_l2;
  return l1 * work.gpu.l1_latency + (1 - l1) * beyond;
}

/// Global loads wait for L1, L2 or DRAM in the proportion in which these served the launch.
double global_latency(const Work& work) {
  const KernelCounters& c = work.counters;
  return latency_by_shares(work, ratio(c.l1_hit_sectors, c.global_load_sectors),
                           ratio(c.l2_hit_sectors, c.l2_read_sectors + c.l2_write_sectors));
}

double local_latency(const Work& work) {
  const LocalShares shares = local_shares(work);
  return latency_by_shares(work, shares.l1, shares.l2);
}

/// The constant cache gives out one word after the other.
double constant_latency(const Work& work) {
  const KernelCounters& c = work.counters;
  const double words = static_cast<double>(c.constant_load_wavefronts);
  const double requests = static_cast<double>(c.constant_load_requests);
  return work.gpu.l1_latency + (requests > 0 ? words / requests - 1 : 0);
}

/// A conflict delays the data by the wavefronts that come before it.
double shared_latency(const Work& work) {
  const KernelCounters& c = work.counters;
  const double requests = static_cast<double>(c.shared_load_requests);
  const double conflicts = static_cast<double>(c.shared_load_bank_conflicts);
  return work.gpu.shared_latency + (requests > 0 ? conflicts / requests : 0);
}

/// Follows one warp through the program.
class Warp {
 public:
  explicit Warp(const Work& work) : work_(work) {
    for (int cls = 0; cls < kInstructionClasses; ++cls) {
      latency_[cls] = latency_of(static_cast<InstructionClass>(cls), work);
    }
  }

  /// Cycles to start all instructions of [first, last), a basic block.
  double run(std::size_t first, std::size_t last) {
    const double begin = now_;
    double issued = 0;
    double latest = now_;  // no instruction of the stretch starts later
    for (std::size_t i = first; i < last; ++i) {
      const InstructionInfo& instruction = work_.program[i];
      const double start = step(instruction);
      if (!instruction.issues) continue;
      const double slots = issue_slots(instruction);
      issued += slots;
      latest = std::max(latest, start + slots);
      if (const double ready = follow_copies(instruction, start); ready > 0) {
        now_ = std::max({now_ + issued, latest, ready});
        issued = 0;
        latest = now_;
        continue;
      }
      // Nothing moves across a barrier, and nothing passes before it is through.
      if (instruction.cls != InstructionClass::barrier) continue;
      now_ = std::max(now_ + issued, latest - 1 + latency_[static_cast<int>(instruction.cls)]);
      issued = 0;
      latest = now_;
    }
    now_ = std::max(now_ + issued, latest);
    return now_ - begin;
  }

 private:
  /// Asynchronous copies: for a wait, when what it waits for is done; 0 for other instructions.
  double follow_copies(const InstructionInfo& instruction, double start) {
    switch (instruction.async_step) {
      case AsyncStep::copy:
        open_group_ = std::max(open_group_, start + latency_[static_cast<int>(instruction.cls)]);
        return 0;
      case AsyncStep::wait_all:
      case AsyncStep::commit:
        groups_.push_back(std::exchange(open_group_, 0));
        break;
      case AsyncStep::wait:
        break;
      case AsyncStep::none:
        return 0;
    }
    if (instruction.async_step == AsyncStep::commit) return 0;
    double ready = start + 1;
    for (; groups_.size() > instruction.groups_under_way; groups_.pop_front()) {
      ready = std::max(ready, groups_.front());
    }
    return ready;
  }

  /// When the instruction can start, at the earliest; its results follow by its latency.
  double step(const InstructionInfo& instruction) {
    double start = now_;
    for (const std::uint32_t slot : instruction.reads) {
      const auto written = ready_.find(slot);
      if (written != ready_.end()) start = std::max(start, written->second);
    }
    // What the assembler folds away passes its operand on at once.
    const double latency = instruction.issues ? latency_of_result(instruction) : 0;
    for (const std::uint32_t slot : instruction.writes) ready_[slot] = start + latency;
    return start;
  }

  /// That of the chain, where the assembler makes several instructions of it.
  double latency_of_result(const InstructionInfo& instruction) const {
    const auto of = [&](InstructionClass cls) { return latency_[static_cast<std::size_t>(cls)]; };
    const MachineSequence& sequence = instruction.sequence;
    if (sequence.empty()) return of(instruction.cls);
    return sequence.chained_simple * of(InstructionClass::integer) +
           sequence.chained_special * of(InstructionClass::special) +
           sequence.chained_fp64 * of(InstructionClass::fp64);
  }

  const Work& work_;
  double latency_[kInstructionClasses];
  double now_ = 0;
  std::unordered_map<std::uint32_t, double> ready_;  // by register slot
  double open_group_ = 0;      // when the asynchronous copies since the last commit are done
  std::deque<double> groups_;  // the same of committed groups that nothing has waited for
};

}  // namespace

double latency_of(InstructionClass cls, const Work& work) {
  const gpu_spec::GpuSpec& gpu = work.gpu;
  switch (cls) {
    case InstructionClass::fp32:
    case InstructionClass::integer:
    case InstructionClass::fp16:
    case InstructionClass::move:
    case InstructionClass::other:
      return gpu.alu_latency;
    case InstructionClass::fp64:
      // GPUs with few fp64 lanes pass a warp through them piece by piece.
      return 2 * gpu.alu_latency + 32.0 / gpu.fp64_lanes_per_sm;
    case InstructionClass::control:
      return 2 * gpu.alu_latency;
    case InstructionClass::conversion:
    case InstructionClass::special:
      return 4 * gpu.alu_latency;
    case InstructionClass::tensor:
      return 8 * gpu.alu_latency;
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::shared_atomic:
    case InstructionClass::generic_access:
      return shared_latency(work);
    case InstructionClass::barrier:
    case InstructionClass::warp_exchange:
      return gpu.shared_latency;
    case InstructionClass::global_load:
    case InstructionClass::async_copy:
      return global_latency(work);
    case InstructionClass::global_store:
    case InstructionClass::global_atomic:
      return gpu.l2_latency;
    case InstructionClass::local_load:
    case InstructionClass::local_store:
      return local_latency(work);
    case InstructionClass::constant_load:
      return constant_latency(work);
  }
  return gpu.alu_latency;
}

namespace {

/// Cycles of one more turn of a loop. Copies that are waited for some turns later need as many
/// turns until the waits are those of the loop itself and no longer of what was issued before it.
double cycles_of_next_turns(Warp& warp, const Work& work, std::size_t first, std::size_t last) {
  const bool waits = std::any_of(
      work.program.begin() + static_cast<std::ptrdiff_t>(first),
      work.program.begin() + static_cast<std::ptrdiff_t>(last), [](const InstructionInfo& info) {
        return info.async_step == AsyncStep::wait || info.async_step == AsyncStep::wait_all;
      });
  if (!waits) return warp.run(first, last);
  constexpr int kTurns = 8;
  for (int turn = 0; turn < kTurns; ++turn) warp.run(first, last);
  double cycles = 0;
  for (int turn = 0; turn < kTurns; ++turn) cycles += warp.run(first, last);
  return cycles / kTurns;
}

}  // namespace

double warp_cycles(const Work& work) {
  const double warps = static_cast<double>(work.blocks * work.warps_per_block);
  Warp warp(work);
  double cycles = 0;
  for (std::size_t first = 0; first < work.program.size();) {
    std::size_t last = first + 1;
    while (last < work.program.size() && !work.program[last].starts_block) ++last;
    const double times = static_cast<double>(work.executed[first].warps) / warps;
    if (times > 0) {
      cycles += std::min(times, 1.0) * warp.run(first, last);
      if (times > 1) cycles += (times - 1) * cycles_of_next_turns(warp, work, first, last);
    }
    first = last;
  }
  return cycles;
}

std::uint64_t rounds(const Work& work) {
  return (work.blocks_of_busiest_sm() + work.resident_blocks - 1) / work.resident_blocks;
}

double latency_time(const Work& work) {
  const auto count = static_cast<double>(rounds(work));
  // The first blocks' start is part of the launch overhead.
  return work.microseconds(warp_cycles(work) * count + kBlockTurnover * (count - 1));
}

double stalled_share(const Work& work) {
  const double warps = static_cast<double>(work.blocks * work.warps_per_block);
  const double barriers = work.warp_instructions(InstructionClass::barrier) / warps;
  const double cycles = warp_cycles(work);
  if (barriers == 0 || cycles <= 0 || work.warps_per_block == 1) return 0;
  return std::min(1.0, barriers * global_latency(work) / cycles);
}

}  // namespace simgpu::model
