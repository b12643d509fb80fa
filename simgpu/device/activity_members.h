#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "simgpu/report.h"

/// The members of everything in an Activity, once for all that goes through them: `archive(a, b,
/// …)` is called with references to them, in an order that stays the same.
namespace simgpu {

template <typename T, typename Record>
concept Like = std::same_as<std::remove_const_t<T>, Record>;

void members(auto& archive, Like<Dim3> auto& v) { archive(v.x, v.y, v.z); }

void members(auto& archive, Like<InlinedCall> auto& v) {
  archive(v.function, v.file, v.line, v.column);
}

void members(auto& archive, Like<HostFrame> auto& v) { archive(v.module, v.address); }

void members(auto& archive, Like<AccessSite> auto& v) {
  archive(v.file, v.line, v.column, v.block, v.thread, v.warp, v.action, v.inlined_at, v.by_thread,
          v.knows_thread, v.bytes, v.writes, v.called_from);
}

/// Any other number is no array that somebody knows.
void members(auto& archive, Like<ArraySpace> auto& v) {
  auto number = static_cast<std::uint8_t>(v);
  archive(number);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(v)>>) {
    v = static_cast<ArraySpace>(number);
  }
}

void members(auto& archive, Like<ArrayPlace> auto& v) {
  archive(v.space, v.name, v.words, v.bytes, v.offset, v.touched, v.step_x, v.step_y);
}

void members(auto& archive, Like<SourceNote> auto& v) { archive(v.file, v.line, v.text); }

void members(auto& archive, Like<StreamConflict> auto& v) {
  archive(v.work, v.on_default_stream, v.callers_is_default, v.starts_early);
}

void members(auto& archive, Like<RacingLaunches> auto& v) {
  archive(v.address, v.later, v.earlier);
}

void members(auto& archive, Like<Finding> auto& v) {
  archive(v.code, v.detail, v.kernel, v.where, v.other, v.object, v.name, v.message, v.occurrences,
          v.unless_returned, v.stream, v.launches, v.places, v.also);
}

void members(auto& archive, Like<KernelCounters> auto& v) {
  archive(v.warp_instructions, v.thread_instructions, v.instructions_by_class, v.flops, v.fadd,
          v.fmul, v.ffma, v.global_load_requests, v.global_store_requests, v.global_atomic_requests,
          v.global_load_sectors, v.global_store_sectors, v.global_atomic_sectors,
          v.global_load_bytes, v.global_store_bytes, v.global_atomic_bytes, v.l1_hit_sectors,
          v.l1_tag_lookups, v.l2_read_sectors, v.l2_write_sectors, v.l2_hit_sectors,
          v.dram_read_bytes, v.dram_write_bytes, v.shared_load_requests, v.shared_store_requests,
          v.shared_load_wavefronts, v.shared_store_wavefronts, v.shared_load_bank_conflicts,
          v.shared_store_bank_conflicts, v.shared_atomic_requests, v.shared_atomic_wavefronts,
          v.atomics_on_one_address, v.atomic_addresses, v.atomic_serial_cycles,
          v.local_load_requests, v.local_store_requests, v.local_load_sectors,
          v.local_store_sectors, v.local_tag_lookups, v.local_touched_sectors,
          v.local_spilling_requests, v.generic_load_requests, v.generic_global_load_requests,
          v.constant_load_requests, v.constant_load_wavefronts, v.branches, v.divergent_branches,
          v.barriers, v.slept_ns);
}

void members(auto& archive, Like<TimeBreakdown> auto& v) {
  archive(v.total_us, v.limiter, v.terms, v.wave_quantisation, v.launch_us, v.uneven_warps,
          v.uneven_sms);
}

void members(auto& archive, Like<LineCounters> auto& v) {
  archive(v.warp_instructions, v.thread_instructions, v.requests, v.sectors, v.asked_bytes,
          v.l1_hit_sectors, v.l2_sectors, v.dram_bytes, v.bank_requests, v.wavefronts,
          v.bank_conflicts, v.barriers);
}

void members(auto& archive, Like<AccessPicture> auto& v) {
  archive(v.is_shared, v.bytes, v.mask, v.block, v.warp, v.offsets, v.transactions, v.fewest);
}

void members(auto& archive, Like<InstructionRecord> auto& v) {
  archive(v.ptx_line, v.text, v.time_us, v.limiter, v.counters, v.picture);
}

void members(auto& archive, Like<CallRecord> auto& v) { archive(v.inlined_at, v.time_us); }

void members(auto& archive, Like<LineRecord> auto& v) {
  archive(v.file, v.line, v.time_us, v.limiter, v.counters, v.calls, v.instructions);
}

void members(auto& archive, Like<LineTable> auto& v) {
  archive(v.kernel, v.grid, v.block, v.time_us, v.lines);
}

void members(auto& archive, Like<MachineCodeRecord> auto& v) {
  archive(v.instructions, v.aligned, v.warp_instructions, v.deviation, v.why_not);
}

void members(auto& archive, Like<KernelRecord> auto& v) {
  archive(v.sequence, v.name, v.grid, v.block, v.dynamic_shared_bytes, v.static_shared_bytes,
          v.registers_per_thread, v.registers_are_estimated, v.local_bytes_per_thread,
          v.blocks_per_sm, v.occupancy_limiter, v.theoretical_occupancy, v.start_us, v.time,
          v.counters, v.failed, v.sees_order, v.sampled, v.sampled_blocks, v.library_routine,
          v.at_least, v.correlation, v.stream, v.graph_launch, v.line_table, v.machine_code);
}

void members(auto& archive, Like<MemoryRecord> auto& v) {
  archive(v.sequence, v.operation, v.bytes, v.start_us, v.time_us, v.destination, v.correlation,
          v.stream, v.graph_launch);
}

void members(auto& archive, Like<ApiRecord> auto& v) {
  archive(v.sequence, v.name, v.start_us, v.time_us, v.correlation, v.error);
}

void members(auto& archive, Like<FailedCall> auto& v) { archive(v.function, v.error, v.where); }

void members(auto& archive, Like<Activity> auto& v) {
  archive(v.kernels, v.memory, v.calls, v.calls_left_out, v.work_unjudged, v.findings,
          v.line_tables, v.printed, v.printed_bytes, v.given_bytes, v.elapsed_us, v.allocated,
          v.peak_allocated, v.api_calls, v.guest_connected, v.error, v.failed_call);
}

}  // namespace simgpu
