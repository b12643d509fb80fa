#include "simgpu/device/host_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "simgpu/device/public_functions.h"

namespace simgpu {
namespace {

/// A gap that the padding of a struct cannot be.
constexpr std::uint64_t kNoPadding = 16;

/// What all launches and copies of a host program may take, in budgets of one launch.
constexpr std::uint64_t kHostShare = 2;
/// Nobody checks errors so seldom, and comes to an end.
constexpr std::uint64_t kMostCallsAfterFault = 10'000;

std::string name_of_direction(std::uint64_t kind) {
  static constexpr std::array kNames{"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                     "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                     "cudaMemcpyDefault"};
  return kind < kNames.size() ? kNames[kind] : "a direction that there is not";
}

}  // namespace

void HostFindings::begin_guest() {
  since_mark_.host_calls = since_mark_.calls_after_fault = 0;
  since_mark_.host_work = 0;
}

void HostFindings::note_call(bool waits) {
  if (options_.host_call_limit == 0) return;
  if (fault_.is_raised()) ++since_mark_.calls_after_fault;
  if (waits || fault_.is_raised()) return;
  ++since_mark_.host_calls;
  const bool too_many = since_mark_.host_calls > options_.host_call_limit;
  const bool too_much = since_mark_.host_work > kHostShare * options_.instruction_budget;
  if (!too_many && !too_much) return;
  log_.add(Finding{.code = "RL0319",
                   .where = log_.host_site("the last call that was made"),
                   .message = fmt::format(
                       "The host program takes too long: {}",
                       too_many ? fmt::format("it has called the CUDA runtime {} times and has "
                                              "not come to an end; look for a loop that never "
                                              "ends around a launch, a copy or a query",
                                              since_mark_.host_calls)
                                : fmt::format("its launches and copies have taken the work of {} "
                                              "warp instructions together, and it goes on",
                                              since_mark_.host_work))});
  fault_.raise(CudaError::launch_timeout);
}

bool HostFindings::is_endless() const {
  return since_mark_.calls_after_fault > kMostCallsAfterFault;
}

/// "device memory (byte 128 of the cudaMalloc of 256 bytes)" or "memory of the host".
std::string HostFindings::describe_pointer(std::uint64_t address) const {
  constexpr std::uint64_t kArena = std::uint64_t{1} << 40;
  if (address == 0) return "a null pointer";
  if (address < kDeviceBase || address - kDeviceBase >= kArena) return "memory of the host";
  const Allocation* near = memory_.nearest(address);
  if (near == nullptr || address < near->base || address - near->base >= near->bytes) {
    return "device memory that is not allocated";
  }
  if (near->sharing == Sharing::pinned) return "pinned memory of the host";
  return fmt::format("device memory ({} bytes into the {} of {} bytes{})", address - near->base,
                     near->label, near->bytes, near->live ? "" : ", which was freed");
}

void HostFindings::report(std::string message, FindingDetail detail) {
  log_.add(Finding{.code = "RL0308",
                   .detail = detail,
                   .where = log_.host_site(),
                   .message = std::move(message)});
}

void HostFindings::report_misuse(const protocol::Misuse& misuse) {
  std::string message;
  switch (misuse.kind) {
    case protocol::MisuseKind::copy_direction:
      message = fmt::format(
          "a copy of {} bytes is said to be {}, but its destination is {} and its "
          "source is {}",
          misuse.bytes, name_of_direction(misuse.detail), describe_pointer(misuse.destination),
          describe_pointer(misuse.source));
      break;
    case protocol::MisuseKind::symbol_range:
      message =
          fmt::format("a copy of {} bytes to or from a symbol, which has {} from the offset on",
                      misuse.bytes, misuse.detail);
      break;
    case protocol::MisuseKind::free_host:
      message = fmt::format(
          "cudaFreeHost of {:#x}, which is {} and not, or no longer, an "
          "allocation of cudaMallocHost",
          misuse.destination, describe_pointer(misuse.destination));
      break;
    case protocol::MisuseKind::host_memory: {
      const bool to_device = misuse.detail != 0;
      message = fmt::format(
          "a copy of {} bytes {} host memory at {:#x}, where the program has no memory, or less "
          "than that: check the pointer, the size, and the order of destination and source",
          misuse.bytes, to_device ? "reads" : "writes",
          to_device ? misuse.source : misuse.destination);
      break;
    }
    default:
      return;
  }
  report(std::move(message));
}

void HostFindings::report_dereference(std::uint64_t address) {
  const Allocation* near = memory_.nearest(address);
  const bool inside =
      near != nullptr && address >= near->base && address - near->base < near->bytes;
  log_.add(Finding{
      .code = "RL0207",
      .where = log_.host_site("this line dereferences it"),
      .message = fmt::format(
          "host code dereferenced device pointer {:#x}{}; copy it with cudaMemcpy first", address,
          inside ? fmt::format(" (allocation of {} bytes, {})", near->bytes, near->label)
                 : std::string())});
}

void HostFindings::report_refused(const std::string& function, bool in_part) {
  if (!is_public_function(function)) return;
  log_.add(Finding{
      .code = "RL0312",
      .detail = FindingDetail::lacks_function,
      .where = log_.host_site(),
      .message = in_part
                     ? fmt::format("the program calls {} in a way that the simulated GPU does not "
                                   "have; the program's error output says which",
                                   function)
                     : fmt::format("the program calls {}, which the simulated GPU does not have",
                                   function)});
}

void HostFindings::report_unrecorded(bool start, bool stop) {
  report(
      fmt::format("cudaEventElapsedTime is given {} never recorded: call cudaEventRecord on "
                  "the stream of the work that is timed",
                  start && stop ? "two events that were"
                  : start       ? "a start event that was"
                                : "an end event that was"));
}

void HostFindings::report_no_handle(const std::string& function) {
  report(
      fmt::format("{} names a stream or an event that does not exist: it was destroyed "
                  "before, or never created",
                  function));
}

void HostFindings::report_bad_free(std::uint64_t address) {
  const Allocation* known = memory_.nearest(address);
  const bool twice = known != nullptr && !known->live && known->base == address;
  report(twice ? fmt::format("cudaFree of {:#x}: it was freed before", address)
               : fmt::format("cudaFree of {:#x}, which cudaMalloc did not return: it is {}",
                             address, describe_pointer(address)));
}

void HostFindings::note_unasked_launch(CudaError error) {
  if (error == CudaError::success || fault_.is_raised()) return;
  if (!unasked_) {
    unasked_ = UnaskedLaunch{error, checked_kernel_, 0, log_.host_site("this launch failed")};
  }
  ++unasked_->count;
}

void HostFindings::report_unasked() {
  if (!unasked_) return;
  const std::string times =
      unasked_->count > 1 ? fmt::format(", {} times", unasked_->count) : std::string();
  log_.add(Finding{.code = "RL0314",
                   .kernel = unasked_->kernel,
                   .where = unasked_->where,
                   .message = fmt::format(
                       "a launch failed with {}{}, and the program never asked: it goes on as if "
                       "the kernel had run",
                       name_of(unasked_->error), times)});
  unasked_.reset();
}

/// Host code may well copy more than it looks at, and padding is never written: what is told of is
/// a stretch that no struct leaves open, or a copy of nothing at all.
void HostFindings::report_unwritten(const protocol::CopyRequest& request) {
  if (!options_.checkers || options_.sampled) return;
  DeviceMemory::Unwritten all;
  for (std::uint64_t row = 0; row < request.height; ++row) {
    const auto found = memory_.unwritten(request.address + row * request.pitch, request.width);
    if (all.bytes == 0) all.first = found.first;
    all.bytes += found.bytes;
    all.longest = std::max(all.longest, found.longest);
  }
  const std::uint64_t bytes = request.width * request.height;
  if (all.longest < kNoPadding && all.bytes < bytes) return;
  log_.add(Finding{.code = "RL0205",
                   .where = log_.host_site("this copy"),
                   .message = fmt::format(
                       "a copy from the device takes {} bytes, and nothing has written to {} of "
                       "them; the first is {}",
                       bytes, all.bytes, describe_pointer(all.first))});
}

bool HostFindings::check_range(const char* what, std::uint64_t address, std::uint64_t pitch,
                               std::uint64_t width, std::uint64_t height) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (width == 0 || height == 0) return true;
  const bool sensible = width <= kMost && height <= kMost && pitch <= kMost &&
                        (height == 1 || width <= pitch) &&
                        (height == 1 || pitch <= kMost / height) && width <= kMost / height;
  const std::uint64_t extent = sensible ? (height - 1) * pitch + width : 0;
  if (sensible && memory_.find(address, extent) != nullptr) return true;
  std::string place = "no device allocation is there";
  if (const Allocation* near = memory_.nearest(address); near != nullptr) {
    if (address >= near->base && address - near->base < near->bytes) {
      const std::string array = fmt::format("the {} of {} bytes", near->label, near->bytes);
      const std::uint64_t left = near->bytes - (address - near->base);
      place = near->live ? fmt::format("{} has only {} left there", array, left)
                         : fmt::format("{} there was freed", array);
    }
  }
  const bool is_absurd = !sensible || extent >= kBeyondAnyGpu;
  const auto as_signed = static_cast<std::int64_t>(width);
  const std::string size = as_signed < 0
                               ? fmt::format("{} bytes, a size below 0,", as_signed)
                               : fmt::format("{} bytes", sensible ? extent : width * height);
  report(fmt::format("{} touches {} at {:#x}: {}", what, size, address, place),
         is_absurd ? FindingDetail::beyond_any_memory : FindingDetail::none);
  return false;
}

}  // namespace simgpu
