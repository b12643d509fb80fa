#include "simgpu/device/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "simgpu/counters/l2_cache.h"
#include "simgpu/device/kernel_names.h"
#include "simgpu/device/launch_places.h"
#include "simgpu/device/launch_rules.h"
#include "simgpu/device/line_records.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/local_memory.h"

namespace simgpu {
namespace {

constexpr std::uint64_t kGridWorkspaceBytes = 8;

KernelRecord record_of(const LoadedKernel& kernel, const LaunchShape& shape) {
  KernelRecord record;
  record.name = *kernel.display_name;
  record.grid = shape.grid;
  record.block = shape.block;
  record.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  record.static_shared_bytes = shape.static_shared_bytes;
  record.registers_per_thread = shape.registers_per_thread;
  record.local_bytes_per_thread = kernel.local_bytes;
  record.registers_are_estimated = kernel.is_estimated;
  return record;
}

/// Memory of the host may make a launch longer: its instructions share that as they share the rest.
void stretch(std::vector<InstructionCost>& costs, const TimeBreakdown& time) {
  double sum = 0;
  for (const InstructionCost& cost : costs) sum += cost.time.time_us;
  if (sum <= 0) return;
  for (InstructionCost& cost : costs) cost.time.time_us *= (time.total_us - time.launch_us) / sum;
}

/// A launch behind one that was cut short: its inputs are not there.
LaunchResult not_run(const KernelInfo& kernel) {
  LaunchResult result;
  result.executed.resize(kernel.instructions.size());
  result.at_least = true;
  return result;
}

/// What the time of a launch is predicted for: of one that was bounded by its beginning only the
/// blocks that began, since the grid takes at least as long as they alone.
LaunchShape timed_shape(LaunchShape shape, const LaunchResult& result) {
  if (result.bounded_blocks == 0) return shape;
  constexpr std::uint64_t kMost = 0xffffffff;
  shape.grid = {static_cast<std::uint32_t>(std::min(result.bounded_blocks, kMost)), 1, 1};
  return shape;
}

/// Whether the blocks that were left out may leave what earlier work of the call has written: the
/// launch reads what it writes, and that is not as it was before the call. Its own blocks then do
/// not tell what the call computes: all else of the earlier work may be wrong.
bool may_rewrite(const LaunchResult& result, const std::vector<std::uint64_t>& written_before) {
  if (result.sampled_blocks == 0 || result.touched) return false;
  return std::ranges::any_of(result.settled.of_grid, [&](const ByteRange& stored) {
    return std::ranges::find(written_before, stored.address) != written_before.end();
  });
}

/// The number of a block, x first.
std::uint64_t number_in(const Dim3& grid, const Dim3& block) {
  return block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z);
}

/// A barrier that some threads miss orders nothing, so it comes before the races that follow from
/// it, though only the missing threads end the launch.
std::vector<Finding> cause_first(std::vector<Finding> findings) {
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind() == FindingKind::divergent_barrier;
  });
  return findings;
}

}  // namespace

Launches::Launches(const Parts& parts)
    : parts_(parts),
      l2_memory_(L2Cache::storage(
          static_cast<std::uint64_t>(std::max<std::int64_t>(parts.gpu.l2_bytes, 0)))),
      heap_(parts.memory),
      launch_times_(parts.options) {}

CudaError Launches::check(const protocol::LaunchMessage& message, std::size_t parameter_bytes) {
  const LoadedKernel* const found = parts_.modules.find_kernel(message.module, message.kernel);
  parts_.host_findings.note_checked_launch({});
  if (found == nullptr) return CudaError::invalid_device_function;
  if (!parts_.timeline.has_stream(message.stream)) return CudaError::invalid_resource_handle;
  const LoadedKernel& kernel = *found;
  parts_.host_findings.note_checked_launch(*kernel.display_name);
  if (parameter_bytes != kernel.info->parameter_bytes) return CudaError::invalid_value;
  if (!kernel.refusal.empty()) {
    parts_.log.add(Finding{.code = "RL0312",
                           .kernel = *kernel.display_name,
                           .where = parts_.log.host_site("this launch"),
                           .message = kernel.refusal});
    return CudaError::invalid_ptx;
  }
  if (!kernel.info->unsupported.empty()) {
    parts_.log.add(Finding{.code = "RL0312",
                           .kernel = *kernel.display_name,
                           .where = parts_.log.host_site("this launch"),
                           .message = fmt::format("the simulated GPU does not implement {}",
                                                  fmt::join(kernel.info->unsupported, ", "))});
    return CudaError::not_supported;
  }
  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  LaunchVerdict verdict = judge_launch(kernel, shape, stack_bytes_, parts_.gpu);
  if (verdict.error == CudaError::success && message.cooperative != 0) {
    verdict = judge_cooperative(shape, parts_.gpu);
  }
  if (verdict.error != CudaError::success) {
    parts_.log.add(Finding{.code = "RL0308",
                           .kernel = *kernel.display_name,
                           .where = parts_.log.host_site("this launch"),
                           .message = fmt::format("the launch was refused with {}: {}",
                                                  name_of(verdict.error), verdict.reason)});
  }
  return verdict.error;
}

CudaError Launches::launch(const protocol::LaunchMessage& message,
                           std::span<const std::byte> parameters) {
  parts_.timeline.spend(ApiCost::kLaunch);
  if (const CudaError error = check(message, parameters.size()); error != CudaError::success) {
    return error;
  }
  const LoadedKernel& kernel = *parts_.modules.find_kernel(message.module, message.kernel);
  parts_.allocations.note_kernel(kernel.display_name);
  parts_.since_mark.unsettle();
  ++parts_.since_mark.launches;
  parts_.log.count_given(launch_choices_.add(message, parameters));
  KnownLaunches::Key key = key_of(message, parameters);
  // A known launch keeps no sectors, which are held against the caller's work.
  const bool is_off_stream = parts_.streams.is_off_callers_stream(message.stream);
  const bool must_run = is_off_stream || observer_ != nullptr;
  const LaunchResult* const known = must_run ? nullptr : known_launches_.find(key, parts_.memory);
  if (known != nullptr && (!parts_.streams.wants_places() || known->places != nullptr)) {
    ++repeats_;
    finish(kernel, message, *known, {});
    return CudaError::success;
  }
  const std::vector<ByteRange> from_host = parts_.managed.written_by_host(parts_.memory);
  LaunchResult result = run(kernel, message, parameters);
  parts_.managed.keep(parts_.memory, touched_bytes(result, parts_.memory));
  finish(kernel, message, result,
         host_traffic(result, message.grid.count(), parts_.memory, from_host));
  note_touched(kernel, message, result);
  result.sectors.clear();  // no launch that touches the host's memory is taken from an earlier one
  if (!parts_.options.execute_repeats && !result.at_least) {
    known_launches_.remember(std::move(key), result, parts_.memory);
  }
  return result.status == LaunchStatus::unsupported ? CudaError::not_supported : CudaError::success;
}

LaunchResult Launches::run(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                           std::span<const std::byte> parameters) {
  const LaunchRequest request = request_of(kernel, message, parameters);
  const std::vector<std::uint64_t> written_before = written_in_this_call();
  SinceMark& call = parts_.since_mark;
  LaunchResult result = call.is_cut_short ? not_run(*kernel.info)
                                          : execute(*kernel.program, request, parts_.memory,
                                                    parts_.gpu, options_on(message.stream));
  if (result.status != LaunchStatus::ok && !result.findings.empty()) {
    failed_block_ = number_in(message.grid, result.findings.back().where.block);
  }
  call.work += result.work;
  call.host_work += result.work;
  const bool has_inputs = !call.is_cut_short && !call.left_blocks_out;
  if (has_inputs && !may_rewrite(result, written_before)) {
    call.settled = std::move(result.settled);
  }
  result.settled = {};
  call.is_cut_short = call.is_cut_short || result.at_least;
  call.left_blocks_out = call.left_blocks_out || result.sampled_blocks != 0;
  return result;
}

LaunchRequest Launches::request_of(const LoadedKernel& kernel,
                                   const protocol::LaunchMessage& message,
                                   std::span<const std::byte> parameters) {
  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  const unsigned blocks_per_sm = occupancy(shape, parts_.gpu).blocks_per_sm;
  return {.kernel = kernel.info->name,
          .grid = message.grid,
          .block = message.block,
          .dynamic_shared_bytes = message.dynamic_shared_bytes,
          .stack_bytes = stack_bytes_,
          .parameters = parameters,
          .resident_blocks =
              std::uint64_t{blocks_per_sm} * static_cast<std::uint64_t>(parts_.gpu.sm_count),
          .l1_bytes_per_block = l1_bytes_per_block(shape, blocks_per_sm, parts_.gpu),
          .grid_workspace = message.cooperative != 0 ? grid_workspace() : 0,
          .heap = &heap_,
          .clock_us = microseconds(parts_.timeline.now())};
}

EngineOptions Launches::options_on(std::uint64_t stream) {
  const DeviceOptions& options = parts_.options;
  return {.workers = options.workers,
          .checkers = options.checkers,
          .instruction_budget = budget(),
          .warp_limit_us = options.warp_limit_us,
          .bounds_long_launches = options.bounds_long_launches,
          .bounds_by_blocks_alone = options.bounds_by_blocks_alone,
          .secret = secret_,
          .sectors = parts_.streams.watches(stream) || parts_.memory.shares_memory(),
          .places = parts_.streams.wants_places(),
          .first_accesses = options.lines || options.time_from == TimeFrom::machine_code,
          .sampled = options.sampled,
          .l2_memory = &l2_memory_,
          .first_block = options.failing_block_first ? failed_block_ : 0,
          .backwards = options.backwards,
          .observer = observer_};
}

/// Who else works on the memory that the launch has touched is told of it.
void Launches::note_touched(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                            LaunchResult& result) {
  Streams& streams = parts_.streams;
  streams.note_host_memory(*kernel.display_name, kernel.info->signals_host, result.sectors);
  if (!streams.watches(message.stream) || result.status == LaunchStatus::unsupported) return;
  streams.note_work(
      {.kind = StreamWork::kernel,
       .name = "kernel " + *kernel.display_name,
       .program = kernel.program,
       .kernel = kernel.info,
       .launch = parts_.since_mark.launches,
       .sectors = outside_of(std::move(result.sectors), {grid_workspace_, kGridWorkspaceBytes}),
       .ranges = constants_of(*kernel.info),
       .draws = streams.has_late_inputs() ? drawing_atomics(*kernel.info) : std::vector<bool>()});
}

/// Of a sampled call: the allocations that have changed since it began.
std::vector<std::uint64_t> Launches::written_in_this_call() const {
  std::vector<std::uint64_t> written;
  if (!parts_.options.sampled || parts_.memory.changes() == parts_.since_mark.changes_at_mark)
    return written;
  for (const Allocation& allocation : parts_.memory.live_allocations()) {
    if (!parts_.memory.unchanged_since(allocation.base, parts_.since_mark.changes_at_mark)) {
      written.push_back(allocation.base);
    }
  }
  return written;
}

/// A launch that bounds itself shares its budget with those before it; each gets a part. Those of
/// a call that has a budget as a whole get what is left.
std::uint64_t Launches::budget() const {
  const DeviceOptions& options = parts_.options;
  if (!options.bounds_long_launches && !options.budget_is_of_call) {
    return options.instruction_budget;
  }
  const std::uint64_t left =
      options.instruction_budget - std::min(parts_.since_mark.work, options.instruction_budget);
  if (options.budget_is_of_call) return std::max<std::uint64_t>(left, 1);
  constexpr std::uint64_t kLeastPart = 16;
  return std::max(left, options.instruction_budget / kLeastPart);
}

/// Zeros for grid.sync(): the words that %envreg1 and %envreg2 point to, of which
/// cooperative_groups counts the second.
std::uint64_t Launches::grid_workspace() {
  if (grid_workspace_ == 0) {
    grid_workspace_ =
        parts_.memory.allocate(kGridWorkspaceBytes, "the workspace of grid.sync()").value_or(0);
    if (grid_workspace_ == 0) throw std::bad_alloc();
  }
  parts_.memory.fill(grid_workspace_, 0, kGridWorkspaceBytes);
  return grid_workspace_;
}

KnownLaunches::Key Launches::key_of(const protocol::LaunchMessage& message,
                                    std::span<const std::byte> parameters) const {
  return {.module = message.module,
          .kernel = message.kernel,
          .grid = message.grid,
          .block = message.block,
          .dynamic_shared_bytes = message.dynamic_shared_bytes,
          .cooperative = message.cooperative != 0,
          .stack_bytes = stack_bytes_,
          .checkers = parts_.options.checkers,
          .parameters = {parameters.begin(), parameters.end()}};
}

/// What the launch has found and printed.
void Launches::tell(const LoadedKernel& kernel, const LaunchResult& result) {
  for (Finding& finding : cause_first(result.findings)) {
    // It may be unwritten only because a launch before this one was sampled.
    if (parts_.options.sampled && finding.kind() == FindingKind::uninitialized_read) continue;
    name_calls(finding);
    finding.kernel = *kernel.display_name;
    if (finding.kernel == kMadeAtRunTime) finding.object.clear();
    parts_.log.add(std::move(finding));
  }
  parts_.log.add_printed(result.printed);
  constexpr std::size_t kMostOutput = 1u << 20;  // the printf FIFO of a GPU holds 1 MiB by default
  const std::size_t room = kMostOutput - std::min(kMostOutput, output_.size());
  output_.append(result.printed, 0, std::min(room, result.printed.size()));
}

/// What the source lines of the launch cost.
void Launches::tell_lines(const LoadedKernel& kernel, const LaunchResult& result,
                          const LaunchTime& time, KernelRecord& record) {
  record.line_table = parts_.log.table_like(record);
  if (record.line_table != 0 || !parts_.log.has_room_for_lines()) return;
  LineTable table{.kernel = record.name,
                  .grid = record.grid,
                  .block = record.block,
                  .time_us = record.time.total_us,
                  .lines = line_records({.kernel = *kernel.info,
                                         .ptx = *kernel.ptx,
                                         .costs = time.costs,
                                         .first_accesses = result.first_accesses})};
  if (!table.lines.empty()) record.line_table = parts_.log.add(std::move(table));
}

void Launches::finish(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                      const LaunchResult& result, const HostTraffic& host) {
  tell(kernel, result);
  if (result.status == LaunchStatus::unsupported) return;

  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  const gpu_spec::GpuSpec& timed_gpu = parts_.streams.timed_gpu();
  const Occupancy resident = occupancy(shape, parts_.gpu);
  KernelRecord record = record_of(kernel, shape);
  record.sequence = parts_.log.next_sequence();
  record.blocks_per_sm = resident.blocks_per_sm;
  record.occupancy_limiter = resident.limiter;
  record.theoretical_occupancy = resident.fraction;
  record.counters = result.counters;
  const LaunchShape timed = timed_shape(shape, result);
  const model::Work work = model::gather(record.counters, timed, {}, parts_.gpu);
  add_spills(kernel.spills, result.executed, kernel.spilled_bytes,
             work.blocks * work.warps_per_block, record.counters);
  add_local_traffic(model::local_shares(work), record.counters);
  LaunchTime time = launch_times_.of({.kernel = kernel,
                                      .result = result,
                                      .shape = timed,
                                      .counters = record.counters,
                                      .gpu = timed_gpu});
  record.time = time.predicted.time;
  record.machine_code = time.machine_code;
  record.counters = std::move(time.counters);
  record.time.wave_quantisation = wave_quantisation(shape, timed_gpu);
  add_host_traffic(host, timed_gpu, record.time);
  stretch(time.costs, record.time);
  if (parts_.options.lines) tell_lines(kernel, result, time, record);
  if (host.pinned_bytes + host.managed_bytes > 0) parts_.streams.forget_host_sources();
  record.failed = result.status != LaunchStatus::ok;
  record.sees_order = kernel.info->sees_order;
  record.sampled = result.sampled_blocks != 0;
  record.at_least = result.at_least;
  record.sampled_blocks = result.at_least ? result.bounded_blocks : result.sampled_blocks;
  // What is known of a launch that was cut short is less than it does: nothing may come of that.
  const UnorderedWork::Places places = result.at_least
                                           ? std::make_shared<const TouchedPlaces>()
                                           : with_constants(result.places, *kernel.info);
  const Picoseconds start = parts_.streams.issue(
      message.stream, Timeline::Engine::compute, picoseconds(record.time.total_us), places,
      device_share(shape, record.time, time.device_us, parts_.gpu));
  record.start_us = microseconds(start);
  record.stream = parts_.timeline.stream_number(message.stream);
  parts_.log.add(std::move(record));
  if (result.status != LaunchStatus::ok) parts_.fault.raise(result.status);
}

CudaError Launches::set_stack_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMost = 256u << 10;  // all threads of a block have theirs at once
  constexpr std::uint64_t kStep = 16;
  if (bytes > kMost) return CudaError::invalid_value;
  stack_bytes_ = static_cast<std::uint32_t>((bytes + kStep - 1) / kStep * kStep);
  return CudaError::success;
}

CudaError Launches::set_heap_bytes(std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(parts_.gpu.dram_bytes))
    return CudaError::memory_allocation;
  return heap_.resize(bytes) ? CudaError::success : CudaError::invalid_value;
}

void Launches::forget_all() {
  heap_.reset();
  stack_bytes_ = kDefaultStackBytes;
  known_launches_ = {};
  launch_times_.forget_all();
  launch_choices_.forget_all();
  output_.clear();
}

}  // namespace simgpu
