#include "labs/part1-metrics/oracle/gemm_study_record.h"

#include <algorithm>
#include <limits>

namespace rooflab {
namespace {

/// Bytes of the marker at the end of the study; guest/gemm_study.cpp knows them, too.
constexpr std::uint64_t kFirstMarkerBytes = 101;

/// @param bytes of the marker before the call
RecordedGemm recorded_gemm(const simgpu::Activity& activity, std::uint64_t bytes,
                           std::uint64_t end_of_study) {
  RecordedGemm call{call_behind_marker(activity, bytes)};
  const auto kernels = kernels_behind_marker(activity, bytes);
  if (kernels.empty()) return call;
  // In a sampled run the library's kernels are timed and not run: nobody counts their accesses.
  const bool is_of_library = std::ranges::any_of(kernels, [](const simgpu::KernelRecord* kernel) {
    return kernel->name.starts_with("cublas_");
  });
  if (is_of_library)
    call.loaded_bytes = call.stored_bytes = std::numeric_limits<double>::infinity();
  const simgpu::KernelRecord& first = *kernels.front();
  call.earlier_launches = static_cast<int>(
      std::ranges::count_if(activity.kernels, [&](const simgpu::KernelRecord& kernel) {
        return kernel.sequence < end_of_study && kernel.name == first.name &&
               kernel.grid == first.grid && kernel.block == first.block;
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
  const simgpu::MemoryRecord* end_of_study = only_fill(activity, bytes++);

  std::map<std::string, RecordedGemm> calls;
  for (const std::int64_t size : sizes) {
    for (const std::string_view gemm : gemms) {
      RecordedGemm& call = calls[name_of(gemm, size)];
      if (end_of_study != nullptr) call = recorded_gemm(activity, bytes, end_of_study->sequence);
      bytes += 2;  // one marker before the call, and one behind it
    }
  }
  return calls;
}

}  // namespace rooflab
