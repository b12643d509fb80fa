#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simgpu/device/stream_races.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// Finds memory of the host, pinned or managed, that the host changes while a copy from it, or a
/// kernel that reads it, may be under way (RL0320). Here both are done when their call returns; on
/// a GPU they take place at any time before the host has waited for them. So the bytes are kept,
/// and held against the memory before the host waits. What is kept is bounded: of very much that
/// nothing waits for, the oldest is forgotten.
class HostSources {
 public:
  /// Of the host, one behind the other in a copy.
  struct Rows {
    std::uint64_t address = 0, pitch = 0, width = 0, height = 0;
    std::uint64_t bytes() const { return width * height; }
  };
  struct Read {
    Rows rows{};
    std::string by{};  ///< "a copy to the device", "kernel scale"
    StreamOrder::Stamp stamp{};
    std::uint64_t stream_number = 0;  ///< as records tell it
    StreamRaces::Node node{};
    std::vector<std::byte> bytes{};  ///< as they were when it was issued
    AccessSite where{};              ///< the call that issued it
  };
  struct Change {
    Rows rows{};
    std::string by{};
    std::uint64_t stream_number = 0;
    std::uint64_t first = 0;  ///< byte of the rows
    AccessSite where{};
  };

  /// Keeps what was just issued reads, if that is memory that the host shares. The rows are
  /// untrusted.
  void add(Read read, const DeviceMemory& memory);
  /// Work whose source has changed, each once. What lies in memory that is gone is forgotten.
  std::vector<Change> take_changed(const DeviceMemory& memory);
  /// The same of those that share memory with the rows of another copy.
  std::vector<Change> take_changed(const DeviceMemory& memory, const Rows& rows);
  /// The device writes there: what differs behind that need not be the host's doing.
  void drop_written(const Rows& rows);
  /// The host has waited.
  void drop_done(const StreamOrder& order);
  /// A function of the host runs behind what is ordered before this node of a stream.
  void drop_before(std::uint64_t stream, const StreamRaces::Node& node, const StreamOrder& order);
  void forget_all() { *this = {}; }

 private:
  template <class Choose>
  std::vector<Change> take_changed_if(const DeviceMemory& memory, const Choose& choose);
  template <class Choose>
  void drop_if(const Choose& choose);

  std::deque<Read> outstanding_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace simgpu
