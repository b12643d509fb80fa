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
  /// One request, and what is answered beside the error.
  struct Call {
    wire::Reader request;
    wire::Writer answer;
    Descriptor memory = {};  ///< for the guest to map
  };
  /// Carries an operation out. It takes all of the request: what is left makes it a wrong message.
  using Handler = CudaError(Call& call);
  using Id = protocol::GuestOperation;
  struct Operation;
  struct Operations;

  // The handlers are named as their operations, and each has one row in the table of operations.
  Handler hello, take_output, take_results, host_call, refused, reset;
  Handler memory_info, allocate, allocate_array, allocate_shared, share_variable, image_create,
      image_destroy, get_stack_limit, get_heap_limit;
  Handler pool_create, pool_allocate, pool_get, pool_set, pool_trim;
  Handler copy_to_device, copy_from_device, copy_more, copy_on_device, fill;
  Handler module_begin, module_data, module_end, kernel_count, kernel_name, kernel_info,
      set_shared_limit, symbol_info, launch, check_launch, occupancy, blas;
  Handler stream_create, stream_destroy, stream_synchronize, stream_query, stream_wait, stream_info;
  Handler event_create, event_destroy, event_record, event_synchronize, event_query, event_elapsed;
  Handler device_synchronize;
  Handler graph_begin, graph_nodes, graph_end, graph_destroy, graph_update, graph_set_node,
      graph_upload, graph_launch, graph_continue;
  Handler activity_record, activity_take, activity_clock;

  /// The handler of an operation that hands its fields, in their order, to a function of one part
  /// of the device.
  template <auto kPart, auto kFunction>
  CudaError to(Call& call);

  /// That the request's next two fields name; see LoadedModules::find_kernel().
  LoadedKernel* requested_kernel(Call& call);
  CudaError begin_copy(bool to_device, Call& call);
  /// cudaGraphUpload, and cudaGraphLaunch, which runs it, too.
  CudaError issue_graph(bool runs, Call& call);

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
};

}  // namespace simgpu
