#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/limiter.h"

/// Plain values that leave the simulated GPU: what a launch did, what was found wrong, how long it
/// took.
namespace simgpu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  uninitialized_read,
  shared_race,
  global_race,
  divergent_barrier,
  deadlock,
  invalid_api_use,
  leak,
  device_assert,
  trap,
  unsupported,
  too_long,  ///< a launch that takes more than its budget; it may come to an end
};
/// The JSON spelling, "out-of-bounds".
const char* name_of(FindingKind kind);

/// A call that was inlined: what was called, from where.
struct InlinedCall {
  std::string function;  ///< its name, without parameters; empty when unknown
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool operator==(const InlinedCall&) const = default;
};

/// A warp's number that nobody knows: what checks real GPUs names threads, and not their warps.
inline constexpr std::uint32_t kUnknownWarp = 0xffffffff;

/// One side of a finding: who did what, where in the source.
struct AccessSite {
  std::string file;  ///< as in the PTX's .file, empty when unknown
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint32_t warp = 0;
  std::string action;  ///< "writes 4 bytes", "reads 16 bytes", "waits at barrier 0"
  /// How the kernel came to the place: the call of the function that it is in, the call of the
  /// function that this is in, …; empty for a place in the kernel itself.
  std::vector<InlinedCall> inlined_at{};
  bool by_thread = true;  ///< false: a whole launch or a copy did it; block and thread mean nothing
  bool operator==(const AccessSite&) const = default;
};

/// Something wrong with the program, told so that it can be understood without the simulator's
/// source.
struct Finding {
  std::string code;  ///< "RL0301", stable; see docs/design/codes.md
  FindingKind kind = FindingKind::unsupported;
  std::string kernel;  ///< demangled name, empty for host-side findings
  AccessSite where;
  std::optional<AccessSite> other;  ///< the second access of a race, the allocation's creation …
  std::string object;   ///< "shared array As", "allocation of 4096 bytes", with the offset in it
  std::string message;  ///< one sentence, cause first
  std::uint64_t occurrences = 1;  ///< same code and place, counted together
  /// Holds unless threads returned from the kernel before `where`, which only its source tells: see
  /// simgpu/source/early_returns.h. Who has no source has to drop it.
  bool unless_returned = false;
  bool operator==(const Finding&) const = default;
};

/// Raw counts of one launch. Warp-level unless the name says thread.
struct KernelCounters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  /// "fp32", "integer", "shared_load" … warp-level
  std::map<std::string, std::uint64_t> instructions_by_class;

  // Thread-level floating-point operations by type; a fused multiply-add is two.
  /// "fp16", "bf16", "fp32", "fp64", "bf16_tensor" …
  std::map<std::string, std::uint64_t> flops;
  std::uint64_t fadd = 0, fmul = 0, ffma = 0;  ///< thread-level fp32 instructions

  std::uint64_t global_load_requests = 0, global_store_requests = 0, global_atomic_requests = 0;
  std::uint64_t global_load_sectors = 0, global_store_sectors = 0, global_atomic_sectors = 0;
  /// what the active lanes asked for, lane by lane
  std::uint64_t global_load_bytes = 0, global_store_bytes = 0, global_atomic_bytes = 0;
  std::uint64_t l1_hit_sectors = 0;
  std::uint64_t l1_tag_lookups = 0;  ///< distinct 128-byte lines, summed over global requests
  std::uint64_t l2_read_sectors = 0, l2_write_sectors = 0, l2_hit_sectors = 0;
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;

  std::uint64_t shared_load_requests = 0, shared_store_requests = 0;
  std::uint64_t shared_load_wavefronts = 0, shared_store_wavefronts = 0;
  std::uint64_t shared_load_bank_conflicts = 0, shared_store_bank_conflicts = 0;
  std::uint64_t shared_atomic_requests = 0;
  /// cycles that they take of the banks; the rounds of the loop that ptxas makes of floating-point
  /// ones are among them
  std::uint64_t shared_atomic_wavefronts = 0;
  /// operations of threads on the global address that has most of them
  std::uint64_t atomics_on_one_address = 0;
  /// different global addresses that atomics went to; where not all blocks ran, of those that did
  std::uint64_t atomic_addresses = 0;
  /// cycles in which L2 works off the global atomics that have to wait for each other
  std::uint64_t atomic_serial_cycles = 0;
  std::uint64_t local_load_requests = 0, local_store_requests = 0;
  std::uint64_t local_load_sectors = 0, local_store_sectors = 0;
  std::uint64_t local_tag_lookups = 0;  ///< distinct 128-byte lines, summed over local requests
  /// distinct sectors that each warp touches of its local memory, summed over warps
  std::uint64_t local_touched_sectors = 0;
  /// of the local requests, those that store a register for want of registers, or load it again
  std::uint64_t local_spilling_requests = 0;
  /// loads by generic addresses, and those of them that go to global memory in any lane
  std::uint64_t generic_load_requests = 0, generic_global_load_requests = 0;
  /// loads of constants, and of a kernel's parameters where lanes read different words; a wavefront
  /// is one of the distinct words of a request
  std::uint64_t constant_load_requests = 0, constant_load_wavefronts = 0;

  std::uint64_t branches = 0, divergent_branches = 0, barriers = 0;
  std::uint64_t slept_ns = 0;  ///< that all warps together asked to be suspended (nanosleep)
  bool operator==(const KernelCounters&) const = default;
};

/// Adds `times` times each counter of `block` to `sum`: all of them, maps included.
void add_scaled(KernelCounters& sum, const KernelCounters& block, std::uint64_t times);

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
  unsigned blocks_per_sm = 0;        ///< resident, by occupancy
  std::string occupancy_limiter;     ///< "registers", "shared memory", "warps", "blocks"
  double theoretical_occupancy = 0;  ///< 0…1
  double start_us = 0;               ///< on the device's modelled clock
  TimeBreakdown time;
  KernelCounters counters;
  bool failed = false;  ///< ended by an error; counters are partial
  /// Counters and time are those of the whole grid, predicted from `sampled_blocks` of its blocks;
  /// the others did not run. Of a library routine: it was timed and not carried out.
  bool sampled = false;
  std::uint64_t sampled_blocks = 0;
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
/// operation. Calls are left out.
inline constexpr std::size_t kMostRecords = 20'000;
inline constexpr const char* kFurtherKernels = "further kernels";

/// Everything the device did between two marks, as the trusted side tells it.
struct Activity {
  std::vector<KernelRecord> kernels;
  std::vector<MemoryRecord> memory;
  std::vector<ApiRecord> calls;  ///< of the guest, in order
  std::vector<Finding> findings;
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
};

/// Launches that the host issued: kernels issued one by one, and one for each graph launch.
std::uint64_t host_launches(const Activity& activity);

/// The counters under Nsight Compute's names ("smsp__inst_executed.sum" …).
std::map<std::string, double> nsight_counters(const KernelRecord& record);

}  // namespace simgpu
