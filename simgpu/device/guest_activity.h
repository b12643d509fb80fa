#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simgpu/device/activity_log.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"

namespace simgpu {

/// The records of one guest's own doing that wait until it takes them: what a profiler inside the
/// guest (libcupti) is fed with. Bounded: what does not fit is counted and dropped.
class GuestActivity : public RecordWatcher {
 public:
  void record(bool on) { recording_ = on; }
  bool recording() const { return recording_; }

  void see(const KernelRecord& record, const ApiRecord& call) override;
  void see(const MemoryRecord& record, const ApiRecord& call) override;
  void see(const AllocationRecord& record, const ApiRecord& call) override;
  void see(const ApiRecord& call) override;

  /// Writes what was dropped since the last time, then as many entries as fit into `most` bytes;
  /// these are gone from here.
  void take(wire::Writer& writer, std::size_t most);

 private:
  void keep(const protocol::ActivityEntry& entry, const std::string& name);

  bool recording_ = false;
  std::deque<std::vector<std::byte>> entries_;
  std::size_t bytes_ = 0;  ///< of all entries
  std::uint64_t dropped_ = 0;
};

}  // namespace simgpu
