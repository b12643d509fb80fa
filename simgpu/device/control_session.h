#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simgpu/device/device.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"

namespace simgpu {

/// What the trusted side may ask. Replies carry data on success, a sentence on failure.
class ControlSession {
 public:
  explicit ControlSession(Device& device) : device_(device) {}

  struct Reply {
    CudaError error = CudaError::success;
    std::vector<std::byte> payload;
  };
  Reply handle(std::uint32_t operation, std::span<const std::byte> payload);

 private:
  void dispatch(std::uint32_t operation, wire::Reader& reader, wire::Writer& writer);
  void memory_operation(protocol::ControlOperation operation, wire::Reader& reader,
                        wire::Writer& writer);
  void settled_from(std::uint64_t first, wire::Writer& writer) const;
  void collect_chunk(wire::Writer& writer);

  Device& device_;
  std::vector<std::byte> collected_;
  std::size_t sent_ = 0;
};

}  // namespace simgpu
