#include "simgpu/model/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "simgpu/isa/instruction_info.h"

namespace simgpu {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kWarp = 32;
constexpr double kManyConflicts = 0.25;   ///< of all wavefronts: as RL0502 has it
constexpr double kManySectors = 1.5;      ///< for each that the bytes fill: as RL0501 has it
constexpr double kFewBlocks = 2;          ///< times the mean of the multiprocessors: as RL0594
constexpr double kFullOccupancy = 0.999;  ///< of the warps that fit

constexpr const char* kOwnArrays =
    "keep arrays of threads in registers (small ones, whose indices are known when loops are "
    "unrolled), or in shared memory";
constexpr const char* kNeighbours =
    "let neighbouring threads read and write neighbouring addresses";

double as_number(std::uint64_t count) { return static_cast<double>(count); }

/// "2.0" and "0.25", but "131" and "2048".
std::string ratio(double part, double whole) {
  const double value = whole > 0 ? part / whole : 0;
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

std::string megabytes(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.3g} GB", bytes / 1e9)
                      : fmt::format("{:.3g} MB", bytes / 1e6);
}

/// Multiply-adds that whole warps did.
double warp_multiply_adds(const KernelCounters& c) { return as_number(c.ffma) / kWarp; }

/// How many of something there are for each multiply-add, or in all where the kernel does none.
std::string for_each_multiply_add(double count, const std::string& what, const KernelCounters& c) {
  const double multiply_adds = warp_multiply_adds(c);
  if (multiply_adds < 1) return fmt::format("{:.3g} {}", count, what);
  return fmt::format("{} {} for each multiply-add", ratio(count, multiply_adds), what);
}

Proof shared_memory(const KernelCounters& c) {
  const bool stores = c.shared_store_bank_conflicts > c.shared_load_bank_conflicts;
  const double conflicts =
      as_number(c.shared_load_bank_conflicts) + as_number(c.shared_store_bank_conflicts);
  const double wavefronts =
      as_number(c.shared_load_wavefronts) + as_number(c.shared_store_wavefronts);
  if (conflicts > 0 && conflicts >= kManyConflicts * wavefronts) {
    return {stores ? "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
                   : "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
            0,
            fmt::format("{:.0f} % of its wavefronts are bank conflicts",
                        wavefronts > 0 ? 100 * conflicts / wavefronts : 0),
            advice_against_conflicts(c)};
  }
  return {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 0,
          for_each_multiply_add(as_number(c.shared_load_requests), "loads from it", c)};
}

Proof constants(const KernelCounters& c) {
  return {"simgpu__constant_load_wavefronts.sum", 0,
          fmt::format(
              "each load of constants reads {} different words",
              ratio(as_number(c.constant_load_wavefronts), as_number(c.constant_load_requests)))};
}

/// Whether most accesses to local memory store spilled registers or load them again.
bool is_mostly_spilled(const KernelCounters& c) {
  return 2 * c.local_spilling_requests > c.local_load_requests + c.local_store_requests;
}

const char* advice_against_local_memory(const KernelCounters& c) {
  return is_mostly_spilled(c) ? kHoldFewerValues : kOwnArrays;
}

Proof local_memory(const KernelCounters& c) {
  if (is_mostly_spilled(c)) {
    return {"simgpu__local_spilling_requests.sum", 0,
            for_each_multiply_add(as_number(c.local_spilling_requests),
                                  "accesses to registers that ptxas keeps in local memory", c),
            kHoldFewerValues};
  }
  const double sectors = as_number(c.local_load_sectors) + as_number(c.local_store_sectors);
  const double requests = as_number(c.local_load_requests) + as_number(c.local_store_requests);
  return {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 0,
          fmt::format("each access of threads to arrays of their own touches {} sectors",
                      ratio(sectors, requests)),
          kOwnArrays};
}

Proof first_cache(const KernelCounters& c) {
  if (c.local_tag_lookups > c.l1_tag_lookups) return local_memory(c);
  const auto wasteful = [](std::uint64_t sectors, std::uint64_t requests, std::uint64_t bytes) {
    const double needed = std::max(as_number(bytes) / kSectorBytes, as_number(requests));
    return as_number(sectors) > kManySectors * needed;
  };
  const auto sectors = [](std::uint64_t count, std::uint64_t requests, const char* kind) {
    return fmt::format("each {} of a warp touches {} sectors", kind,
                       ratio(as_number(count), as_number(requests)));
  };
  const bool loads = wasteful(c.global_load_sectors, c.global_load_requests, c.global_load_bytes);
  const bool stores =
      wasteful(c.global_store_sectors, c.global_store_requests, c.global_store_bytes);
  if (stores && (!loads || c.global_store_sectors > c.global_load_sectors)) {
    return {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 0,
            sectors(c.global_store_sectors, c.global_store_requests, "store"), kNeighbours};
  }
  if (loads) {
    return {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 0,
            sectors(c.global_load_sectors, c.global_load_requests, "load"), kNeighbours};
  }
  return {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 0,
          for_each_multiply_add(as_number(c.global_load_requests), "loads of global memory", c)};
}

/// Whether most of what L2 is asked for are arrays of threads that L1 has no room for: it is what
/// global memory does not ask for.
bool is_mostly_local(const KernelCounters& c) {
  const double global = as_number(c.global_load_sectors) - as_number(c.l1_hit_sectors) +
                        as_number(c.global_store_sectors) + as_number(c.global_atomic_sectors);
  const double all = as_number(c.l2_read_sectors) + as_number(c.l2_write_sectors);
  return c.local_touched_sectors > 0 && all > 2 * global;
}

/// Traffic of either cache's far side: what the lanes asked for stands beside it.
Proof second_cache(const KernelCounters& c) {
  const double sectors = as_number(c.l2_read_sectors) + as_number(c.l2_write_sectors);
  return {
      c.l2_write_sectors > c.l2_read_sectors ? "lts__t_sectors_op_write.sum"
                                             : "lts__t_sectors_op_read.sum",
      0,
      fmt::format("{} pass between L2 and the multiprocessors", megabytes(sectors * kSectorBytes)),
      is_mostly_local(c) ? advice_against_local_memory(c) : ""};
}

Proof memory(const KernelCounters& c) {
  return {c.dram_write_bytes > c.dram_read_bytes ? "dram__bytes_write.sum" : "dram__bytes_read.sum",
          0,
          fmt::format("{} cross DRAM",
                      megabytes(as_number(c.dram_read_bytes) + as_number(c.dram_write_bytes))),
          is_mostly_local(c) ? advice_against_local_memory(c) : ""};
}

Proof one_address(const KernelCounters& c) {
  return {"simgpu__atomics_on_one_address.max", 0,
          fmt::format("{} atomic operations meet on one address",
                      count_in_words(c.atomics_on_one_address))};
}

Proof shared_atomics(const KernelCounters& c) {
  return {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", 0,
          fmt::format(
              "each atomic of a warp takes {} cycles of the banks",
              ratio(as_number(c.shared_atomic_wavefronts), as_number(c.shared_atomic_requests)))};
}

Proof latency(const KernelRecord& kernel, int sm_count) {
  const double places = static_cast<double>(kernel.blocks_per_sm) * sm_count;
  const double blocks = static_cast<double>(kernel.grid.count());
  if (places > 0 && blocks < places) {
    return {"launch__grid_size", 0,
            fmt::format("the GPU has room for {:.0f} blocks at a time", places)};
  }
  if (kernel.theoretical_occupancy < kFullOccupancy) {
    return {"sm__maximum_warps_per_active_cycle_pct", 0,
            fmt::format("{:.0f} % of the warps fit, limited by {}",
                        100 * kernel.theoretical_occupancy, words_of(kernel.occupancy_limiter))};
  }
  return {"smsp__inst_executed.sum", 0,
          fmt::format("{} instructions one after the other in each warp",
                      ratio(as_number(kernel.counters.warp_instructions),
                            blocks * static_cast<double>(kernel.block.count() + 31) / kWarp))};
}

/// A pipe of the multiprocessor: its own count says it.
Proof of_pipe(const KernelRecord& kernel, const char* counter, const char* what) {
  return {counter, 0, fmt::format("{:.3g} {}", nsight_counters(kernel).at(counter), what)};
}

/// Conversions between types take the same units as special functions, and are no such functions to
/// whoever wrote them.
Proof special_functions(const KernelRecord& kernel) {
  constexpr double kMostly = 0.8;
  const auto of = [&](InstructionClass cls) {
    const auto found = kernel.counters.instructions_by_class.find(name_of(cls));
    return found == kernel.counters.instructions_by_class.end() ? 0 : as_number(found->second);
  };
  const double conversions = of(InstructionClass::conversion);
  const double both = conversions + of(InstructionClass::special);
  const bool is_converting = both > 0 && conversions >= kMostly * both;
  Proof proof = of_pipe(kernel, "sm__inst_executed_pipe_xu.sum",
                        is_converting ? "conversions between types of warps"
                                      : "special functions and conversions of warps");
  if (is_converting) {
    proof.change =
        "convert between types less often: hold the sum in the type of what is added, or convert "
        "once outside of the inner loop";
  }
  return proof;
}

Proof unnamed(const KernelRecord& kernel, int sm_count) {
  if (!kernel.time.limiter) return {};
  const KernelCounters& c = kernel.counters;
  switch (*kernel.time.limiter) {
    case Limiter::shared:
      return shared_memory(c);
    case Limiter::constant:
      return constants(c);
    case Limiter::l1:
      return first_cache(c);
    case Limiter::l2:
      return second_cache(c);
    case Limiter::dram:
      return memory(c);
    case Limiter::atomics:
      return one_address(c);
    case Limiter::shared_atomics:
      return shared_atomics(c);
    case Limiter::latency:
      return latency(kernel, sm_count);
    case Limiter::issue:
      return {"smsp__inst_executed.sum", 0,
              for_each_multiply_add(as_number(c.warp_instructions), "instructions of a warp", c)};
    case Limiter::launch:
      return {"launch__grid_size", 0,
              fmt::format("{} have next to nothing to do",
                          kernel.grid.count() == 1 ? "its one block" : "its blocks")};
    case Limiter::fp32:
      return of_pipe(kernel, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                     "multiply-adds");
    case Limiter::fp64:
      return of_pipe(kernel, "sm__inst_executed_pipe_fp64.sum",
                     "double-precision instructions of warps");
    case Limiter::fp16:
      return of_pipe(kernel, "sm__inst_executed_pipe_fp16.sum",
                     "half-precision instructions of warps");
    case Limiter::integer:
      return of_pipe(kernel, "sm__inst_executed_pipe_alu.sum", "integer instructions of warps");
    case Limiter::exchange:
      return of_pipe(kernel, "simgpu__warp_exchanges.sum", "exchanges between lanes of warps");
    case Limiter::special:
      return special_functions(kernel);
    case Limiter::tensor:
      return of_pipe(kernel, "sm__inst_executed_pipe_tensor.sum", "tensor instructions of warps");
    case Limiter::host_loads:
    case Limiter::host_stores:
    case Limiter::managed_stores:
      return {};
  }
  return {};
}

}  // namespace

std::string count_in_words(std::uint64_t count) {
  return count >= 1'000'000 ? fmt::format("{:.3g} million", as_number(count) / 1e6)
                            : fmt::format("{}", count);
}

const char* advice_against_conflicts(const KernelCounters& counters) {
  const bool uses_tensor_cores =
      std::any_of(counters.flops.begin(), counters.flops.end(),
                  [](const auto& entry) { return entry.first.ends_with("_tensor"); });
  if (uses_tensor_cores) {
    return "pad the rows of the shared array by 16 bytes (8 halves or 4 floats), not by one "
           "element: rows of wmma and mma tiles have to start at multiples of 16 bytes";
  }
  return "change which index runs over the lanes, or pad the rows of the shared array by one "
         "element; where they are read as float4 or another vector, by 16 bytes, so that each row "
         "still starts at a multiple of that";
}

Proof proof_of(const KernelRecord& kernel, int sm_count) {
  Proof proof = unnamed(kernel, sm_count);
  if (kernel.time.limiter != Limiter::launch && kernel.time.wave_quantisation >= kFewBlocks) {
    proof = {"launch__grid_size", 0,
             fmt::format("the GPU has {} multiprocessors, and most have none", sm_count)};
  }
  if (proof.counter.empty()) return {};
  proof.value = nsight_counters(kernel).at(proof.counter);
  return proof;
}

double unevenness(const KernelRecord& kernel) {
  constexpr double kLeast = 2;
  const TimeBreakdown& time = kernel.time;
  if (time.limiter == Limiter::launch) return 1;
  const double times = time.limiter == Limiter::latency ? time.uneven_warps : time.uneven_sms;
  return times >= kLeast ? times : 1;
}

}  // namespace simgpu
