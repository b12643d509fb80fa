#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/byte_range.h"
#include "simgpu/device/activity_log.h"
#include "simgpu/device/device_options.h"
#include "simgpu/device/host_results.h"
#include "simgpu/device/host_sources.h"
#include "simgpu/device/loaded_modules.h"
#include "simgpu/device/memory_pools.h"
#include "simgpu/device/stream_races.h"
#include "simgpu/device/timeline.h"
#include "simgpu/device/unordered_work.h"
#include "simgpu/memory/device_memory.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// The work on streams and in graphs. Places it on the timeline, and tells of work that touches
/// the same memory without order: on another stream, on that of the caller, or in the host's code,
/// which uses memory that work under way reads or stores to.
class Streams {
 public:
  /// @param modules name the kernels of findings
  /// @param pools   give memory back when the host has waited
  Streams(const gpu_spec::GpuSpec& gpu, const DeviceOptions& options, const DeviceMemory& memory,
          Timeline& timeline, ActivityLog& log, const LoadedModules& modules, MemoryPools& pools);

  /// Until end_node() what is issued is of a graph's node.
  /// @param follows_work whether a node before it has done something, so that the device knew of it
  void begin_node(Picoseconds from, bool follows_work, StreamRaces::Node node);
  /// @returns when the node is done
  Picoseconds end_node();
  /// Whether what is issued belongs to a node that is not a graph's first.
  bool follows_work() const { return follows_work_; }
  /// The GPU as what is issued finds it: with the launch overhead of a node, or of the host.
  const gpu_spec::GpuSpec& timed_gpu() const { return follows_work_ ? node_gpu_ : gpu_; }

  /// Whether work may come to run beside other work that touches other places.
  bool wants_places() const { return timeline_.has_created_streams() || is_in_branching_graph(); }
  /// Where work touches these ranges; nullptr where nobody wants to know.
  UnorderedWork::Places places_of(const std::vector<StreamRaces::Range>& ranges) const;
  /// Places work on the timeline, behind what touches the same places and is not ordered with it.
  /// @returns when it starts
  Picoseconds issue(std::uint64_t stream, Timeline::Engine engine, Picoseconds duration,
                    UnorderedWork::Places places, double share = 1.0);

  /// Whether note_work() is to be told of work on this stream.
  bool watches(std::uint64_t stream) const {
    return watches_all() || is_off_callers_stream(stream);
  }
  /// Whether work on this stream is only held against the caller's.
  bool is_off_callers_stream(std::uint64_t stream) const {
    return has_callers_work_ && !watches_all() && stream != timeline_.callers_stream();
  }
  /// Work that was just issued, on the stream that the timeline's last stamp names.
  void note_work(StreamRaces::Work work);
  /// The caller works with these bytes on its stream now, or on the default stream where it gave
  /// none, and nobody has waited for it: before the call it makes the arguments, behind it it uses
  /// what they hold. Work of the guest that is not ordered with it is a finding (RL0325). Takes no
  /// modelled time.
  /// @param alone nothing else is looked for because of it. Without checkers, and of blocks that
  ///              are sampled, nothing else is looked for in any case. Work on that stream itself
  ///              costs nothing then.
  void note_callers_work(const std::vector<ByteRange>& ranges, bool alone);
  /// Whether there was such work that is not alone.
  bool has_late_inputs() const { return has_late_inputs_; }

  /// The host waits until then.
  void synchronize(Picoseconds until);
  // What the host does from now on comes behind this work.
  void host_waited_for_stream(std::uint64_t stream);
  void host_waited_for_event(std::uint64_t event);
  void host_waited_for_all();
  /// A function of the host runs on a stream, or as a node of a graph.
  void host_function_runs(std::uint64_t stream);

  /// The host's side of a copy, which may be pinned memory.
  void note_host_side(const HostSources::Rows& rows, bool is_read_later, bool is_written);
  /// What a launch read and stored of memory that the host shares.
  /// @param signals the kernel may tell the host what is there (KernelInfo::signals_host)
  void note_host_memory(const std::string& kernel, bool signals,
                        const std::vector<TouchedSector>& sectors);
  /// Results for the host of which the guest has not been told.
  bool has_new_results() const { return host_results_.has_new(); }
  std::vector<ByteRange> take_new_results() { return host_results_.take_new(); }
  /// The host reads or writes a byte of such memory; before the work is done, it is a finding
  /// (RL0321).
  void report_used_result(std::uint64_t address);
  /// The device has written to memory of the host: what differs there need not be the host's doing.
  void forget_host_sources() { host_sources_.forget_all(); }
  /// What the host has changed under work that reads it becomes findings (RL0320).
  void report_changed_sources() { report(host_sources_.take_changed(memory_)); }

  /// All that was issued is done, and its streams are gone.
  void forget_all();

 private:
  bool is_in_branching_graph() const { return node_.order != nullptr && node_.order->branches(); }
  /// Whether races between streams are looked for: not while there is only the default stream.
  bool watches_all() const {
    return options_.checkers && !options_.sampled &&
           (timeline_.has_created_streams() || has_late_inputs_ || is_in_branching_graph());
  }
  void keep_source(const HostSources::Rows& rows, std::string by);
  void report(const std::vector<HostSources::Change>& changes);
  void forget_done();

  const gpu_spec::GpuSpec& gpu_;
  const gpu_spec::GpuSpec node_gpu_;  ///< as a kernel within a graph finds it
  const DeviceOptions& options_;
  const DeviceMemory& memory_;
  Timeline& timeline_;
  ActivityLog& log_;
  const LoadedModules& modules_;
  MemoryPools& pools_;
  StreamRaces stream_races_;
  UnorderedWork unordered_work_;
  HostSources host_sources_;
  HostResults host_results_;
  StreamRaces::Node node_;  ///< that what is issued belongs to
  bool follows_work_ = false;
  bool has_callers_work_ = false;  ///< on the caller's stream
  bool has_late_inputs_ = false;   ///< and all streams are watched because of it
};

}  // namespace simgpu
