#include "simgpu/model/latency.h"

#include <algorithm>
#include <cstdint>

#include "simgpu/model/local_memory.h"

namespace simgpu::model {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

/// How much longer what L2 has to fetch from DRAM takes. DRAM does not slow down with the SMs,
/// whose cycles at the boost clock latencies are told in.
double behind_l2(const Work& work) {
  return (work.gpu.dram_latency - work.gpu.l2_latency) / work.gpu.slowdown_under_load();
}

/// Of loads that L1, and L2 of the others, serve these shares of.
double latency_by_shares(const Work& work, double l1, double l2) {
  const double beyond = work.gpu.l2_latency + (1 - l2) * behind_l2(work);
  return l1 * work.gpu.l1_latency + (1 - l1) * beyond;
}

double l2_hit_share(const KernelCounters& c) {
  return ratio(c.l2_hit_sectors, c.l2_read_sectors + c.l2_write_sectors);
}

/// The launch's mean load waits for L1, L2 or DRAM in the proportion in which these served it.
double global_latency(const Work& work) {
  const KernelCounters& c = work.counters;
  return latency_by_shares(work, ratio(c.l1_hit_sectors, c.global_load_sectors), l2_hit_share(c));
}

/// Where an instruction's requests at L2 are not known, they are taken for the launch's mean.
double l2_hit_share(const LoadCounts& loads, const Work& work) {
  return loads.at_l2 == 0 ? l2_hit_share(work.counters) : 1 - ratio(loads.from_dram, loads.at_l2);
}

/// Likewise all of its requests.
double beyond_l1_share(const LoadCounts& loads, const Work& work) {
  const KernelCounters& c = work.counters;
  if (loads.requests == 0) return 1 - ratio(c.l1_hit_sectors, c.global_load_sectors);
  return ratio(loads.beyond_l1, loads.requests);
}

double global_latency(const FarShares& far, const Work& work) {
  const gpu_spec::GpuSpec& gpu = work.gpu;
  return (1 - far.beyond_l1) * gpu.l1_latency + far.beyond_l1 * gpu.l2_latency +
         far.from_dram * behind_l2(work);
}

/// L2 works on what it has, and has to fetch it first.
double atomic_latency(double from_dram, const Work& work) {
  const double at_l2 = work.gpu.atomic_latency > 0 ? work.gpu.atomic_latency : work.gpu.l2_latency;
  return at_l2 + from_dram * behind_l2(work);
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
  const double behind = requests > 0 ? conflicts / requests : 0;
  return work.gpu.shared_latency + work.gpu.conflict_latency * behind;
}

/// Generic addresses wait for the memory that they turn out to point to.
/// @param share of the requests that goes to global memory
double generic_latency(double share, double global, const Work& work) {
  return share * global + (1 - share) * shared_latency(work);
}

/// Of all generic loads of the launch.
double generic_share(const Work& work) {
  const KernelCounters& c = work.counters;
  return ratio(c.generic_global_load_requests, c.generic_load_requests);
}

/// Of one instruction's, where its requests were counted: others, however many, say nothing of it.
double generic_share(std::size_t instruction, const Work& work) {
  const std::uint64_t executed = work.executed[instruction].warps;
  if (work.loads.empty() || executed == 0 || work.program[instruction].only_stores) {
    return generic_share(work);
  }
  return std::min(1.0, ratio(work.loads_of(instruction).requests, executed));
}

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
      return gpu.tensor_latency > 0 ? gpu.tensor_latency : 8 * gpu.alu_latency;
    case InstructionClass::shared_load:
    case InstructionClass::shared_store:
    case InstructionClass::shared_atomic:
      return shared_latency(work);
    case InstructionClass::generic_access:
      return generic_latency(generic_share(work), global_latency(work), work);
    case InstructionClass::barrier:
    case InstructionClass::warp_exchange:
      return gpu.shared_latency;
    case InstructionClass::global_load:
    case InstructionClass::async_copy:
      return global_latency(work);
    case InstructionClass::global_store:
      return gpu.l2_latency;
    case InstructionClass::global_atomic:
      return atomic_latency(1 - l2_hit_share(work.counters), work);
    case InstructionClass::local_load:
    case InstructionClass::local_store:
      return local_latency(work);
    case InstructionClass::constant_load:
      return constant_latency(work);
  }
  return gpu.alu_latency;
}

FarShares far_shares(std::size_t instruction, const Work& work) {
  const LoadCounts loads = work.loads_of(instruction);
  const double beyond_l2 = 1 - l2_hit_share(loads, work);
  if (work.program[instruction].cls == InstructionClass::global_atomic) return {1, beyond_l2};
  const double beyond_l1 = beyond_l1_share(loads, work);
  return {beyond_l1, beyond_l1 * beyond_l2};
}

double recent_share(const LoadCounts& loads) { return ratio(loads.of_recent, loads.requests); }

double latency_of(std::size_t instruction, const Work& work, const FarShares& far) {
  const InstructionClass cls = work.program[instruction].cls;
  if (cls == InstructionClass::global_atomic) return atomic_latency(far.from_dram, work);
  const double global = global_latency(far, work);
  if (cls != InstructionClass::generic_access) return global;
  return generic_latency(generic_share(instruction, work), global, work);
}

double latency_of(std::size_t instruction, const Work& work) {
  const InstructionClass cls = work.program[instruction].cls;
  if (cls != InstructionClass::global_atomic && !loads_from_global(cls)) {
    return latency_of(cls, work);
  }
  return latency_of(instruction, work, far_shares(instruction, work));
}

std::uint64_t rounds(const Work& work) {
  return (work.blocks_of_busiest_sm() + work.resident_blocks - 1) / work.resident_blocks;
}

double block_turnover(const Work& work) { return work.control.empty() ? 430 : 350; }

double cycles_of_starts(const Work& work) {
  return work.gpu.cycles_per_block * static_cast<double>(work.blocks_of_busiest_sm());
}

double latency_time(const Work& work, const BlockCycles& block) {
  const auto count = static_cast<double>(rounds(work));
  // The first blocks' start is part of the launch overhead.
  const double all = block.mean * count + block_turnover(work) * (count - 1);
  return work.microseconds(std::max({all, block.longest, cycles_of_starts(work)}));
}

double loads_beyond_l1(const Work& work, double warps) {
  double sum = 0;
  for (const LoadCounts& loads : work.loads) sum += static_cast<double>(loads.beyond_l1);
  return sum / warps;
}

double waits_together(const Work& work, double meetings, double beyond_l1) {
  if (work.warps_per_block == 1) return 0;
  if (work.loads.empty()) return meetings * global_latency(work);
  // Those that go beyond L1, as long as there are such, and only then others.
  const double far = std::min(meetings, beyond_l1);
  const double there = latency_by_shares(work, 0, l2_hit_share(work.counters));
  return far * there + (meetings - far) * work.gpu.l1_latency;
}

}  // namespace simgpu::model
