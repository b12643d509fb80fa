#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace simgpu {

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

}  // namespace simgpu
