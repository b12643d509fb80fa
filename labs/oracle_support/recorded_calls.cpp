#include "labs/oracle_support/recorded_calls.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace rooflab {
namespace {

constexpr double kMillisecondsPerMicrosecond = 1e-3;

/// What lies between two events whose distance is asked for, by the places of their records.
struct TimedRegion {
  std::uint64_t begin, end;
};

std::vector<TimedRegion> timed_regions(const simgpu::Activity& activity) {
  std::vector<TimedRegion> regions;
  std::vector<std::uint64_t> records;  // since a distance was last asked for
  for (const simgpu::ApiRecord& call : activity.calls) {
    if (call.name == "cudaEventRecord") records.push_back(call.sequence);
    if (call.name != "cudaEventElapsedTime") continue;
    if (records.size() >= 2) regions.push_back({*(records.end() - 2), records.back()});
    records.clear();
  }
  return regions;
}

bool is_same_launch(const simgpu::KernelRecord& a, const simgpu::KernelRecord& b) {
  return a.name == b.name && a.grid == b.grid;
}

}  // namespace

void add(const simgpu::KernelRecord& kernel, RecordedCall& call) {
  ++call.kernels;
  for (const auto& [type, flops] : kernel.counters.flops) call.flops += static_cast<double>(flops);
  call.loaded_bytes += static_cast<double>(kernel.counters.global_load_bytes);
  call.stored_bytes += static_cast<double>(kernel.counters.global_store_bytes);
  if (!kernel.at_least) return;
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  call.flops = call.loaded_bytes = call.stored_bytes = kUnknown;
}

std::vector<RecordedCall> timed_work(const simgpu::Activity& activity) {
  std::vector<RecordedCall> work;
  for (const TimedRegion& region : timed_regions(activity)) {
    RecordedCall call;
    double begin_us = 0, end_us = 0;
    for (const simgpu::KernelRecord& kernel : activity.kernels) {
      if (kernel.sequence < region.begin || kernel.sequence > region.end) continue;
      if (call.kernels == 0) begin_us = kernel.start_us;
      add(kernel, call);
      call.busy_ms += kernel.time.total_us * kMillisecondsPerMicrosecond;
      end_us = std::max(end_us, kernel.start_us + kernel.time.total_us);
    }
    call.span_ms = (end_us - begin_us) * kMillisecondsPerMicrosecond;
    if (call.kernels > 0) work.push_back(call);
  }
  return work;
}

const simgpu::MemoryRecord* only_fill(const simgpu::Activity& activity, std::uint64_t bytes) {
  const auto is_fill = [&](const simgpu::MemoryRecord& record) {
    return record.operation == simgpu::MemoryOperation::set && record.bytes == bytes;
  };
  const auto first = std::ranges::find_if(activity.memory, is_fill);
  if (first == activity.memory.end()) return nullptr;
  const bool is_only = std::none_of(first + 1, activity.memory.end(), is_fill);
  return is_only ? &*first : nullptr;
}

std::vector<const simgpu::KernelRecord*> kernels_behind_marker(const simgpu::Activity& activity,
                                                               std::uint64_t bytes) {
  const simgpu::MemoryRecord* before = only_fill(activity, bytes);
  const simgpu::MemoryRecord* after = only_fill(activity, bytes + 1);
  std::vector<const simgpu::KernelRecord*> kernels;
  if (before == nullptr || after == nullptr) return kernels;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    if (kernel.sequence < before->sequence || kernel.sequence > after->sequence) continue;
    kernels.push_back(&kernel);
  }
  return kernels;
}

RecordedCall call_behind_marker(const simgpu::Activity& activity, std::uint64_t bytes) {
  const simgpu::MemoryRecord* before = only_fill(activity, bytes);
  const simgpu::MemoryRecord* after = only_fill(activity, bytes + 1);
  if (before == nullptr || after == nullptr) return {};
  RecordedCall call;
  double end_us = before->start_us + before->time_us;
  const double begin_us = end_us;
  for (const simgpu::KernelRecord* kernel : kernels_behind_marker(activity, bytes)) {
    add(*kernel, call);
    call.busy_ms += kernel->time.total_us * kMillisecondsPerMicrosecond;
    end_us = std::max(end_us, kernel->start_us + kernel->time.total_us);
  }
  for (const simgpu::ApiRecord& record : activity.calls) {
    if (record.sequence < before->sequence || record.sequence > after->sequence) continue;
    if (record.error == 0 && record.name.starts_with("cudaMalloc")) ++call.allocations;
  }
  call.span_ms = (end_us - begin_us) * kMillisecondsPerMicrosecond;
  return call;
}

std::string first_kernel_that_is_timed_cold(const simgpu::Activity& activity) {
  const auto& kernels = activity.kernels;
  for (const TimedRegion& region : timed_regions(activity)) {
    const auto first = std::ranges::find_if(kernels, [&](const simgpu::KernelRecord& kernel) {
      return kernel.sequence > region.begin && kernel.sequence < region.end;
    });
    if (first == kernels.end()) continue;
    const bool was_there = std::any_of(
        kernels.begin(), first,
        [&](const simgpu::KernelRecord& kernel) { return is_same_launch(kernel, *first); });
    if (!was_there) return first->name;
  }
  return {};
}

}  // namespace rooflab
