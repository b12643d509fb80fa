#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/device/device.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"
#include "simgpu/replay/recorder.h"

namespace simgpu {

/// What the trusted side may ask. Replies carry data on success, a sentence on failure.
class ControlSession {
 public:
  explicit ControlSession(Device& device) : device_(device) {}
  ~ControlSession();
  ControlSession(const ControlSession&) = delete;
  ControlSession& operator=(const ControlSession&) = delete;

  struct Reply {
    CudaError error = CudaError::success;
    std::vector<std::byte> payload;
  };
  Reply handle(std::uint32_t operation, std::span<const std::byte> payload);

  /// From collect() to the next mark(), or the next guest: what the trusted side reads then is what
  /// it was when the records were taken.
  bool holds_guest() const { return holds_guest_; }

 private:
  void dispatch(std::uint32_t operation, wire::Reader& reader, wire::Writer& writer);
  void memory_operation(protocol::ControlOperation operation, wire::Reader& reader,
                        wire::Writer& writer);
  void settled_from(std::uint64_t first, wire::Writer& writer) const;
  void origins(wire::Reader& reader, wire::Writer& writer);
  void send_collected(std::vector<std::byte> bytes, wire::Writer& writer);
  void collect_chunk(wire::Writer& writer);
  void record(const replay::Wanted& wanted);
  std::vector<std::byte> recorded() const;

  Device& device_;
  std::vector<std::byte> collected_;
  std::size_t sent_ = 0;
  bool holds_guest_ = false;
  std::optional<replay::Recorder> recorder_;
};

}  // namespace simgpu
