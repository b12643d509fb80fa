#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/dim3.h"
#include "simgpu/finding.h"
#include "simgpu/kernel_counters.h"
#include "simgpu/limiter.h"
#include "simgpu/line_record.h"

/// Plain values that leave the simulated GPU: what a launch did, what was found wrong, how long it
/// took.
namespace simgpu {

/// How the predicted time of a launch came about; every term in microseconds.
struct TimeBreakdown {
  double total_us = 0;
  std::optional<Limiter> limiter;  ///< the largest of `terms`, or the launch; nothing: unknown
  LimiterTimes terms;
  double wave_quantisation = 1;  ///< whole waves over fractional waves, >= 1
  double launch_us = 0;
  /// The latency term over what it would be if all warps had as long a way, >= 1
  double uneven_warps = 1;
  /// The largest other term over what it would be if all SMs and their schedulers did the same, >=
  /// 1
  double uneven_sms = 1;
};

/// One call of host code into the runtime that the device served, on the modelled clock.
struct ApiRecord {
  std::uint64_t sequence = 0;  ///< order in the device's life, shared with kernels and copies
  std::string name;            ///< "cudaMemcpyAsync"
  double start_us = 0;
  double time_us = 0;             ///< that the host spent in it, waiting included
  std::uint64_t correlation = 0;  ///< that of the work which it issued; 1 for a device's first call
  int error = 0;                  ///< the cudaError_t that it returned
};

/// The machine code that ptxas makes of a kernel's PTX, and how often a launch executes it.
struct MachineCodeRecord {
  std::uint64_t instructions = 0;  ///< of the kernel's code
  bool aligned = false;            ///< it is known how often which of them is executed
  /// Warp instructions of the launch; where it is not aligned, a guess or 0.
  double warp_instructions = 0;
  double deviation = 0;      ///< sass::Alignment::deviation
  std::string why_not = {};  ///< empty where it is aligned
};

/// One kernel launch as the trusted side saw it.
struct KernelRecord {
  std::uint64_t sequence = 0;  ///< order of launch in the device's life
  std::string name;            ///< demangled
  Dim3 grid, block;
  unsigned dynamic_shared_bytes = 0;
  unsigned static_shared_bytes = 0;
  unsigned registers_per_thread = 0;
  /// No ptxas made machine code of the kernel: registers, and occupancy, are estimated from its
  /// PTX.
  bool registers_are_estimated = false;
  unsigned local_bytes_per_thread = 0;
  unsigned blocks_per_sm = 0;  ///< resident, by occupancy
  OccupancyLimiter occupancy_limiter = OccupancyLimiter::none;
  double theoretical_occupancy = 0;  ///< 0…1
  double start_us = 0;               ///< on the device's modelled clock
  TimeBreakdown time;
  KernelCounters counters;
  bool failed = false;      ///< ended by an error; counters are partial
  bool sees_order = false;  ///< KernelInfo::sees_order
  /// Counters and time are those of the whole grid, predicted from `sampled_blocks` of its blocks;
  /// the others did not run. Of a library routine: it was timed and not carried out.
  bool sampled = false;
  std::uint64_t sampled_blocks = 0;
  bool library_routine = false;  ///< of cuBLAS, say: its time is a rule, not that of a kernel
  /// Counters and time are lower bounds, of all blocks or of the first `sampled_blocks`: the launch
  /// would have taken more than its budget, or came after one that did, and was not run.
  bool at_least = false;
  /// Of the host call that issued it; all nodes of one graph launch share its correlation.
  std::uint64_t correlation = 0;
  /// 0: the default stream (each thread's own too, which never runs beside it); other streams are
  /// numbered from 1 by order of creation.
  std::uint64_t stream = 0;
  /// 0: issued by itself; else the number (1, 2, …) of the cudaGraphLaunch that it belongs to.
  std::uint64_t graph_launch = 0;
  /// What its source lines cost: Activity::line_tables, counted from 1. 0: nobody asked, or it is
  /// not known.
  std::uint32_t line_table = 0;
  /// Nothing: nobody asked for it.
  std::optional<MachineCodeRecord> machine_code;
};

enum class MemoryOperation : std::uint8_t { copy_to_device, copy_to_host, copy_on_device, set };
/// As reports spell it.
constexpr const char* name_of(MemoryOperation operation) {
  switch (operation) {
    case MemoryOperation::copy_to_device:
      return "copy host to device";
    case MemoryOperation::copy_to_host:
      return "copy device to host";
    case MemoryOperation::copy_on_device:
      return "copy device to device";
    case MemoryOperation::set:
      return "set";
  }
  return "set";
}

/// A copy or fill of device memory.
struct MemoryRecord {
  std::uint64_t sequence = 0;
  MemoryOperation operation = MemoryOperation::set;
  std::uint64_t bytes = 0;
  double start_us = 0;
  double time_us = 0;
  std::uint64_t destination = 0;  ///< device address, 0 when the destination is host memory
  std::uint64_t correlation = 0;  ///< these three as a kernel's
  std::uint64_t stream = 0;
  std::uint64_t graph_launch = 0;
};

/// The most records of each kind in an Activity. Of kernels and of memory operations, all that come
/// after so many are summed up: in one record kFurtherKernels, and in one for each kind of
/// operation. Calls are left out, and counted.
inline constexpr std::size_t kMostRecords = 20'000;
/// Different launches whose lines are told; those that are the same share a table.
inline constexpr std::size_t kMostLineTables = 256;
inline constexpr const char* kFurtherKernels = "further kernels";

/// A call of the guest's that returned an error.
struct FailedCall {
  std::string function;
  std::string error;  ///< "cudaErrorInvalidValue"
  AccessSite where;
};

/// Everything the device did between two marks, as the trusted side tells it.
struct Activity {
  std::vector<KernelRecord> kernels;
  std::vector<MemoryRecord> memory;
  std::vector<ApiRecord> calls;      ///< of the guest, in order
  std::uint64_t calls_left_out = 0;  ///< that came after these
  /// Work on streams that may race with what came before more work than the device keeps in mind.
  std::uint64_t work_unjudged = 0;
  std::vector<Finding> findings;
  std::vector<LineTable> line_tables;
  std::string printed;              ///< device printf, as far as it is kept
  std::uint64_t printed_bytes = 0;  ///< of all that it printed
  /// What the guest told the device by other ways than copies, after anything had left for it:
  /// parameters of kernels that are not those of the kernel's launch before, modules that it made
  /// at run time, and for each launch and operation a few bytes, for its shape, place or value.
  std::uint64_t given_bytes = 0;
  double elapsed_us = 0;        ///< from the mark until all work was done, on the modelled clock
  std::uint64_t allocated = 0;  ///< bytes of device memory at the end
  std::uint64_t peak_allocated = 0;
  std::map<std::string, std::uint64_t> api_calls;  ///< by runtime function
  bool guest_connected = false;  ///< a program with the runtime asked for the device
  std::string error;             ///< sticky CUDA error, "cudaErrorIllegalAddress", or empty
  std::optional<FailedCall> failed_call;  ///< the guest's first
};

/// The table of a launch; nullptr where there is none.
const LineTable* lines_of(const Activity& activity, const KernelRecord& kernel);

/// Launches that the host issued: kernels issued one by one, and one for each graph launch.
std::uint64_t host_launches(const Activity& activity);

/// The counters under Nsight Compute's names ("smsp__inst_executed.sum" …).
std::map<std::string, double> nsight_counters(const KernelRecord& record);

}  // namespace simgpu
