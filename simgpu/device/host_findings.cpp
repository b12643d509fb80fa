#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "simgpu/device/device.h"
#include "simgpu/device/public_functions.h"

/// The part of Device that finds what host code does wrong.
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

/// Leaks of one size from one function are one finding, told with the first of them.
class LeaksByKind {
 public:
  /// @param message of the first of its kind
  template <typename Message>
  void add(std::uint64_t address, std::uint64_t bytes, std::string_view function,
           const Message& message) {
    const std::pair kind{bytes, function};
    if (const auto known = leaks_.find(kind); known != leaks_.end()) {
      ++known->second.occurrences;
      return;
    }
    if (leaks_.size() == ActivityLog::kMostFindings) return;
    Finding& leak = leaks_[kind];
    leak.code = "RL0309";
    leak.object = fmt::format("allocation of {} bytes at {:#x}", bytes, address);
    leak.message = message();
  }

  void tell(ActivityLog& log) {
    for (auto& [kind, leak] : leaks_) log.add(std::move(leak));
  }

 private:
  std::map<std::pair<std::uint64_t, std::string_view>, Finding> leaks_;
};

}  // namespace

void Device::note_host_call(bool waits) {
  if (options_.host_call_limit == 0) return;
  if (fault_ != CudaError::success) ++calls_after_fault_;
  if (waits || fault_ != CudaError::success) return;
  ++host_calls_;
  const bool too_many = host_calls_ > options_.host_call_limit;
  const bool too_much = host_work_ > kHostShare * options_.instruction_budget;
  if (!too_many && !too_much) return;
  report({.code = "RL0319",
          .message = fmt::format(
              "The host program takes too long: {}",
              too_many ? fmt::format("it has called the CUDA runtime {} times and has "
                                     "not come to an end; look for a loop that never "
                                     "ends around a launch, a copy or a query",
                                     host_calls_)
                       : fmt::format("its launches and copies have taken the work of {} "
                                     "warp instructions together, and it goes on",
                                     host_work_))});
  raise(CudaError::launch_timeout);
}

bool Device::is_host_endless() const { return calls_after_fault_ > kMostCallsAfterFault; }

/// "device memory (byte 128 of the cudaMalloc of 256 bytes)" or "memory of the host".
std::string Device::describe_pointer(std::uint64_t address) const {
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

void Device::report_misuse(const protocol::Misuse& misuse) {
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
  report({.code = "RL0308", .message = message});
}

void Device::report_refused(const std::string& function, bool in_part) {
  if (!is_public_function(function)) return;
  report({.code = "RL0312",
          .detail = FindingDetail::lacks_function,
          .message =
              in_part ? fmt::format("the program calls {} in a way that the simulated GPU does not "
                                    "have; the program's error output says which",
                                    function)
                      : fmt::format("the program calls {}, which the simulated GPU does not have",
                                    function)});
}

void Device::report_unrecorded(bool start, bool stop) {
  report({.code = "RL0308",
          .message = fmt::format(
              "cudaEventElapsedTime is given {} never recorded: call cudaEventRecord on "
              "the stream of the work that is timed",
              start && stop ? "two events that were"
              : start       ? "a start event that was"
                            : "an end event that was")});
}

void Device::report_no_handle(const std::string& function) {
  report(
      {.code = "RL0308",
       .message = fmt::format("{} names a stream or an event that does not exist: it was destroyed "
                              "before, or never created",
                              function)});
}

void Device::report_bad_free(std::uint64_t address) {
  const Allocation* known = memory_.nearest(address);
  const bool twice = known != nullptr && !known->live && known->base == address;
  report({.code = "RL0308",
          .message =
              twice ? fmt::format("cudaFree of {:#x}: it was freed before", address)
                    : fmt::format("cudaFree of {:#x}, which cudaMalloc did not return: it is {}",
                                  address, describe_pointer(address))});
}

void Device::note_unasked_launch(CudaError error) {
  if (error == CudaError::success || fault_ != CudaError::success) return;
  if (!unasked_) unasked_ = UnaskedLaunch{error, refused_kernel_, 0};
  ++unasked_->count;
}

void Device::report_unasked() {
  if (!unasked_) return;
  const std::string times =
      unasked_->count > 1 ? fmt::format(", {} times", unasked_->count) : std::string();
  report({.code = "RL0314",
          .kernel = unasked_->kernel,
          .message = fmt::format(
              "a launch failed with {}{}, and the program never asked: it goes on as if "
              "the kernel had run",
              name_of(unasked_->error), times)});
  unasked_.reset();
}

void Device::report_changed_sources() { report_changes(host_sources_.take_changed(memory_)); }

void Device::report_changes(const std::vector<HostSources::Change>& changes) {
  for (const HostSources::Change& change : changes) {
    report(
        {.code = "RL0320",
         .message = fmt::format(
             "the host writes to memory while {}, which reads it, may still be under way "
             "on {}: nothing has waited for that, and byte {} of {} is not what it "
             "was at the call",
             change.by, stream_in_words(change.stream_number), change.first, change.rows.bytes())});
  }
}

void Device::report_end() {
  report_changed_sources();
  report_unasked();
  report_leaks();
}

/// Host code may well copy more than it looks at, and padding is never written: what is told of is
/// a stretch that no struct leaves open, or a copy of nothing at all.
void Device::report_unwritten(const protocol::CopyRequest& request) {
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
  report({.code = "RL0205",
          .message =
              fmt::format("a copy from the device takes {} bytes, and nothing has written to {} of "
                          "them; the first is {}",
                          bytes, all.bytes, describe_pointer(all.first))});
}

void Device::report_leaks() {
  if (fault_ != CudaError::success) return;
  LeaksByKind leaks;
  for (const auto& [address, allocation] : guest_allocations_) {
    leaks.add(address, allocation.bytes, allocation.function, [&allocation = allocation] {
      return fmt::format(
          "{} bytes from {} were never freed: allocation number {} of the program, made {}",
          allocation.bytes, allocation.function, allocation.number,
          allocation.after == nullptr ? "before the first kernel"
                                      : "after the launch of " + *allocation.after);
    });
  }
  for (const std::uint64_t address : pinned_) {
    const Allocation* allocation = memory_.nearest(address);
    const std::uint64_t bytes = allocation == nullptr ? 0 : allocation->bytes;
    leaks.add(address, bytes, "cudaMallocHost", [bytes] {
      return fmt::format(
          "{} bytes of pinned host memory from cudaMallocHost or cudaHostAlloc were never freed: "
          "cudaFreeHost is missing",
          bytes);
    });
  }
  leaks.tell(log_);
  report_heap_leaks();
  report_handle_leaks();
}

std::size_t Device::loaded_libraries() const {
  return static_cast<std::size_t>(std::ranges::count_if(modules_, [](const auto& entry) {
    return entry.second.origin == protocol::ImageOrigin::loaded_library;
  }));
}

/// What the program makes and has a handle of, told once for each kind.
void Device::report_handle_leaks() {
  struct Kind {
    std::size_t count;
    const char *object, *made_by, *destroyed_by;
    const char* undone = "destroyed";
  };
  for (const Kind& kind :
       {Kind{timeline_.own_streams(), "stream", "cudaStreamCreate", "cudaStreamDestroy"},
        Kind{timeline_.own_events(), "event", "cudaEventCreate", "cudaEventDestroy"},
        Kind{graphs_kept_, "graph", "cudaGraphCreate, cudaGraphClone or cudaStreamEndCapture",
             "cudaGraphDestroy"},
        Kind{graphs_.count(), "executable graph", "cudaGraphInstantiate", "cudaGraphExecDestroy"},
        Kind{loaded_libraries(), "module", "cudaLibraryLoadData or cudaLibraryLoadFromFile",
             "cudaLibraryUnload", "unloaded"},
        Kind{pools_.size() - 1, "memory pool", "cudaMemPoolCreate", "cudaMemPoolDestroy"},
        Kind{memory_.images().count(), "texture or surface object",
             "cudaCreateTextureObject or cudaCreateSurfaceObject",
             "cudaDestroyTextureObject or cudaDestroySurfaceObject"},
        Kind{host_objects_.registrations(), "registration", "cudaHostRegister",
             "cudaHostUnregister", "undone"},
        Kind{host_objects_.blas_handles(), "cuBLAS handle", "cublasCreate", "cublasDestroy"}}) {
    if (kind.count == 0) continue;
    Finding leak;
    leak.code = "RL0309";
    leak.object = fmt::format("{} {}{}", kind.count, kind.object, kind.count == 1 ? "" : "s");
    leak.message = fmt::format("{} from {} {} never {}: {} is missing", leak.object, kind.made_by,
                               kind.count == 1 ? "was" : "were", kind.undone, kind.destroyed_by);
    log_.add(std::move(leak));
  }
}

/// What kernels allocated and no kernel freed, told once for each size.
void Device::report_heap_leaks() {
  LeaksByKind leaks;
  for (const auto& [address, bytes] : heap_.live()) {
    leaks.add(address, bytes, "", [bytes = bytes] {
      return fmt::format("{} bytes from malloc() or new in a kernel were never freed by a kernel",
                         bytes);
    });
  }
  leaks.tell(log_);
}

bool Device::range_is_valid(const char* what, std::uint64_t address, std::uint64_t pitch,
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
      place = fmt::format("the {} of {} bytes has {} from there on{}", near->label, near->bytes,
                          near->bytes - (address - near->base), near->live ? "" : " and was freed");
    }
  }
  report({.code = "RL0308",
          .message = fmt::format("{} touches {} bytes at {:#x}: {}", what,
                                 sensible ? extent : width * height, address, place)});
  return false;
}

}  // namespace simgpu
