#include "grader/pipeline/device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "grader/pipeline/counts.h"
#include "grader/pipeline/roofline.h"

namespace rooflab {
namespace {

constexpr double kLeastShareOfOperations = 0.5;
constexpr double kMostShareOfBytes = 0.1;

bool has_records(const simgpu::Activity& activity) {
  return !activity.kernels.empty() || !activity.memory.empty() || !activity.api_calls.empty();
}

}  // namespace

std::string forbidden_call(const simgpu::Activity& activity,
                           const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const std::regex forbidden(pattern);
    for (const auto& [function, count] : activity.api_calls) {
      if (count > 0 && std::regex_search(function, forbidden)) return function;
    }
  }
  return {};
}

std::string missing_operations(const Work& work, const simgpu::Activity& activity) {
  if (!has_records(activity)) return {};
  double done = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    for (const auto& [type, flops] : kernel.counters.flops) done += static_cast<double>(flops);
  }
  const double needed = total_flops(work);
  if (done >= needed * kLeastShareOfOperations) return {};
  return fmt::format("kernels did {:.0f} of the {:.0f} FLOPs that this case takes", done, needed);
}

std::string missing_stores(const Problem& problem, const simgpu::Activity& activity) {
  const auto is_library = [](const auto& call) { return call.first.starts_with("cublas"); };
  if (std::ranges::any_of(activity.api_calls, is_library)) return {};
  std::uint64_t stored = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    stored += kSectorBytes *
              (kernel.counters.global_store_sectors + kernel.counters.global_atomic_sectors);
  }
  for (const simgpu::MemoryRecord& record : activity.memory) {
    if (record.kind != "copy device to host") stored += record.bytes;
  }
  std::uint64_t needed = 0;
  for (const Tensor& tensor : problem.tensors) {
    if (tensor.role != Role::output) continue;
    needed += tensor.bytes();
  }
  if (stored >= needed) return {};
  return fmt::format("kernels stored {} of the {} bytes of the outputs", stored, needed);
}

std::string copies_to_host(const Work& work, const simgpu::Activity& activity) {
  double copied = 0;
  for (const simgpu::MemoryRecord& record : activity.memory) {
    if (record.kind == "copy device to host") copied += static_cast<double>(record.bytes);
  }
  if (copied <= work.compulsory_bytes * kMostShareOfBytes) return {};
  return fmt::format("the timed call copies {:.0f} bytes to the host; the case has {:.0f} in all",
                     copied, work.compulsory_bytes);
}

}  // namespace rooflab
