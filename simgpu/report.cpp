#include "simgpu/report.h"

#include <set>
#include <tuple>
#include <utility>

#include "simgpu/isa/instruction_info.h"

namespace simgpu {

namespace {

/// All members, in order of declaration: the binding fails to compile when one is missing.
template <typename Counters>
auto members_of(Counters& counters) {
  auto& [warp_instructions, thread_instructions, classes, flops, fadd, fmul, ffma, load_requests,
         store_requests, atomic_requests, load_sectors, store_sectors, atomic_sectors, load_bytes,
         store_bytes, atomic_bytes, l1_hits, l1_lookups, l2_reads, l2_writes, l2_hits, dram_reads,
         dram_writes, shared_loads, shared_stores, load_wavefronts, store_wavefronts,
         load_conflicts, store_conflicts, shared_atomics, atomic_wavefronts, one_address, addresses,
         serial, local_loads, local_stores, local_load_sectors, local_store_sectors, local_lookups,
         local_touched, spilling, generic_loads, generic_global_loads, constant_loads,
         constant_wavefronts, branches, divergent, barriers, slept] = counters;
  return std::tie(warp_instructions, thread_instructions, classes, flops, fadd, fmul, ffma,
                  load_requests, store_requests, atomic_requests, load_sectors, store_sectors,
                  atomic_sectors, load_bytes, store_bytes, atomic_bytes, l1_hits, l1_lookups,
                  l2_reads, l2_writes, l2_hits, dram_reads, dram_writes, shared_loads,
                  shared_stores, load_wavefronts, store_wavefronts, load_conflicts, store_conflicts,
                  shared_atomics, atomic_wavefronts, one_address, addresses, serial, local_loads,
                  local_stores, local_load_sectors, local_store_sectors, local_lookups,
                  local_touched, spilling, generic_loads, generic_global_loads, constant_loads,
                  constant_wavefronts, branches, divergent, barriers, slept);
}

void add_scaled(std::uint64_t& sum, std::uint64_t count, std::uint64_t times) {
  sum += times * count;
}

void add_scaled(std::map<std::string, std::uint64_t>& sum,
                const std::map<std::string, std::uint64_t>& counts, std::uint64_t times) {
  for (const auto& [name, count] : counts) sum[name] += times * count;
}

/// The counter of an instruction class, 0 when no such instruction ran.
double of_class(const KernelCounters& counters, InstructionClass cls) {
  const auto found = counters.instructions_by_class.find(name_of(cls));
  return found == counters.instructions_by_class.end() ? 0.0 : static_cast<double>(found->second);
}

double percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0.0; }

}  // namespace

void add_scaled(KernelCounters& sum, const KernelCounters& block, std::uint64_t times) {
  const auto sums = members_of(sum);
  const auto counts = members_of(block);
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (add_scaled(std::get<Index>(sums), std::get<Index>(counts), times), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(sums)>>{});
}

std::map<std::string, double> nsight_counters(const KernelRecord& record) {
  const KernelCounters& c = record.counters;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const double loads = number(c.global_load_sectors);
  const double l2_sectors = number(c.l2_read_sectors + c.l2_write_sectors);
  return {
      {"gpu__time_duration.sum", record.time.total_us * 1e3},
      {"launch__registers_per_thread", record.registers_per_thread},
      {"launch__shared_mem_per_block_static", record.static_shared_bytes},
      {"launch__shared_mem_per_block_dynamic", record.dynamic_shared_bytes},
      {"launch__grid_size", number(record.grid.count())},
      {"launch__block_size", number(record.block.count())},
      {"sm__maximum_warps_per_active_cycle_pct", 100.0 * record.theoretical_occupancy},
      {"smsp__inst_executed.sum", number(c.warp_instructions)},
      {"smsp__thread_inst_executed.sum", number(c.thread_instructions)},
      {"smsp__thread_inst_executed_per_inst_executed.ratio",
       c.warp_instructions == 0 ? 0.0
                                : number(c.thread_instructions) / number(c.warp_instructions)},
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", number(c.fadd)},
      {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", number(c.fmul)},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", number(c.ffma)},
      {"sm__inst_executed_pipe_tensor.sum", of_class(c, InstructionClass::tensor)},
      {"sm__inst_executed_pipe_alu.sum", of_class(c, InstructionClass::integer)},
      {"sm__inst_executed_pipe_fp16.sum", of_class(c, InstructionClass::fp16)},
      {"sm__inst_executed_pipe_fp64.sum", of_class(c, InstructionClass::fp64)},
      {"sm__inst_executed_pipe_xu.sum",
       of_class(c, InstructionClass::special) + of_class(c, InstructionClass::conversion)},
      {"simgpu__warp_exchanges.sum", of_class(c, InstructionClass::warp_exchange)},
      {"smsp__inst_executed_op_branch.sum", number(c.branches)},
      {"smsp__sass_branch_targets_threads_divergent.sum", number(c.divergent_branches)},
      {"smsp__inst_executed_op_barrier.sum", number(c.barriers)},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", number(c.global_load_requests)},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", number(c.global_store_requests)},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", number(c.global_atomic_requests)},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", loads},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", number(c.global_store_sectors)},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", number(c.global_atomic_sectors)},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
       c.global_load_requests == 0 ? 0.0 : loads / number(c.global_load_requests)},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
       c.global_store_requests == 0
           ? 0.0
           : number(c.global_store_sectors) / number(c.global_store_requests)},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", number(c.l1_hit_sectors)},
      {"l1tex__t_sector_hit_rate.pct", percent(number(c.l1_hit_sectors), loads)},
      {"lts__t_sectors_op_read.sum", number(c.l2_read_sectors)},
      {"lts__t_sectors_op_write.sum", number(c.l2_write_sectors)},
      {"lts__t_sectors_lookup_hit.sum", number(c.l2_hit_sectors)},
      {"lts__t_sector_hit_rate.pct", percent(number(c.l2_hit_sectors), l2_sectors)},
      {"dram__bytes_read.sum", number(c.dram_read_bytes)},
      {"dram__bytes_write.sum", number(c.dram_write_bytes)},
      {"smsp__inst_executed_op_ldgsts.sum", of_class(c, InstructionClass::async_copy)},
      {"smsp__inst_executed_op_shared_ld.sum", number(c.shared_load_requests)},
      {"smsp__inst_executed_op_shared_st.sum", number(c.shared_store_requests)},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", number(c.shared_load_wavefronts)},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", number(c.shared_store_wavefronts)},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
       number(c.shared_load_bank_conflicts)},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
       number(c.shared_store_bank_conflicts)},
      {"smsp__inst_executed_op_shared_atom.sum", number(c.shared_atomic_requests)},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
       number(c.shared_atomic_wavefronts)},
      {"simgpu__atomics_on_one_address.max", number(c.atomics_on_one_address)},
      {"smsp__inst_executed_op_local_ld.sum", number(c.local_load_requests)},
      {"smsp__inst_executed_op_local_st.sum", number(c.local_store_requests)},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", number(c.local_load_sectors)},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", number(c.local_store_sectors)},
      {"simgpu__local_spilling_requests.sum", number(c.local_spilling_requests)},
      {"simgpu__generic_load_requests.sum", number(c.generic_load_requests)},
      {"simgpu__generic_global_load_requests.sum", number(c.generic_global_load_requests)},
      {"simgpu__constant_load_requests.sum", number(c.constant_load_requests)},
      {"simgpu__constant_load_wavefronts.sum", number(c.constant_load_wavefronts)},
  };
}

const LineTable* lines_of(const Activity& activity, const KernelRecord& kernel) {
  const std::size_t table = kernel.line_table;
  return table == 0 || table > activity.line_tables.size() ? nullptr
                                                           : &activity.line_tables[table - 1];
}

std::uint64_t host_launches(const Activity& activity) {
  std::uint64_t single = 0;
  std::set<std::uint64_t> graphs;
  for (const KernelRecord& kernel : activity.kernels) {
    if (kernel.graph_launch == 0) ++single;
    if (kernel.graph_launch != 0) graphs.insert(kernel.graph_launch);
  }
  for (const MemoryRecord& copy : activity.memory) {
    if (copy.graph_launch != 0) graphs.insert(copy.graph_launch);
  }
  return single + graphs.size();
}

}  // namespace simgpu
