#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/report.h"

namespace simgpu {

/// Device memory that host code allocated or gave back.
struct AllocationRecord {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool released = false;
  double time_us = 0;  ///< on the device's modelled clock
};

/// Sees every record as it is made, with the call that is under way.
class RecordWatcher {
 public:
  virtual ~RecordWatcher() = default;
  virtual void see(const KernelRecord& record, const ApiRecord& call) = 0;
  virtual void see(const MemoryRecord& record, const ApiRecord& call) = 0;
  virtual void see(const AllocationRecord& record, const ApiRecord& call) = 0;
  virtual void see(const ApiRecord& call) = 0;
};

/// What happened since the last mark, for the trusted side. Bounded: a guest that launches for ever
/// fills neither memory nor the connection.
class ActivityLog {
 public:
  static constexpr std::size_t kMostFindings = 500;  ///< of one code
  static constexpr std::size_t kMostPrinted = 1u << 20;

  void clear();
  /// Records come with what issued them: the call and the graph launch under way, if any.
  void add(KernelRecord record);
  /// The number of the table with the lines of a launch like this one; 0: there is none.
  std::uint32_t table_like(const KernelRecord& record) const;
  bool has_room_for_lines() const { return activity_.line_tables.size() < kMostLineTables; }
  /// @returns its number
  std::uint32_t add(LineTable table);
  void add(MemoryRecord record);
  /// Only for the watcher: the log itself keeps no allocations.
  void add(const AllocationRecord& record);
  /// Findings of one code at one place in one kernel are counted together.
  void add(Finding finding);
  void add_printed(const std::string& text);
  /// The guest has chosen so much of what it asks the device for. What it chose before it had
  /// anything of the device's can be no work of its own on that.
  void count_given(std::uint64_t bytes) {
    if (has_left_) activity_.given_bytes += bytes;
  }
  /// So much work more may race with what is no longer kept in mind.
  void count_unjudged(std::uint64_t work) { activity_.work_unjudged += work; }
  void count_call(const std::string& function) { ++activity_.api_calls[function]; }

  void guest_connects() { activity_.guest_connected = true; }

  /// A call of host code begins: what is issued until its end gets its correlation.
  void begin_call(std::string name, double start_us);
  /// The call under way turns out to be another form of the function.
  void rename_call(std::string name) { call_.name = std::move(name); }
  void end_call(double end_us, CudaError error);

  /// Host code's calls that led to the request under way; empty: nobody says.
  void set_caller(std::vector<HostFrame> frames) { caller_ = std::move(frames); }
  const std::vector<HostFrame>& caller() const { return caller_; }
  /// The call under way as one side of a finding.
  AccessSite host_site(std::string action = "this call") const;

  /// Until the next call of this, `watcher` sees what is added; null: nobody does. Bounds of the
  /// log are not the watcher's.
  void watch(RecordWatcher* watcher) { watcher_ = watcher; }

  /// The call under way launches a graph. Until the end, what it issues belongs to the launch, and
  /// so does what is issued while no call is under way: the rest of a launch that had to ask the
  /// guest for something. Another call's work does not.
  void begin_graph_launch() {
    graph_launch_ = ++graph_launches_;
    graph_correlation_ = call_.correlation;
  }
  void end_graph_launch() { graph_launch_ = graph_correlation_ = 0; }
  /// One launch of a graph can take several requests: what it is known by, to go on with later.
  struct GraphLaunch {
    std::uint64_t number = 0;
    std::uint64_t correlation = 0;
  };
  GraphLaunch graph_launch() const { return {graph_launch_, graph_correlation_}; }
  void resume_graph_launch(const GraphLaunch& launch) {
    graph_launch_ = launch.number;
    graph_correlation_ = launch.correlation;
  }

  /// The first error of a kind that does not go away.
  void set_error(const std::string& name);

  std::uint64_t next_sequence() { return sequence_++; }
  const Activity& activity() const { return activity_; }

 private:
  bool has_room_for(const Finding& finding) const;
  template <typename Record>
  void stamp(Record& record) const {
    record.correlation = call_.correlation != 0 ? call_.correlation : graph_correlation_;
    record.graph_launch = record.correlation == graph_correlation_ ? graph_launch_ : 0;
  }

  Activity activity_;
  bool has_left_ = false;  ///< something of the device's memory has gone to where the host reads it
  std::uint64_t sequence_ = 0;
  ApiRecord call_;  ///< under way; its correlation is 0 when none is
  std::uint64_t calls_ = 0;
  std::uint64_t graph_launch_ = 0;  ///< under way, 0 when none is
  std::uint64_t graph_correlation_ = 0;
  std::uint64_t graph_launches_ = 0;
  RecordWatcher* watcher_ = nullptr;
  std::vector<HostFrame> caller_;
};

}  // namespace simgpu
