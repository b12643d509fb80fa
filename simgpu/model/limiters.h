#pragma once

#include "simgpu/model/work.h"

/// The throughput limiters of the time model. Each answers one question: if this were all that the
/// kernel had to wait for, how long would it take, in microseconds? What lies in an SM is asked of
/// the busiest SM. docs/design/time-model.md derives each.
namespace simgpu::model {

/// Bytes that take DRAM as long to read as these take it to read and to write.
double as_dram_reads(double read_bytes, double written_bytes, const gpu_spec::GpuSpec& gpu);
/// Bytes per second that streams which only read get of DRAM.
double dram_read_rate(const gpu_spec::GpuSpec& gpu);

/// Bytes that L1 delivers to registers per cycle and SM, four for each lane. GPUs with 32
/// load/store units per SM (capabilities 8.0 and 9.0) read 126 bytes per cycle from L1 (A100,
/// H100), those with 16 read 59 (T4) and 64 (A40): NVIDIA's whitepapers, Jia et al. (2019), D.
/// Ernst's gpu-cache.
double l1_bytes_per_cycle(const gpu_spec::GpuSpec& gpu);
/// Cycles that L1 takes for a request, were its data nothing. With 16 load/store units it is more
/// than the two that 32 addresses need: the two loads of a multiply-add took 4.9 cycles on an
/// RTX A6000 (S. Boehm, 2022: 69.2 ms for 4096^3 at 84 SMs and 1800 MHz).
double l1_cycles_per_request(const gpu_spec::GpuSpec& gpu);

/// Each of the SM's schedulers starts one warp instruction per cycle.
double issue_time(const Work& work);

/// A warp instruction occupies its pipe for 32 lanes / lanes of the pipe cycles.
double fp32_time(const Work& work);
double fp64_time(const Work& work);
double fp16_time(const Work& work);
/// An instruction on a pair of halves is four operations a lane; one on a single half takes as
/// long.
double fp16_lanes(const gpu_spec::GpuSpec& gpu);
double integer_time(const Work& work);
/// Sines, reciprocals, exponentials, and conversions between types, which share the
/// special-function units.
double special_time(const Work& work);
/// Cycles for which a tensor instruction keeps its scheduler's tensor core busy.
double tensor_cycles(const InstructionInfo& instruction, const gpu_spec::GpuSpec& gpu);
/// Operations of tensor instructions over the dense tensor rate of their type.
double tensor_time(const Work& work);

/// What takes turns on the load/store pipe of the busiest SM, each by itself.
struct LoadStorePipe {
  /// L1 takes the addresses of 16 or 32 lanes, looks up one 128-byte line and delivers 64 or 128
  /// bytes per cycle and SM, by generation; whichever takes longest. A scattered request takes up
  /// to 32, and bytes that several lanes ask for are delivered to each.
  double l1 = 0;
  /// One shared-memory wavefront per cycle and SM, a bank conflict being a further one; or, if that
  /// takes longer, the words on their way between banks and registers, 64 or 128 bytes per cycle.
  double shared = 0;
  double shared_atomics = 0;  ///< wavefronts of atomics on shared memory
  /// Values that lanes of a warp get from each other's registers (shuffles): 32 per cycle and SM.
  double exchange = 0;

  /// Of one of these: whichever takes most of the pipe has the time of all.
  double time_of(double part) const;
};
LoadStorePipe load_store_pipe(const Work& work);
/// Words that the constant cache gives out one after the other, one per cycle and SM, beyond the
/// first of each load: that comes with the instruction's issue, as operands do that all lanes
/// share.
double constant_time(const Work& work);
/// Global atomics that have to wait for each other in L2: those on the busiest address, or those in
/// the busiest slice.
double atomics_time(const Work& work);
/// Sectors that pass between the SMs and L2, over the whole L2's bandwidth, or over one SM's port.
double l2_time(const Work& work);
/// Bytes that pass between L2 and DRAM, over the bandwidth that can be had in practice.
double dram_time(const Work& work);

/// All of them.
LimiterTimes limiters(const Work& work);

}  // namespace simgpu::model
