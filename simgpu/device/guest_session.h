#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/device/device.h"
#include "simgpu/device/graph_run.h"
#include "simgpu/device/guest_activity.h"
#include "simgpu/device/protocol.h"
#include "simgpu/device/wire.h"

namespace simgpu {

/// What one guest may ask of the device, and nothing else. Every byte of a request is untrusted.
class GuestSession {
 public:
  explicit GuestSession(Device& device) : device_(device) {}

  struct Reply {
    CudaError error = CudaError::success;
    std::vector<std::byte> payload;  ///< flags first
    Descriptor descriptor;           ///< of shared memory, for the guest to map
  };
  /// @throws wire::MessageError when the request is not what the protocol says; the connection then
  /// ends
  Reply handle(std::uint32_t operation, std::span<const std::byte> payload);

 private:
  using Operation = protocol::GuestOperation;

  CudaError dispatch(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError memory_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError copy_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError module_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError stream_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError event_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError pool_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError pool_figures(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError activity_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);

  CudaError graph_operation(Operation operation, wire::Reader& reader, wire::Writer& writer);

  CudaError start_copy(bool to_device, wire::Reader& reader, wire::Writer& writer);
  CudaError continue_copy(wire::Reader& reader, wire::Writer& writer);
  CudaError kernel_info(wire::Reader& reader, wire::Writer& writer);
  CudaError allocate_shared(wire::Reader& reader, wire::Writer& writer);
  CudaError share_variable(wire::Reader& reader, wire::Writer& writer);
  CudaError launch(wire::Reader& reader);
  CudaError kernel_occupancy(wire::Reader& reader, wire::Writer& writer);
  CudaError launch_graph(Operation operation, wire::Reader& reader, wire::Writer& writer);
  CudaError continue_graph(wire::Writer& writer);

  /// A copy whose bytes are still under way.
  struct Transfer {
    protocol::CopyRequest request;
    bool to_device = false;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };

  Device& device_;
  Transfer transfer_;
  std::optional<GraphRun> graph_run_;  ///< a launch that waits for the guest
  GuestActivity activity_;
  std::uint64_t image_bytes_ = 0;  ///< announced size of the image being loaded
  protocol::ImageOrigin image_origin_ = protocol::ImageOrigin::program;
  std::vector<std::byte> image_;
  Descriptor shared_;  ///< goes with the reply under way
};

}  // namespace simgpu
