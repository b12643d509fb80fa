#include "grader/pipeline/device_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

#include "grader/pipeline/counts.h"
#include "grader/pipeline/timing.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using simgpu::Limiter;
using simgpu::MemoryOperation;

constexpr double kLeastShareOfOperations = 0.5;
constexpr double kMostShareOfBytes = 0.1;
/// Of the outputs' bytes, that come from the host: all results may, with half of their bits.
constexpr double kShareOfRoundTrip = 0.5;
/// Of a call whose kernels did clearly less than the case takes, such a part is no accident: the
/// last queries of causal attention are a small part of the outputs, and of the work a large one.
constexpr double kShareOfMissing = 1.0 / 30;
constexpr double kClearlyFewer = 0.9;
/// In a timed call a part of them pays as well.
constexpr double kShareFromHost = 0.125;

bool has_records(const simgpu::Activity& activity) {
  return !activity.kernels.empty() || !activity.memory.empty() || !activity.api_calls.empty();
}

double bytes_of(const simgpu::Activity& activity, MemoryOperation operation) {
  double bytes = 0;
  for (const simgpu::MemoryRecord& record : activity.memory) {
    if (record.operation == operation) bytes += static_cast<double>(record.bytes);
  }
  return bytes;
}

std::uint64_t bytes_of_tensors(const Problem& problem, std::initializer_list<Role> roles) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : problem.tensors) {
    if (std::ranges::find(roles, tensor.role) != roles.end()) bytes += tensor.bytes();
  }
  return bytes;
}

/// Bytes that kernels read from or wrote to memory that the host shares, by what that takes over
/// PCIe.
double shared_bytes(const simgpu::Activity& activity, Limiter term, const gpu_spec::GpuSpec& gpu) {
  double us = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    const auto found = kernel.time.terms.find(term);
    if (found != kernel.time.terms.end()) us += found->second;
  }
  return us * 1e-6 * gpu.pcie_bytes_per_second;
}

/// Where host code can read what kernels stored, whether it does or not.
double stored_for_host(const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  return shared_bytes(activity, Limiter::host_stores, gpu) +
         shared_bytes(activity, Limiter::managed_stores, gpu);
}

double bytes_to_host(const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  return bytes_of(activity, MemoryOperation::copy_to_host) + stored_for_host(activity, gpu) +
         static_cast<double>(activity.printed_bytes);
}

/// What host code may read of a problem: positions, sizes and the like.
double integer_bytes(const Problem& problem) {
  double bytes = 0;
  for (const Tensor& tensor : problem.tensors) {
    const bool is_read = tensor.role == Role::input && tensor.type == ElementType::int32;
    if (is_read) bytes += static_cast<double>(tensor.bytes());
  }
  return bytes;
}

double bytes_from_host(const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  return bytes_of(activity, MemoryOperation::copy_to_device) +
         shared_bytes(activity, Limiter::host_loads, gpu);
}

/// The bytes that whoever computes the results must have: those of the tensors, and no more than
/// cross DRAM, which may be several times as many where inputs are needed again and again.
double needed_bytes(const TensorBytes& bytes, const Work& work) {
  return std::min(static_cast<double>(bytes.all), work.compulsory_bytes);
}

bool went_to_the_host(const TensorBytes& bytes, const Work& work, const simgpu::Activity& activity,
                      const gpu_spec::GpuSpec& gpu) {
  return bytes_to_host(activity, gpu) - bytes.integers >
         needed_bytes(bytes, work) * kMostShareOfBytes;
}

/// Whether an eighth of the outputs may come from the host: by copies, as kernels' parameters, in
/// modules that are made at run time, or by loads of what the host has written to memory that both
/// sides can reach. After copies to the host, such memory is enough.
bool may_come_from_the_host(const TensorBytes& bytes, const Work& work,
                            const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  const double brought = bytes_from_host(activity, gpu) + static_cast<double>(activity.given_bytes);
  if (brought >= kShareFromHost * static_cast<double>(bytes.results)) return true;
  const bool has_copied = bytes_of(activity, MemoryOperation::copy_to_host) - bytes.integers >
                          needed_bytes(bytes, work) * kMostShareOfBytes;
  return has_copied && std::ranges::any_of(activity.api_calls, [](const auto& call) {
           constexpr std::array<std::string_view, 5> kShared{
               "cudaHostAlloc", "cudaMallocHost", "cudaHostRegister", "cudaMallocManaged",
               "cudaHostGetDevicePointer"};
           return std::ranges::find(kShared, call.first) != kShared.end();
         });
}

/// The most floating-point operations that these kernels can have done, whatever their
/// instructions were: a fused multiply-add of two halves is four. Tensor cores' are counted.
double most_operations(const simgpu::Activity& activity) {
  constexpr double kMostOfAnInstruction = 4;
  double most = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    most += kMostOfAnInstruction * static_cast<double>(kernel.counters.thread_instructions);
    for (const auto& [type, flops] : kernel.counters.flops) {
      const bool counted_apart =
          type.ends_with("_tensor") || kernel.counters.thread_instructions == 0;
      if (counted_apart) most += static_cast<double>(flops);
    }
  }
  return most;
}

double operations(const simgpu::Activity& activity) {
  double done = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    for (const auto& [type, flops] : kernel.counters.flops) done += static_cast<double>(flops);
  }
  return done;
}

/// What the operations that kernels did take at the peaks of their types.
double least_us(const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  std::map<std::string, double> done;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    for (const auto& [type, flops] : kernel.counters.flops) {
      done[type] += static_cast<double>(flops);
    }
  }
  constexpr double kMicrosecondsPerSecond = 1e6;
  double longest = 0;
  for (const auto& [type, flops] : done) {
    const auto peak = gpu.peak_flops.find(type);
    if (peak == gpu.peak_flops.end()) continue;
    longest = std::max(longest, flops / peak->second * kMicrosecondsPerSecond);
  }
  return longest;
}

/// Whether kernels did clearly fewer operations than the case takes.
bool is_missing_operations(double needed, const simgpu::Activity& activity) {
  return activity.kernels.empty() || operations(activity) < kClearlyFewer * needed;
}

/// Bytes that can hold what the host has made of the case's data: what was copied to the device
/// after the first copy to the host, and what it said by launches and fills, beyond the parameters
/// of a few kernels, which must not be enough for half of the results.
double bytes_behind_the_host(const TensorBytes& tensors, const simgpu::Activity& activity,
                             const gpu_spec::GpuSpec& gpu) {
  constexpr double kMostUsual = 512;
  const double usual =
      std::min(kMostUsual, kShareOfRoundTrip * static_cast<double>(tensors.results));
  bool has_left = stored_for_host(activity, gpu) > 0 || activity.printed_bytes > 0;
  double bytes = shared_bytes(activity, Limiter::host_loads, gpu);
  for (std::size_t i = 0; i < activity.memory.size(); ++i) {
    const simgpu::MemoryRecord& record = activity.memory[i];
    // Of sums the order is not known.
    has_left =
        has_left || record.operation == MemoryOperation::copy_to_host || i >= simgpu::kMostRecords;
    if (has_left && record.operation == MemoryOperation::copy_to_device) {
      bytes += static_cast<double>(record.bytes);
    }
  }
  return bytes + std::max(static_cast<double>(activity.given_bytes) - usual, 0.0);
}

/// What the data's way over the host says.
std::optional<Doubt::Kind> doubt_of_round_trip(double needed, double results, double back,
                                               const simgpu::Activity& activity) {
  if (back <= 0) return std::nullopt;
  if (is_missing_operations(needed, activity)) {
    if (back >= kShareOfMissing * results) return Doubt::Kind::not_computed;
    return std::nullopt;
  }
  const double least = needed == 0 ? kShareFromHost : kShareOfRoundTrip;
  return back >= least * results ? std::optional(Doubt::Kind::detour) : std::nullopt;
}

/// What does the same as a copy or fill that the device carried out, however it was asked to: a
/// node of a graph has no function of its own when it runs.
std::string function_of(const simgpu::MemoryRecord& record) {
  return record.operation == MemoryOperation::set ? "cudaMemset" : "cudaMemcpy";
}
std::string by_what(const simgpu::MemoryRecord& record) {
  return record.graph_launch != 0 ? " (a node of a graph)" : "";
}

bool did_half(const Work& work, const simgpu::Activity& activity) {
  return operations(activity) >= total_flops(work) * kLeastShareOfOperations;
}

}  // namespace

TensorBytes tensor_bytes(const Problem& problem) {
  return {.results = bytes_of_tensors(problem, {Role::output, Role::in_out}),
          .all = bytes_of_tensors(problem, {Role::input, Role::output, Role::in_out}),
          .integers = integer_bytes(problem)};
}

bool is_forbidden(const std::string& function, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return Pattern(pattern).occurs_in(function); });
}

std::string forbidden_call(const simgpu::Activity& activity,
                           const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const Pattern forbidden(pattern);
    for (const auto& [function, count] : activity.api_calls) {
      if (count > 0 && forbidden.occurs_in(function)) return function;
    }
    for (const simgpu::MemoryRecord& record : activity.memory) {
      const std::string function = function_of(record);
      if (forbidden.occurs_in(function)) return function + by_what(record);
    }
  }
  return {};
}

std::optional<Doubt> missing_operations(const Problem& problem, const Work& work,
                                        const simgpu::Activity& activity,
                                        const gpu_spec::GpuSpec& gpu) {
  if (!has_records(activity)) return std::nullopt;
  if (auto detour = round_trip(problem, work, activity, gpu)) return detour;
  if (did_half(work, activity)) return std::nullopt;
  constexpr double kImpossible = 0.1;
  const double needed = total_flops(work);
  const bool proven = activity.kernels.empty() || most_operations(activity) < kImpossible * needed;
  return Doubt{fmt::format("kernels did {:.0f} of the {:.0f} FLOPs that this case takes",
                           operations(activity), needed),
               proven ? Doubt::Kind::not_computed : Doubt::Kind::for_people,
               "kernels did fewer operations than this case takes"};
}

std::optional<Doubt> round_trip(const Problem& problem, const Work& work,
                                const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  const double needed = total_flops(work);
  const TensorBytes bytes = tensor_bytes(problem);
  const double back = bytes_behind_the_host(bytes, activity, gpu);
  const auto doubt =
      doubt_of_round_trip(needed, static_cast<double>(bytes.results), back, activity);
  if (!doubt || !went_to_the_host(bytes, work, activity, gpu)) return std::nullopt;
  std::string reason = fmt::format("{:.0f} bytes left for the host, and {:.0f} came back",
                                   bytes_to_host(activity, gpu), back);
  if (needed > 0) {
    reason += fmt::format("; kernels did {:.0f} of the {:.0f} FLOPs that this case takes",
                          operations(activity), needed);
  }
  return Doubt{std::move(reason), *doubt,
               "the data went to the host, and as much as the results came back from there"};
}

std::string copies_to_host(const TensorBytes& bytes, const Work& work,
                           const simgpu::Activity& activity, const gpu_spec::GpuSpec& gpu) {
  if (!went_to_the_host(bytes, work, activity, gpu) ||
      !may_come_from_the_host(bytes, work, activity, gpu)) {
    return {};
  }
  const double stored = stored_for_host(activity, gpu);
  const double copied = bytes_of(activity, MemoryOperation::copy_to_host);
  const auto printed = static_cast<double>(activity.printed_bytes);
  const double most = std::max({stored, copied, printed});
  return fmt::format("the timed call {} {:.0f} bytes to the host; the case has {:.0f} in all",
                     most == stored   ? "stores"
                     : most == copied ? "copies"
                                      : "prints",
                     stored + copied + printed, needed_bytes(bytes, work));
}

std::optional<Doubt> impossible_time(const Timing& timing, const Roofline& roofline,
                                     const Work& work, const simgpu::Activity& activity,
                                     const gpu_spec::GpuSpec& gpu, bool measured) {
  if (!is_below_floor(timing, measured)) return std::nullopt;
  Timing of_what_was_done = timing;
  of_what_was_done.floor_us = std::max(roofline.lowest_floor_us, least_us(activity, gpu));
  const bool impossible = is_below_floor(of_what_was_done, measured);
  if (!impossible && has_records(activity) && did_half(work, activity)) return std::nullopt;
  return Doubt{
      fmt::format("{:.2f} us is less than {:.2f} us, which {} arithmetic takes at its peak",
                  timing.time_us, timing.floor_us, timing.peak),
      impossible || has_records(activity) ? Doubt::Kind::not_computed : Doubt::Kind::for_people};
}

}  // namespace rooflab
