#include "simgpu/device/device.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "simgpu/device/leaks.h"

namespace simgpu {
namespace {

std::uint64_t capacity_of(const gpu_spec::GpuSpec& gpu) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.dram_bytes, 0));
}

DeviceOptions completed(DeviceOptions options, const gpu_spec::GpuSpec& gpu) {
  if (options.workers == 0) options.workers = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t capacity = capacity_of(gpu);
  if (options.memory_limit == 0 || options.memory_limit > capacity) options.memory_limit = capacity;
  return options;
}

}  // namespace

Device::Device(gpu_spec::GpuSpec gpu, const DeviceOptions& options)
    : gpu_(std::move(gpu)),
      options_(completed(options, gpu_)),
      memory_(capacity_of(gpu_)),
      fault_(log_),
      modules_(gpu_, options_, memory_, log_),
      host_findings_(options_, memory_, log_, fault_, since_mark_),
      streams_(gpu_, options_, memory_, timeline_, log_, modules_, pools_),
      allocations_(options_, memory_, timeline_, log_, pools_, streams_, host_findings_),
      copies_(gpu_, memory_, timeline_, log_, managed_, streams_, host_findings_, since_mark_),
      launches_({.gpu = gpu_,
                 .options = options_,
                 .memory = memory_,
                 .timeline = timeline_,
                 .log = log_,
                 .fault = fault_,
                 .since_mark = since_mark_,
                 .managed = managed_,
                 .modules = modules_,
                 .streams = streams_,
                 .allocations = allocations_,
                 .host_findings = host_findings_}),
      library_kernels_(gpu_, options_, timeline_, log_, fault_, since_mark_, streams_) {}

void Device::release_guest() {
  host_findings_.report_unasked();
  streams_.report_changed_sources();
  allocations_.release_all();
  memory_.images().clear();
  launches_.forget_all();
  pools_.forget_all();
  modules_.unload_all();
  graphs_ = {};
  host_objects_.forget_all();
  timeline_.wait_until(timeline_.all_done());
  timeline_.forget_handles();
  streams_.forget_all();
  fault_.clear();
}

void Device::report_end() {
  streams_.report_changed_sources();
  host_findings_.report_unasked();
  if (fault_.is_raised()) return;
  report_leaks({.memory = memory_,
                .allocations = allocations_,
                .heap = launches_.heap(),
                .timeline = timeline_,
                .graphs = graphs_,
                .modules = modules_,
                .pools = pools_,
                .host_objects = host_objects_},
               log_);
}

void Device::mark() {
  timeline_.wait_until(timeline_.all_done());
  log_.clear();
  memory_.reset_peak();
  host_objects_.begin_call();
  since_mark_ = {.marked_at = timeline_.now(), .changes_at_mark = memory_.changes()};
}

Activity Device::collect() {
  streams_.report_changed_sources();
  timeline_.wait_until(timeline_.all_done());
  Activity activity = log_.activity();
  activity.elapsed_us = microseconds(timeline_.now() - since_mark_.marked_at);
  activity.allocated = memory_.allocated();
  activity.peak_allocated = memory_.peak_allocated();
  return activity;
}

void Device::follow_origins() {
  provenance_ = std::make_unique<Provenance>();
  copies_.follow(provenance_.get());
  allocations_.follow(provenance_.get());
  launches_.observe(provenance_.get());
}

void Device::keep_for_variants() {
  modules_.keep_variables();
  launches_.heap().keep();
}

void Device::begin_variant(const protocol::VariantLimits& limits,
                           std::vector<VariableContent> variables) {
  fault_.clear();
  host_findings_.note_asked();
  launches_.take_output();
  launches_.heap().release_since_kept();
  streams_.host_waited_for_all();
  streams_.forget_host_sources();
  allocations_.begin_independent_call(limits.follows_failure != 0);
  modules_.restore_variables();
  if (limits.is_checked != 0 && !options_.checkers) mark_all_written();
  options_.checkers = limits.is_checked != 0;
  options_.predicts_times = limits.is_timed != 0;
  options_.bounds_long_launches = false;
  options_.budget_is_of_call = true;
  options_.failing_block_first = true;
  options_.instruction_budget = limits.instruction_budget;
  options_.host_call_limit = limits.host_call_limit;
  modules_.assign(std::move(variables));
  mark();
}

void Device::check_from_now_on(std::uint64_t instruction_budget, std::uint64_t host_call_limit) {
  options_.checkers = true;
  options_.bounds_long_launches = false;
  options_.instruction_budget = instruction_budget;
  options_.host_call_limit = host_call_limit;
  mark_all_written();
}

/// Of what was not watched, nobody knows what was written to.
void Device::mark_all_written() {
  for (const Allocation& allocation : memory_.live_allocations()) {
    memory_.mark_initialized(allocation.base, allocation.bytes);
  }
  memory_.note_change_anywhere();
}

}  // namespace simgpu
