#include "simgpu/device/leaks.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

namespace simgpu {
namespace {

/// Leaks of one size from one function are one finding, told with the first of them.
class LeaksByKind {
 public:
  /// @param message of the first of its kind
  template <typename Message>
  void add(std::uint64_t address, std::uint64_t bytes, std::string_view function,
           const Message& message, const std::vector<HostFrame>& called_from = {}) {
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
    leak.where.by_thread = false;
    leak.where.action = "allocated here, and never freed";
    leak.where.called_from = called_from;
  }

  void tell(ActivityLog& log) {
    for (auto& [kind, leak] : leaks_) log.add(std::move(leak));
  }

 private:
  std::map<std::pair<std::uint64_t, std::string_view>, Finding> leaks_;
};

void report_allocations(const Leftovers& left, ActivityLog& log) {
  LeaksByKind leaks;
  for (const auto& [address, allocation] : left.allocations.live()) {
    leaks.add(
        address, allocation.bytes, allocation.function,
        [&allocation = allocation] {
          return fmt::format(
              "{} bytes from {} were never freed: allocation number {} of the program, made {}",
              allocation.bytes, allocation.function, allocation.number,
              allocation.after == nullptr ? "before the first kernel"
                                          : "after the launch of " + *allocation.after);
        },
        allocation.called_from);
  }
  for (const std::uint64_t address : left.allocations.pinned()) {
    const Allocation* allocation = left.memory.nearest(address);
    const std::uint64_t bytes = allocation == nullptr ? 0 : allocation->bytes;
    leaks.add(address, bytes, "cudaMallocHost", [bytes] {
      return fmt::format(
          "{} bytes of pinned host memory from cudaMallocHost or cudaHostAlloc were never freed: "
          "cudaFreeHost is missing",
          bytes);
    });
  }
  leaks.tell(log);
}

/// What kernels allocated and no kernel freed, told once for each size.
void report_heap(const KernelHeap& heap, ActivityLog& log) {
  LeaksByKind leaks;
  for (const auto& [address, bytes] : heap.live()) {
    leaks.add(address, bytes, "", [bytes = bytes] {
      return fmt::format("{} bytes from malloc() or new in a kernel were never freed by a kernel",
                         bytes);
    });
  }
  leaks.tell(log);
}

/// What the program makes and has a handle of, told once for each kind.
void report_handles(const Leftovers& left, ActivityLog& log) {
  struct Kind {
    std::size_t count;
    const char *object, *made_by, *destroyed_by;
    const char* undone = "destroyed";
  };
  for (const Kind& kind :
       {Kind{left.timeline.own_streams(), "stream", "cudaStreamCreate", "cudaStreamDestroy"},
        Kind{left.timeline.own_events(), "event", "cudaEventCreate", "cudaEventDestroy"},
        Kind{left.host_objects.graphs_kept(), "graph",
             "cudaGraphCreate, cudaGraphClone or cudaStreamEndCapture", "cudaGraphDestroy"},
        Kind{left.graphs.count(), "executable graph", "cudaGraphInstantiate",
             "cudaGraphExecDestroy"},
        Kind{left.modules.libraries(), "module", "cudaLibraryLoadData or cudaLibraryLoadFromFile",
             "cudaLibraryUnload", "unloaded"},
        Kind{left.pools.created(), "memory pool", "cudaMemPoolCreate", "cudaMemPoolDestroy"},
        Kind{left.memory.images().count(), "texture or surface object",
             "cudaCreateTextureObject or cudaCreateSurfaceObject",
             "cudaDestroyTextureObject or cudaDestroySurfaceObject"},
        Kind{left.host_objects.registrations(), "registration", "cudaHostRegister",
             "cudaHostUnregister", "undone"},
        Kind{left.host_objects.blas_handles(), "cuBLAS handle", "cublasCreate", "cublasDestroy"}}) {
    if (kind.count == 0) continue;
    Finding leak;
    leak.code = "RL0309";
    leak.object = fmt::format("{} {}{}", kind.count, kind.object, kind.count == 1 ? "" : "s");
    leak.message = fmt::format("{} from {} {} never {}: {} is missing", leak.object, kind.made_by,
                               kind.count == 1 ? "was" : "were", kind.undone, kind.destroyed_by);
    leak.where.by_thread = false;
    leak.where.action = fmt::format("made here, and never {}", kind.undone);
    leak.where.called_from = left.host_objects.maker_of(kind.object);
    log.add(std::move(leak));
  }
}

}  // namespace

void report_leaks(const Leftovers& left, ActivityLog& log) {
  report_allocations(left, log);
  report_heap(left.heap, log);
  report_handles(left, log);
}

}  // namespace simgpu
