#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "simgpu/device/device.h"
#include "simgpu/memory/pages.h"

/// The part of Device that the trusted side alone calls.
namespace simgpu {
namespace {

constexpr std::size_t kMostBuiltCode = std::size_t{256} << 20;

}  // namespace

std::uint64_t Device::trusted_allocate(std::uint64_t bytes, const std::string& label) {
  const auto address = memory_.allocate(std::max<std::uint64_t>(bytes, 1), label);
  if (!address) {
    throw std::runtime_error(
        fmt::format("the simulated {} has no room for {} bytes of {}", gpu_.name, bytes, label));
  }
  // The trusted side writes its arrays whole. A guest's may be touched here and there, by the
  // blocks of a sampled launch.
  advise_huge_pages(memory_.host(*address), bytes);
  return *address;
}

std::uint64_t Device::trusted_allocate_vast(std::uint64_t bytes, const std::string& label,
                                            std::span<const std::byte> pattern) {
  const auto address = memory_.allocate_vast(bytes, label, pattern);
  if (!address) {
    throw std::runtime_error(
        fmt::format("the simulated {} has no room for {} bytes of {}", gpu_.name, bytes, label));
  }
  return *address;
}

void Device::trusted_release(std::uint64_t address) {
  if (guest_allocations_.contains(address) || !memory_.release(address)) {
    throw std::runtime_error(fmt::format("{:#x} is no allocation of the trusted side", address));
  }
}

void Device::check_from_now_on(std::uint64_t instruction_budget, std::uint64_t host_call_limit) {
  options_.checkers = true;
  options_.bounds_long_launches = false;
  options_.instruction_budget = instruction_budget;
  options_.host_call_limit = host_call_limit;
  for (const Allocation& allocation : memory_.live_allocations()) {
    memory_.mark_initialized(allocation.base, allocation.bytes);
  }
  memory_.note_change_anywhere();
}

void Device::note_callers_work(const std::vector<ByteRange>& ranges, bool alone) {
  has_callers_work_ = true;
  has_late_inputs_ = has_late_inputs_ || !alone;
  StreamRaces::Work work{.name = "work of the caller", .of_caller = true};
  for (const ByteRange& range : ranges) {
    if (range.bytes == 0) continue;
    work.ranges.push_back(
        {.begin = range.address, .end = range.address + range.bytes, .writes = true});
  }
  timeline_.stamp(timeline_.callers_stream());
  note_work(std::move(work));
}

void Device::mark() {
  timeline_.wait_until(timeline_.all_done());
  marked_at_ = timeline_.now();
  log_.clear();
  memory_.reset_peak();
  work_ = host_work_ = 0;
  changes_at_mark_ = memory_.changes();
  host_calls_ = calls_after_fault_ = 0;
  host_objects_.begin_call();
  is_cut_short_ = left_blocks_out_ = false;
  unsettle();
}

Activity Device::collect() {
  report_changed_sources();
  timeline_.wait_until(timeline_.all_done());
  Activity activity = log_.activity();
  activity.elapsed_us = microseconds(timeline_.now() - marked_at_);
  activity.allocated = memory_.allocated();
  activity.peak_allocated = memory_.peak_allocated();
  return activity;
}

void Device::add_built_code(std::span<const std::byte> bytes) {
  if (built_code_.size() + bytes.size() > kMostBuiltCode) {
    throw std::runtime_error("the built library is too large");
  }
  built_code_.insert(built_code_.end(), bytes.begin(), bytes.end());
}

}  // namespace simgpu
