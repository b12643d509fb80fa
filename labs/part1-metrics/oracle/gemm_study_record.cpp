#include "labs/part1-metrics/oracle/gemm_study_record.h"

#include <algorithm>
#include <limits>

namespace rooflab {
namespace {

/// Bytes of the marker at the end of the study; guest/gemm_study.cpp knows them, too.
constexpr std::uint64_t kFirstMarkerBytes = 101;
constexpr double kMillisecondsPerMicrosecond = 1e-3;

/// The last fill of so many bytes: the student's own come before the adapter's.
const simgpu::MemoryRecord* marker(const simgpu::Activity& activity, std::uint64_t bytes) {
  const auto last = std::find_if(
      activity.memory.rbegin(), activity.memory.rend(), [&](const simgpu::MemoryRecord& record) {
        return record.operation == simgpu::MemoryOperation::set && record.bytes == bytes;
      });
  return last == activity.memory.rend() ? nullptr : &*last;
}

void add(const simgpu::KernelRecord& kernel, RecordedGemm& call) {
  ++call.kernels;
  call.busy_ms += kernel.time.total_us * kMillisecondsPerMicrosecond;
  for (const auto& [type, flops] : kernel.counters.flops) call.flops += static_cast<double>(flops);
  call.loaded_bytes += static_cast<double>(kernel.counters.global_load_bytes);
  call.stored_bytes += static_cast<double>(kernel.counters.global_store_bytes);
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  // In a sampled run the library's kernels are timed and not run: nobody counts their accesses.
  if (kernel.name.starts_with("cublas_")) call.loaded_bytes = call.stored_bytes = kUnknown;
  if (!kernel.at_least) return;
  call.flops = call.loaded_bytes = call.stored_bytes = kUnknown;
}

RecordedGemm call_between(const simgpu::Activity& activity, const simgpu::MemoryRecord& before,
                          const simgpu::MemoryRecord& after, std::uint64_t end_of_study) {
  RecordedGemm call;
  const simgpu::KernelRecord* first = nullptr;
  const double begin_us = before.start_us + before.time_us;
  double end_us = begin_us;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    if (kernel.sequence < before.sequence || kernel.sequence > after.sequence) continue;
    if (first == nullptr) first = &kernel;
    add(kernel, call);
    end_us = std::max(end_us, kernel.start_us + kernel.time.total_us);
  }
  call.span_ms = (end_us - begin_us) * kMillisecondsPerMicrosecond;
  if (first == nullptr) return call;
  call.earlier_launches = static_cast<int>(
      std::ranges::count_if(activity.kernels, [&](const simgpu::KernelRecord& kernel) {
        return kernel.sequence < end_of_study && kernel.name == first->name &&
               kernel.grid == first->grid && kernel.block == first->block;
      }));
  return call;
}

}  // namespace

std::string name_of(std::string_view gemm, std::int64_t size) {
  return std::string(gemm) + " " + std::to_string(size);
}

std::map<std::string, RecordedGemm> recorded_gemms(const simgpu::Activity& activity,
                                                   const std::vector<std::int64_t>& sizes,
                                                   bool has_registers) {
  std::vector<std::string_view> gemms = {"naive", "tiled", "cublas"};
  if (has_registers) gemms.emplace_back("registers");
  std::uint64_t bytes = kFirstMarkerBytes;
  const simgpu::MemoryRecord* end_of_study = marker(activity, bytes++);

  std::map<std::string, RecordedGemm> calls;
  for (const std::int64_t size : sizes) {
    for (const std::string_view gemm : gemms) {
      const simgpu::MemoryRecord* before = marker(activity, bytes++);
      const simgpu::MemoryRecord* after = marker(activity, bytes++);
      RecordedGemm& call = calls[name_of(gemm, size)];
      if (end_of_study == nullptr || before == nullptr || after == nullptr) continue;
      call = call_between(activity, *before, *after, end_of_study->sequence);
    }
  }
  return calls;
}

}  // namespace rooflab
