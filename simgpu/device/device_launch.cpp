#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "simgpu/device/device.h"
#include "simgpu/device/launch_places.h"
#include "simgpu/device/launch_rules.h"
#include "simgpu/exec/engine.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/local_memory.h"

/// The part of Device that loads modules and runs kernels.
namespace simgpu {
namespace {

constexpr std::uint64_t kGridWorkspaceBytes = 8;

constexpr std::size_t kMostModules = 4096;
/// Of modules whose machine code nobody has asked for yet, so many may be in the making.
constexpr std::size_t kMostAssemblers = 4;
/// Each keeps a descriptor open, and a process may have 1024 of them.
constexpr std::size_t kMostManagedVariables = 256;

CudaError error_of(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::ok:
      return CudaError::success;
    case LaunchStatus::illegal_address:
      return CudaError::illegal_address;
    case LaunchStatus::misaligned_address:
      return CudaError::misaligned_address;
    case LaunchStatus::assert_failed:
      return CudaError::assert_failed;
    case LaunchStatus::trap:
      return CudaError::launch_failure;
    case LaunchStatus::launch_timeout:
      return CudaError::launch_timeout;
    case LaunchStatus::launch_failure:
      return CudaError::launch_failure;
    case LaunchStatus::stack_overflow:
      return CudaError::illegal_address;  // as an H200 says it, not cudaErrorHardwareStackError
    case LaunchStatus::invalid_program_counter:
      return CudaError::invalid_pc;
    case LaunchStatus::unsupported:
      return CudaError::not_supported;
  }
  return CudaError::unknown;
}

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

/// A barrier that some threads miss orders nothing, so it comes before the races that follow from
/// it, though only the missing threads end the launch.
std::vector<Finding> cause_first(std::vector<Finding> findings) {
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind() == FindingKind::divergent_barrier;
  });
  return findings;
}

void name_calls(AccessSite& site) {
  for (InlinedCall& call : site.inlined_at) call.function = kernel_display_name(call.function);
}

/// A guest may load thousands of modules at once, and ptxas takes memory and a processor for each.
void wait_for_assemblers(std::map<std::uint64_t, LoadedModule>& modules,
                         const gpu_spec::GpuSpec& gpu) {
  const auto is_pending = [](const auto& entry) { return entry.second.code != nullptr; };
  auto pending = static_cast<std::size_t>(std::ranges::count_if(modules, is_pending));
  for (auto at = modules.begin(); pending >= kMostAssemblers; ++at) {
    if (!is_pending(*at)) continue;
    at->second.settle(gpu);
    --pending;
  }
}

}  // namespace

CudaError Device::load(std::span<const std::byte> container, std::uint64_t* handle,
                       protocol::ImageOrigin origin) {
  *handle = 0;
  std::uint64_t image_bytes = 0;
  std::size_t managed = 0;
  for (const auto& [other, loaded] : modules_) {
    image_bytes += loaded.image_bytes;
    managed += loaded.managed_variables();
  }
  if (modules_.size() >= kMostModules) return CudaError::memory_allocation;
  const ModuleLimits limits{.image_bytes = protocol::kMaxImageBytes - image_bytes,
                            .memory_bytes = options_.memory_limit,
                            .managed_variables = kMostManagedVariables - managed,
                            .origin = origin};
  wait_for_assemblers(modules_, gpu_);
  try {
    const bool built = is_built(container);
    if (!built) log_.count_given(container.size());
    const Naming naming = built || !names_only_built_code_ ? Naming::own : Naming::none;
    LoadedModule loaded = load_module(container, gpu_, limits, memory_, naming, options_.assembler);
    *handle = next_module_++;
    modules_.emplace(*handle, std::move(loaded));
    return CudaError::success;
  } catch (const ModuleError& error) {
    report({.code = "RL0312", .message = error.what()});
    return error.error();
  }
}

void Device::keep_managed(std::vector<ByteRange> touched) {
  if (memory_.shares_memory()) managed_.keep(memory_, std::move(touched));
}

std::vector<ByteRange> Device::written_by_host() const {
  return memory_.shares_memory() ? managed_.written_by_host(memory_) : std::vector<ByteRange>{};
}

bool Device::is_built(std::span<const std::byte> container) const {
  return built_code_.empty() || memmem(built_code_.data(), built_code_.size(), container.data(),
                                       container.size()) != nullptr;
}

std::string Device::shown_name(const std::string& mangled) const {
  if (!names_only_built_code_) return kernel_display_name(mangled);
  for (const auto& [handle, loaded] : modules_) {
    const int index = loaded.kernel_index(mangled);
    if (index >= 0) return *loaded.kernels[static_cast<std::size_t>(index)].display_name;
  }
  return kMadeAtRunTime;
}

CudaError Device::unload(std::uint64_t handle) {
  const auto found = modules_.find(handle);
  if (found == modules_.end()) return CudaError::invalid_resource_handle;
  unload_module(found->second, memory_);
  modules_.erase(found);
  return CudaError::success;
}

LoadedModule* Device::module(std::uint64_t handle) {
  const auto found = modules_.find(handle);
  return found == modules_.end() ? nullptr : &found->second;
}

LoadedModule* Device::settled_module(std::uint64_t handle) {
  LoadedModule* const found = module(handle);
  if (found != nullptr) found->settle(gpu_);
  return found;
}

CudaError Device::check_launch(const protocol::LaunchMessage& message,
                               std::size_t parameter_bytes) {
  const LoadedModule* loaded = settled_module(message.module);
  refused_kernel_.clear();
  if (loaded == nullptr || message.kernel >= loaded->kernels.size()) {
    return CudaError::invalid_device_function;
  }
  if (!timeline_.has_stream(message.stream)) return CudaError::invalid_resource_handle;
  const LoadedKernel& kernel = loaded->kernels[message.kernel];
  refused_kernel_ = *kernel.display_name;
  if (parameter_bytes != kernel.info->parameter_bytes) return CudaError::invalid_value;
  if (!loaded->refusal.empty()) {
    report({.code = "RL0312", .kernel = *kernel.display_name, .message = loaded->refusal});
    return CudaError::invalid_ptx;
  }
  if (!kernel.info->unsupported.empty()) {
    report({.code = "RL0312",
            .kernel = *kernel.display_name,
            .message = fmt::format("the simulated GPU does not implement {}",
                                   fmt::join(kernel.info->unsupported, ", "))});
    return CudaError::not_supported;
  }
  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  LaunchVerdict verdict = judge_launch(kernel, shape, stack_bytes_, gpu_);
  if (verdict.error == CudaError::success && message.cooperative != 0) {
    verdict = judge_cooperative(shape, gpu_);
  }
  if (verdict.error != CudaError::success) {
    report({.code = "RL0308",
            .kernel = *kernel.display_name,
            .message = fmt::format("the launch was refused with {}: {}", name_of(verdict.error),
                                   verdict.reason)});
  }
  return verdict.error;
}

CudaError Device::launch(const protocol::LaunchMessage& message,
                         std::span<const std::byte> parameters) {
  timeline_.spend(ApiCost::kLaunch);
  if (const CudaError error = check_launch(message, parameters.size());
      error != CudaError::success) {
    return error;
  }
  const LoadedModule& loaded = modules_.at(message.module);
  const LoadedKernel& kernel = loaded.kernels[message.kernel];
  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  last_kernel_ = kernel.display_name;
  unsettle();
  log_.count_given(launch_choices_.add(message, parameters));
  KnownLaunches::Key key = key_of(message, parameters);
  const bool is_off_stream = is_off_callers_stream(message.stream);
  const LaunchResult* const known =
      is_off_stream ? nullptr : known_launches_.find(key, memory_);  // it keeps no sectors
  const bool needs_places = wants_places();
  if (known != nullptr && (!needs_places || known->places != nullptr)) {
    ++repeats_;
    finish_launch(kernel, message, *known, {});
    return CudaError::success;
  }
  const unsigned blocks_per_sm = occupancy(shape, gpu_).blocks_per_sm;
  const LaunchRequest request{
      .kernel = kernel.info->name,
      .grid = message.grid,
      .block = message.block,
      .dynamic_shared_bytes = message.dynamic_shared_bytes,
      .stack_bytes = stack_bytes_,
      .parameters = parameters,
      .resident_blocks = std::uint64_t{blocks_per_sm} * static_cast<std::uint64_t>(gpu_.sm_count),
      .l1_bytes_per_block = l1_bytes_per_block(shape, blocks_per_sm, gpu_),
      .grid_workspace = message.cooperative != 0 ? grid_workspace() : 0,
      .heap = &heap_,
      .clock_us = microseconds(timeline_.now())};
  const EngineOptions options{.workers = options_.workers,
                              .checkers = options_.checkers,
                              .instruction_budget = budget_of_launch(),
                              .warp_limit_us = options_.warp_limit_us,
                              .bounds_long_launches = options_.bounds_long_launches,
                              .bounds_by_blocks_alone = options_.bounds_by_blocks_alone,
                              .secret = secret_,
                              .sectors = watches(message.stream) || memory_.shares_memory(),
                              .places = needs_places,
                              .sampled = options_.sampled,
                              .l2_memory = &l2_memory_};
  const std::vector<ByteRange> from_host = written_by_host();
  const std::vector<std::uint64_t> written_before = written_in_this_call();
  LaunchResult result = is_cut_short_ ? not_run(*kernel.info)
                                      : execute(*loaded.program, request, memory_, gpu_, options);
  work_ += result.work;
  host_work_ += result.work;
  const bool has_inputs = !is_cut_short_ && !left_blocks_out_;
  if (has_inputs && !may_rewrite(result, written_before)) settled_ = std::move(result.settled);
  result.settled = {};
  is_cut_short_ = is_cut_short_ || result.at_least;
  left_blocks_out_ = left_blocks_out_ || result.sampled_blocks != 0;
  keep_managed(touched_bytes(result, memory_));
  finish_launch(kernel, message, result,
                host_traffic(result, message.grid.count(), memory_, from_host));
  note_reads_of_host(*kernel.display_name, result.sectors);
  if (watches(message.stream) && result.status != LaunchStatus::unsupported) {
    note_work(
        {.kind = StreamWork::kernel,
         .name = "kernel " + *kernel.display_name,
         .program = loaded.program,
         .kernel = kernel.info,
         .sectors = outside_of(std::move(result.sectors), {grid_workspace_, kGridWorkspaceBytes}),
         .ranges = constants_of(*kernel.info),
         .draws = has_late_inputs_ ? drawing_atomics(*kernel.info) : std::vector<bool>()});
  }
  result.sectors.clear();  // no launch that touches the host's memory is taken from an earlier one
  if (!options_.execute_repeats && !result.at_least)
    known_launches_.remember(std::move(key), result, memory_);
  return result.status == LaunchStatus::unsupported ? CudaError::not_supported : CudaError::success;
}

/// Of a sampled call: the allocations that have changed since it began.
std::vector<std::uint64_t> Device::written_in_this_call() const {
  std::vector<std::uint64_t> written;
  if (!options_.sampled || memory_.changes() == changes_at_mark_) return written;
  for (const Allocation& allocation : memory_.live_allocations()) {
    if (!memory_.unchanged_since(allocation.base, changes_at_mark_)) {
      written.push_back(allocation.base);
    }
  }
  return written;
}

/// A launch that bounds itself shares its budget with those before it; each gets a part.
std::uint64_t Device::budget_of_launch() const {
  if (!options_.bounds_long_launches) return options_.instruction_budget;
  constexpr std::uint64_t kLeastPart = 16;
  const std::uint64_t left =
      options_.instruction_budget - std::min(work_, options_.instruction_budget);
  return std::max(left, options_.instruction_budget / kLeastPart);
}

/// Zeros for grid.sync(): the words that %envreg1 and %envreg2 point to, of which
/// cooperative_groups counts the second.
std::uint64_t Device::grid_workspace() {
  if (grid_workspace_ == 0) {
    grid_workspace_ =
        memory_.allocate(kGridWorkspaceBytes, "the workspace of grid.sync()").value_or(0);
    if (grid_workspace_ == 0) throw std::bad_alloc();
  }
  memory_.fill(grid_workspace_, 0, kGridWorkspaceBytes);
  return grid_workspace_;
}

KnownLaunches::Key Device::key_of(const protocol::LaunchMessage& message,
                                  std::span<const std::byte> parameters) const {
  return {.module = message.module,
          .kernel = message.kernel,
          .grid = message.grid,
          .block = message.block,
          .dynamic_shared_bytes = message.dynamic_shared_bytes,
          .cooperative = message.cooperative != 0,
          .stack_bytes = stack_bytes_,
          .checkers = options_.checkers,
          .parameters = {parameters.begin(), parameters.end()}};
}

void Device::note_work(StreamRaces::Work work) {
  work.stamp = timeline_.last_stamp();
  work.node = node_;
  work.stream_number = timeline_.stream_number(work.stamp.stream);
  const auto against =
      watches_streams() ? StreamRaces::Against::all : StreamRaces::Against::callers;
  for (Finding& race : stream_races_.add(std::move(work), timeline_.order(), memory_, against)) {
    name_calls(race.where);
    if (race.other) name_calls(*race.other);
    if (!race.kernel.empty()) race.kernel = shown_name(race.kernel);
    log_.add(std::move(race));
  }
}

CudaError Device::release_on(std::uint64_t address, std::uint64_t stream) {
  if (!timeline_.has_stream(stream)) return CudaError::invalid_resource_handle;
  const auto found = guest_allocations_.find(address);
  if (found != guest_allocations_.end() && watches(stream)) {
    timeline_.issue(stream, Timeline::Engine::compute, 0);
    note_work({.kind = StreamWork::release,
               .name = "cudaFreeAsync",
               .ranges = {{.begin = address, .end = address + found->second.bytes, .writes = true}},
               .frees = true});
  }
  return release(address);
}

void Device::finish_launch(const LoadedKernel& kernel, const protocol::LaunchMessage& message,
                           const LaunchResult& result, const HostTraffic& host) {
  for (Finding& finding : cause_first(result.findings)) {
    // It may be unwritten only because a launch before this one was sampled.
    if (options_.sampled && finding.kind() == FindingKind::uninitialized_read) continue;
    name_calls(finding.where);
    if (finding.other) name_calls(*finding.other);
    finding.kernel = *kernel.display_name;
    if (finding.kernel == kMadeAtRunTime) finding.object.clear();
    log_.add(std::move(finding));
  }
  log_.add_printed(result.printed);
  constexpr std::size_t kMostOutput = 1u << 20;  // the printf FIFO of a GPU holds 1 MiB by default
  const std::size_t room = kMostOutput - std::min(kMostOutput, output_.size());
  output_.append(result.printed, 0, std::min(room, result.printed.size()));
  if (result.status == LaunchStatus::unsupported) return;

  const LaunchShape shape =
      shape_of(kernel, message.grid, message.block, message.dynamic_shared_bytes);
  const Occupancy resident = occupancy(shape, gpu_);
  KernelRecord record = record_of(kernel, shape);
  record.sequence = log_.next_sequence();
  record.blocks_per_sm = resident.blocks_per_sm;
  record.occupancy_limiter = resident.limiter;
  record.theoretical_occupancy = resident.fraction;
  record.counters = result.counters;
  const ExecutedProgram program{kernel.info->instructions, result.executed, result.balance,
                                kernel.spills, result.loads};
  const LaunchShape timed = timed_shape(shape, result);
  const model::Work work = model::gather(record.counters, timed, {}, gpu_);
  add_spills(kernel.spills, result.executed, kernel.spilled_bytes,
             work.blocks * work.warps_per_block, record.counters);
  add_local_traffic(model::local_shares(work), record.counters);
  record.time = predict_time(record.counters, timed, program, timed_gpu());
  record.time.wave_quantisation = wave_quantisation(shape, timed_gpu());
  add_host_traffic(host, timed_gpu(), record.time);
  if (host.pinned_bytes + host.managed_bytes > 0) host_sources_.forget_all();
  record.failed = result.status != LaunchStatus::ok;
  record.sampled = result.sampled_blocks != 0;
  record.at_least = result.at_least;
  record.sampled_blocks = result.at_least ? result.bounded_blocks : result.sampled_blocks;
  const double device_us = device_time_us(record.counters, timed, program, timed_gpu());
  // What is known of a launch that was cut short is less than it does: nothing may come of that.
  const UnorderedWork::Places places = result.at_least
                                           ? std::make_shared<const TouchedPlaces>()
                                           : with_constants(result.places, *kernel.info);
  const Picoseconds start =
      issue(message.stream, Timeline::Engine::compute, picoseconds(record.time.total_us), places,
            device_share(shape, record.time, device_us, gpu_));
  record.start_us = microseconds(start);
  record.stream = timeline_.stream_number(message.stream);
  log_.add(std::move(record));
  if (result.status != LaunchStatus::ok) raise(error_of(result.status));
}

void Device::fail_library_kernel(Finding why) {
  const CudaError error = error_of(why.code.status());
  report(std::move(why));
  raise(error);
}

CudaError Device::run_library_kernel(const LibraryKernel& kernel, std::uint64_t stream) {
  timeline_.spend(ApiCost::kLaunch);
  if (!timeline_.has_stream(stream)) return CudaError::invalid_resource_handle;
  unsettle();
  left_blocks_out_ = left_blocks_out_ || options_.sampled;
  // A tuned library reaches about nine tenths of the arithmetic peak.
  constexpr double kLibraryEfficiency = 0.9;
  const auto peak = gpu_.peak_flops.find(kernel.flop_type);
  const auto fallback = gpu_.peak_flops.find("fp32");
  double rate = 0;
  if (peak != gpu_.peak_flops.end()) {
    rate = peak->second;
  } else if (fallback != gpu_.peak_flops.end()) {
    rate = fallback->second;
  }
  rate /= gpu_.slowdown_under_load();
  KernelRecord record;
  record.sequence = log_.next_sequence();
  record.sampled = options_.sampled;
  record.name = kernel.name;
  record.grid = {static_cast<std::uint32_t>(std::max(gpu_.sm_count, 1)), 1, 1};
  record.block = {256, 1, 1};
  record.counters.flops[kernel.flop_type] =
      static_cast<std::uint64_t>(std::min(std::max(kernel.flops, 0.0), 1e18));
  const auto counted = [](double count) {
    return static_cast<std::uint64_t>(std::min(count, 1e18));
  };
  record.counters.dram_read_bytes = counted(kernel.read_bytes);
  record.counters.dram_write_bytes = counted(kernel.stored_bytes);
  record.counters.global_store_bytes = counted(kernel.stored_bytes);
  const double compute_us = rate > 0 ? kernel.flops / (kLibraryEfficiency * rate) * 1e6 : 0;
  const double dram_rate = model::dram_read_rate(gpu_);
  const double bytes = model::as_dram_reads(kernel.read_bytes, kernel.stored_bytes, gpu_);
  const double dram_us = dram_rate > 0 ? bytes / dram_rate * 1e6 : 0;
  const double busiest = std::max(compute_us, dram_us);
  const Limiter arithmetic = arithmetic_limiter(kernel.flop_type);
  record.time.terms = {{arithmetic, compute_us}, {Limiter::dram, dram_us}};
  record.time.launch_us = timed_gpu().launch_overhead_us;
  record.time.total_us = busiest + record.time.launch_us;
  record.time.limiter = busiest < record.time.launch_us ? Limiter::launch
                        : compute_us >= dram_us         ? arithmetic
                                                        : Limiter::dram;
  add_host_traffic(kernel.host, timed_gpu(), record.time);
  if (kernel.host.pinned_bytes + kernel.host.managed_bytes > 0) host_sources_.forget_all();
  log_.count_given(LaunchChoices::kOfARoutine);
  const bool is_told = kernel.touched && (wants_places() || watches(stream));
  std::vector<StreamRaces::Range> touched;
  if (is_told) touched = kernel.touched();
  const Picoseconds start = issue(stream, Timeline::Engine::compute,
                                  picoseconds(record.time.total_us), places_of(touched));
  if (is_told && watches(stream))
    note_work(
        {.kind = StreamWork::library_call, .name = kernel.name, .ranges = std::move(touched)});
  record.start_us = microseconds(start);
  record.stream = timeline_.stream_number(stream);
  log_.add(std::move(record));
  return CudaError::success;
}

}  // namespace simgpu
