#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/stream_order.h"

namespace simgpu {

/// Modelled time in picoseconds since the device started. Whole numbers, so that sums and
/// differences are exact: the time between two events around ten equal kernels is exactly ten times
/// that of one.
using Picoseconds = std::int64_t;

/// A duration in picoseconds, rounded to the nearest; negative, NaN and absurd values become 0 or
/// the limit.
Picoseconds picoseconds(double microseconds);
inline double microseconds(Picoseconds time) { return static_cast<double>(time) * 1e-6; }

/// What host code spends inside one runtime call, in microseconds. Rounded figures of the order
/// that a profiler shows on a server CPU; they matter only to programs that issue work faster than
/// the GPU does it.
struct ApiCost {
  static constexpr double kLaunch = 2.0;  ///< cudaLaunchKernel and other asynchronous submissions
  static constexpr double kSynchronize = 1.0;   ///< on top of the wait itself
  static constexpr double kEvent = 0.5;         ///< record, query, wait
  static constexpr double kAllocate = 60.0;     ///< cudaMalloc, cudaFree
  static constexpr double kPool = 1.0;          ///< cudaMallocAsync, cudaFreeAsync
  static constexpr double kCopy = 4.0;          ///< submission of a copy
  static constexpr double kStream = 8.0;        ///< cudaStreamCreate, cudaStreamDestroy
  static constexpr double kEventObject = 0.5;   ///< cudaEventCreate, cudaEventDestroy
  static constexpr double kTexture = 2.0;       ///< cudaCreateTextureObject and its like
  static constexpr double kProperties = 100.0;  ///< cudaGetDeviceProperties
  static constexpr double kBlasHandle = 600.0;  ///< cublasCreate and the handle's destruction
  /// Host memory is pinned page by page, on top of kAllocate.
  static constexpr double pinning(std::uint64_t bytes) {
    constexpr double kPage = 0.3, kPageBytes = 4096;
    return kPage * static_cast<double>(bytes) / kPageBytes;
  }
};

/// What a graph costs, in microseconds. Judgement, near public figures; docs/design/time-model.md
/// says which.
struct GraphCost {
  static constexpr double kLaunch = 2.5;         ///< cudaGraphLaunch, for the host
  static constexpr double kLaunchNode = 0.01;    ///< and for each of its nodes
  static constexpr double kInstantiate = 20.0;   ///< cudaGraphInstantiate, for the host
  static constexpr double kInstantiateNode = 4;  ///< and for each node, its capture included
  static constexpr double kUpdate = 2.0;         ///< cudaGraphExecUpdate, for the host
  static constexpr double kUpdateNode = 0.6;     ///< and for each node, its capture included
  static constexpr double kSetNode = 0.5;        ///< a node that gets other parameters
  /// Between a node's work and that of the next: a kernel's launch overhead on the device, where
  /// its dependencies and parameters are known before.
  static constexpr double kNode = 0.6;
  static constexpr double kHostNode = 5.0;  ///< a host function between nodes
};

/// When things happen on the simulated GPU: the host's clock, the streams in issue order, the
/// events, and the engines that do the work. Kernels run in full when they are issued; only their
/// times overlap.
///
/// Rules (CUDA C++ Programming Guide, "Streams" and "Implicit Synchronization"):
/// work starts when its stream is ready, not before it was issued; work on the legacy default
/// stream waits for all blocking streams and they wait for it; kernels run side by side only while
/// their shares of the GPU add up to no more than one (device_share()); each copy direction has one
/// engine.
class Timeline {
 public:
  /// Stream handles: the legacy default stream is always there.
  static constexpr std::uint64_t kLegacyStream = 0;
  static constexpr std::uint64_t kPerThreadStream = 2;

  enum class Engine : std::uint8_t { compute, copy_to_device, copy_from_device };

  Timeline();

  Picoseconds now() const { return now_; }
  /// Host code spends time in a runtime call.
  void spend(double microseconds);
  /// Host code waits until `time`.
  void wait_until(Picoseconds time);

  std::uint64_t create_stream(bool blocking, int priority);
  /// The stream of whoever calls the program's function, which does not wait for the default
  /// stream. The program neither made it nor destroys it. Where there are several, the last is the
  /// one that callers_stream() names.
  std::uint64_t create_callers_stream();
  /// The default stream where none was made, or a reset has taken it along.
  std::uint64_t callers_stream() const { return callers_stream_; }
  /// What was issued to the stream is still done.
  CudaError destroy_stream(std::uint64_t stream);
  bool has_stream(std::uint64_t stream) const { return streams_.contains(stream); }
  std::optional<int> stream_priority(std::uint64_t stream) const;
  /// As records tell it: 0 for the default streams, others from 1 by order of creation.
  std::uint64_t stream_number(std::uint64_t stream) const { return streams_.at(stream).number; }
  std::optional<bool> stream_blocking(std::uint64_t stream) const;

  /// Places work of `duration` on a stream that exists. @param share of the engine it occupies, (0,
  /// 1]
  /// @returns when it starts
  Picoseconds issue(std::uint64_t stream, Engine engine, Picoseconds duration, double share = 1.0);
  /// When work issued to the stream now could start.
  Picoseconds earliest(std::uint64_t stream) const;
  /// What is issued to the stream from now on, or the node's further work, waits until `time`.
  void hold(std::uint64_t stream, Picoseconds time);

  /// A node of a graph: until end_node() work starts not before `from` and follows what the graph
  /// says, whatever else was issued to the stream; calls cost the host nothing.
  void begin_node(Picoseconds from) { node_end_ = from; }
  /// @returns when the node's work is done
  Picoseconds end_node() { return std::exchange(node_end_, std::nullopt).value_or(0); }

  /// When all work issued to the stream so far is done.
  Picoseconds ready(std::uint64_t stream) const;
  /// When everything issued so far is done.
  Picoseconds all_done() const;

  // What is ordered, whatever the times say.
  const StreamOrder& order() const { return order_; }
  /// Of what issue() placed last.
  const StreamOrder::Stamp& last_stamp() const { return last_stamp_; }
  /// Work on the stream that takes no modelled time: only its place in the order counts.
  void stamp(std::uint64_t stream) { last_stamp_ = order_.issue(stream, behind(stream)); }
  /// Whether the program has made a stream.
  bool has_created_streams() const { return has_created_streams_; }
  /// The host has waited until all that was issued is done: to the stream, before the event, at
  /// all.
  void host_waited_for_stream(std::uint64_t stream) {
    order_.host_waits_for_stream(stream, behind(stream));
  }
  void host_waited_for_event(std::uint64_t event) { order_.host_waits_for_event(event); }
  void host_waited_for_all() { order_.host_waits_for_all(); }

  std::uint64_t create_event(bool timing);
  CudaError destroy_event(std::uint64_t event);
  CudaError record_event(std::uint64_t event, std::uint64_t stream);
  /// When the event's last record completes; an event never recorded is complete. nullopt: no such
  /// event.
  std::optional<Picoseconds> event_time(std::uint64_t event) const;
  /// Whether there is such an event, and nothing has recorded it.
  bool is_unrecorded(std::uint64_t event) const;
  CudaError stream_wait(std::uint64_t stream, std::uint64_t event);
  CudaError elapsed(std::uint64_t start, std::uint64_t stop, Picoseconds* result) const;

  /// Forgets every stream and event a guest made.
  void forget_handles();
  /// Streams and events that the program has made and not destroyed.
  std::size_t own_streams() const;
  std::size_t own_events() const { return events_.size(); }
  std::size_t handles() const { return streams_.size() + events_.size(); }

 private:
  struct Stream {
    bool blocking = true;
    int priority = 0;
    Picoseconds ready = 0;
    std::uint64_t number = 0;
    bool of_caller = false;  ///< the program neither made it nor destroys it
  };
  struct Event {
    bool timing = true;
    bool recorded = false;
    Picoseconds time = 0;
  };
  struct Busy {
    Picoseconds start = 0, end = 0;
    double share = 1;
  };
  /// What an engine does. Work that it no longer remembers was done before `not_before`, and
  /// nothing starts earlier.
  struct Occupied {
    std::vector<Busy> pieces;
    Picoseconds not_before = 0;
  };

  std::vector<std::uint64_t> behind(std::uint64_t stream) const;
  void forget(Occupied& engine) const;
  Picoseconds place(Occupied& engine, Picoseconds from, Picoseconds duration, double share);

  Picoseconds now_ = 0;
  std::optional<Picoseconds> node_end_;  ///< of the node whose work is being issued
  Picoseconds last_end_ = 0;
  Picoseconds destroyed_ready_ = 0;  ///< when the work of blocking streams no longer there is done
  std::uint64_t next_handle_ = 16;
  std::uint64_t streams_created_ = 0;
  bool has_created_streams_ = false;  ///< by the program
  std::uint64_t callers_stream_ = kLegacyStream;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, Event> events_;
  std::array<Occupied, 3> engines_;
  StreamOrder order_;
  StreamOrder::Stamp last_stamp_;
};

}  // namespace simgpu
