#include "simgpu/device/guest_session.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "simgpu/device/blas_operation.h"

namespace simgpu {
namespace {

using protocol::GuestOperation;

constexpr std::size_t kMostHandles = 100'000;

/// @throws wire::MessageError
const char* function_of_shared(std::span<const std::byte> payload) {
  wire::Reader reader(payload);
  reader.get<std::uint64_t>();  // bytes
  switch (reader.get<protocol::SharedKind>()) {
    case protocol::SharedKind::managed:
      return "cudaMallocManaged";
    case protocol::SharedKind::malloc_host:
      return "cudaMallocHost";
    case protocol::SharedKind::host_alloc:
      return "cudaHostAlloc";
  }
  throw wire::MessageError("unknown kind");
}

/// The runtime function that each operation serves, for the activity log; empty for the client's
/// own needs.
const char* function_of(GuestOperation operation, std::span<const std::byte> payload) {
  switch (operation) {
    case GuestOperation::memory_info:
      return "cudaMemGetInfo";
    case GuestOperation::allocate:
      return "cudaMalloc";
    case GuestOperation::allocate_array:
      return "cudaMallocArray";
    case GuestOperation::image_create:
      return "cudaCreateTextureObject";
    case GuestOperation::allocate_shared:
      return function_of_shared(payload);
    case GuestOperation::release:
      return "cudaFree";
    case GuestOperation::release_pinned:
      return "cudaFreeHost";
    case GuestOperation::reset:
      return "cudaDeviceReset";
    case GuestOperation::pool_allocate:
      return "cudaMallocAsync";
    case GuestOperation::pool_release:
      return "cudaFreeAsync";
    case GuestOperation::pool_get:
      return "cudaMemPoolGetAttribute";
    case GuestOperation::pool_set:
      return "cudaMemPoolSetAttribute";
    case GuestOperation::copy_to_device:
    case GuestOperation::copy_from_device:
    case GuestOperation::copy_on_device:
      return "cudaMemcpy";
    case GuestOperation::fill:
      return "cudaMemset";
    case GuestOperation::launch:
      return "cudaLaunchKernel";
    case GuestOperation::stream_create:
      return "cudaStreamCreate";
    case GuestOperation::stream_synchronize:
      return "cudaStreamSynchronize";
    case GuestOperation::stream_query:
      return "cudaStreamQuery";
    case GuestOperation::stream_wait:
      return "cudaStreamWaitEvent";
    case GuestOperation::event_create:
      return "cudaEventCreate";
    case GuestOperation::event_record:
      return "cudaEventRecord";
    case GuestOperation::event_synchronize:
      return "cudaEventSynchronize";
    case GuestOperation::event_query:
      return "cudaEventQuery";
    case GuestOperation::event_elapsed:
      return "cudaEventElapsedTime";
    case GuestOperation::device_synchronize:
      return "cudaDeviceSynchronize";
    case GuestOperation::blas:
      return "cublas";
    case GuestOperation::graph_end:
      return "cudaGraphInstantiate";
    case GuestOperation::graph_update:
      return "cudaGraphExecUpdate";
    case GuestOperation::graph_upload:
      return "cudaGraphUpload";
    case GuestOperation::graph_launch:
      return "cudaGraphLaunch";
    default:
      return "";
  }
}

/// The record of one call, from before its checks until its answer.
class RecordedCall {
 public:
  /// @param reply of the call, read when it ends
  RecordedCall(Device& device, const char* name, const GuestSession::Reply& reply)
      : device_(device), reply_(reply) {
    device_.log().count_call(name);
    device_.log().begin_call(name, microseconds(device_.timeline().now()));
  }
  ~RecordedCall() { device_.log().end_call(microseconds(device_.timeline().now()), reply_.error); }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

 private:
  Device& device_;
  const GuestSession::Reply& reply_;
};

/// A watcher sees what one request does, and nothing of another guest's.
class Watching {
 public:
  Watching(ActivityLog& log, RecordWatcher* watcher) : log_(log) { log_.watch(watcher); }
  ~Watching() { log_.watch(nullptr); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  ActivityLog& log_;
};

/// Operations that answer even when a kernel has broken the context.
bool works_after_fault(GuestOperation operation) {
  return operation == GuestOperation::hello || operation == GuestOperation::take_output ||
         operation == GuestOperation::host_dereference || operation == GuestOperation::reset ||
         operation == GuestOperation::activity_record ||
         operation == GuestOperation::activity_take || operation == GuestOperation::activity_clock;
}

/// Operations that fail with "invalid resource handle" because a stream or an event is not there.
bool names_handle(GuestOperation operation) {
  switch (operation) {
    case GuestOperation::launch:
    case GuestOperation::copy_to_device:
    case GuestOperation::copy_from_device:
    case GuestOperation::copy_on_device:
    case GuestOperation::fill:
    case GuestOperation::stream_synchronize:
    case GuestOperation::stream_wait:
    case GuestOperation::stream_query:
    case GuestOperation::event_record:
    case GuestOperation::event_synchronize:
    case GuestOperation::event_query:
      return true;
    default:
      return false;
  }
}

/// Rows without gaps are one row.
template <typename Request>
void join_rows(Request& request, std::uint64_t pitch) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (pitch != request.width || request.height <= 1) return;
  if (request.width > kMost || request.height > kMost / std::max<std::uint64_t>(request.width, 1))
    return;
  request.width *= request.height;
  request.height = 1;
}

}  // namespace

GuestSession::Reply GuestSession::handle(std::uint32_t operation,
                                         std::span<const std::byte> payload) {
  if (operation == 0 || operation >= static_cast<std::uint32_t>(Operation::count)) {
    throw wire::MessageError("unknown operation");
  }
  const auto known = static_cast<Operation>(operation);
  if (device_.is_host_endless()) throw wire::MessageError("a program that does not end");
  wire::Writer writer;
  writer.put(std::uint8_t{0});
  Reply reply;
  const Watching watching(device_.log(), activity_.recording() ? &activity_ : nullptr);
  std::optional<RecordedCall> call;
  if (const char* function = function_of(known, payload); *function != '\0') {
    call.emplace(device_, function, reply);
  }
  if (device_.fault() != CudaError::success && !works_after_fault(known)) {
    reply.error = device_.fault();
  } else {
    wire::Reader reader(payload);
    reply.error = dispatch(known, reader, writer);
    reader.expect_end();
    if (reply.error == CudaError::invalid_resource_handle && names_handle(known)) {
      device_.report_no_handle(function_of(known, payload));
    }
  }
  if (call) device_.note_host_call(reply.error == CudaError::not_ready);
  reply.payload = writer.take();
  reply.descriptor = std::move(shared_);
  if (device_.has_output()) reply.payload.front() = std::byte{protocol::kHasOutput};
  return reply;
}

CudaError GuestSession::dispatch(Operation operation, wire::Reader& reader, wire::Writer& writer) {
  switch (operation) {
    case Operation::hello:
      if (reader.get<std::uint32_t>() != protocol::kVersion) {
        throw wire::MessageError("another version of the protocol");
      }
      device_.log().guest_connects();
      writer.put(device_.properties());
      return CudaError::success;
    case Operation::memory_info:
    case Operation::allocate:
    case Operation::release:
    case Operation::reset:
    case Operation::host_dereference:
    case Operation::device_synchronize:
    case Operation::take_output:
    case Operation::get_stack_limit:
    case Operation::set_stack_limit:
    case Operation::get_heap_limit:
    case Operation::set_heap_limit:
    case Operation::allocate_shared:
    case Operation::release_pinned:
    case Operation::share_variable:
    case Operation::allocate_array:
    case Operation::image_create:
    case Operation::image_destroy:
    case Operation::misuse:
    case Operation::refused:
    case Operation::launch_unasked:
    case Operation::error_asked:
    case Operation::host_call:
      return memory_operation(operation, reader, writer);
    case Operation::pool_allocate:
    case Operation::pool_release:
    case Operation::pool_get:
    case Operation::pool_set:
    case Operation::pool_trim:
    case Operation::pool_create:
    case Operation::pool_destroy:
      return pool_operation(operation, reader, writer);
    case Operation::copy_to_device:
    case Operation::copy_from_device:
    case Operation::copy_more:
    case Operation::copy_on_device:
    case Operation::fill:
      return copy_operation(operation, reader, writer);
    case Operation::stream_create:
    case Operation::stream_destroy:
    case Operation::stream_synchronize:
    case Operation::stream_query:
    case Operation::stream_wait:
    case Operation::stream_info:
      return stream_operation(operation, reader, writer);
    case Operation::event_create:
    case Operation::event_destroy:
    case Operation::event_record:
    case Operation::event_synchronize:
    case Operation::event_query:
    case Operation::event_elapsed:
      return event_operation(operation, reader, writer);
    case Operation::graph_begin:
    case Operation::graph_nodes:
    case Operation::graph_end:
    case Operation::graph_destroy:
    case Operation::graph_update:
    case Operation::graph_set_node:
    case Operation::graph_upload:
    case Operation::graph_launch:
    case Operation::graph_continue:
    case Operation::graphs_kept:
      return graph_operation(operation, reader, writer);
    case Operation::blas:
      return blas_operation(device_, reader, writer);
    case Operation::activity_record:
    case Operation::activity_take:
    case Operation::activity_clock:
      return activity_operation(operation, reader, writer);
    default:
      return module_operation(operation, reader, writer);
  }
}

CudaError GuestSession::copy_operation(Operation operation, wire::Reader& reader,
                                       wire::Writer& writer) {
  switch (operation) {
    case Operation::copy_to_device:
      return start_copy(true, reader, writer);
    case Operation::copy_from_device:
      return start_copy(false, reader, writer);
    case Operation::copy_more:
      return continue_copy(reader, writer);
    case Operation::copy_on_device: {
      auto request = reader.get<protocol::DeviceCopyRequest>();
      if (request.source_pitch == request.destination_pitch)
        join_rows(request, request.source_pitch);
      if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemcpyAsync");
      return device_.copy_on_device(request);
    }
    default: {
      auto request = reader.get<protocol::FillRequest>();
      join_rows(request, request.pitch);
      if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemsetAsync");
      return device_.fill(request);
    }
  }
}

CudaError GuestSession::start_copy(bool to_device, wire::Reader& reader, wire::Writer& writer) {
  transfer_ = {};
  auto request = reader.get<protocol::CopyRequest>();
  join_rows(request, request.pitch);
  if (request.asynchronous_call != 0) device_.log().rename_call("cudaMemcpyAsync");
  if (const CudaError error = device_.begin_copy(request, to_device); error != CudaError::success) {
    reader.rest();
    return error;
  }
  transfer_ = {.request = request,
               .to_device = to_device,
               .done = 0,
               .total = request.width * request.height};
  return continue_copy(reader, writer);
}

CudaError GuestSession::continue_copy(wire::Reader& reader, wire::Writer& writer) {
  const std::uint64_t left = transfer_.total - transfer_.done;
  if (transfer_.to_device) {
    const auto bytes = reader.rest();
    if (bytes.size() > left) throw wire::MessageError("more bytes than the copy has");
    if (!bytes.empty()) device_.write_packed(transfer_.request, transfer_.done, bytes);
    transfer_.done += bytes.size();
  } else {
    const auto count = std::min<std::uint64_t>(left, protocol::kChunkBytes);
    if (count > 0) device_.read_packed(transfer_.request, transfer_.done, writer.reserve(count));
    transfer_.done += count;
  }
  return CudaError::success;
}

CudaError GuestSession::stream_operation(Operation operation, wire::Reader& reader,
                                         wire::Writer& writer) {
  Timeline& timeline = device_.timeline();
  if (operation == Operation::stream_create) {
    const auto blocking = reader.get<std::uint32_t>();
    const auto priority = reader.get<std::int32_t>();
    if (timeline.handles() >= kMostHandles) return CudaError::memory_allocation;
    timeline.spend(ApiCost::kStream);
    writer.put(timeline.create_stream(blocking != 0, priority));
    return CudaError::success;
  }
  const auto stream = reader.get<std::uint64_t>();
  if (operation == Operation::stream_wait) {
    timeline.spend(ApiCost::kEvent);
    return timeline.stream_wait(stream, reader.get<std::uint64_t>());
  }
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  switch (operation) {
    case Operation::stream_destroy:
      timeline.spend(ApiCost::kStream);
      return timeline.destroy_stream(stream);
    case Operation::stream_synchronize:
      timeline.spend(ApiCost::kSynchronize);
      device_.synchronize(timeline.ready(stream));
      device_.host_waited_for_stream(stream);
      return device_.fault();
    case Operation::stream_query:
      timeline.spend(ApiCost::kEvent);
      if (timeline.ready(stream) > timeline.now()) return CudaError::not_ready;
      device_.host_waited_for_stream(stream);
      return CudaError::success;
    default:
      writer.put(static_cast<std::uint32_t>(timeline.stream_blocking(stream).value_or(true)));
      writer.put(static_cast<std::int32_t>(timeline.stream_priority(stream).value_or(0)));
      return CudaError::success;
  }
}

CudaError GuestSession::event_operation(Operation operation, wire::Reader& reader,
                                        wire::Writer& writer) {
  Timeline& timeline = device_.timeline();
  if (operation == Operation::event_create) {
    if (timeline.handles() >= kMostHandles) return CudaError::memory_allocation;
    timeline.spend(ApiCost::kEventObject);
    writer.put(timeline.create_event(reader.get<std::uint32_t>() != 0));
    return CudaError::success;
  }
  const auto event = reader.get<std::uint64_t>();
  switch (operation) {
    case Operation::event_destroy:
      timeline.spend(ApiCost::kEventObject);
      return timeline.destroy_event(event);
    case Operation::event_record:
      timeline.spend(ApiCost::kEvent);
      return timeline.record_event(event, reader.get<std::uint64_t>());
    case Operation::event_elapsed: {
      Picoseconds result = 0;
      const auto stop = reader.get<std::uint64_t>();
      const CudaError error = timeline.elapsed(event, stop, &result);
      if (timeline.is_unrecorded(event) || timeline.is_unrecorded(stop)) {
        device_.report_unrecorded(timeline.is_unrecorded(event), timeline.is_unrecorded(stop));
      }
      writer.put(static_cast<float>(static_cast<double>(result) * 1e-9));
      return error;
    }
    default:
      break;
  }
  const auto time = timeline.event_time(event);
  if (!time) return CudaError::invalid_resource_handle;
  if (operation == Operation::event_synchronize) {
    timeline.spend(ApiCost::kSynchronize);
    device_.synchronize(*time);
    device_.host_waited_for_event(event);
    return device_.fault();
  }
  timeline.spend(ApiCost::kEvent);
  if (*time > timeline.now()) return CudaError::not_ready;
  device_.host_waited_for_event(event);
  return CudaError::success;
}

CudaError GuestSession::activity_operation(Operation operation, wire::Reader& reader,
                                           wire::Writer& writer) {
  switch (operation) {
    case Operation::activity_record:
      activity_.record(reader.get<std::uint32_t>() != 0);
      return CudaError::success;
    case Operation::activity_take:
      activity_.take(writer, protocol::kChunkBytes);
      return CudaError::success;
    default:
      writer.put(
          static_cast<std::uint64_t>(std::llround(microseconds(device_.timeline().now()) * 1e3)));
      return CudaError::success;
  }
}

}  // namespace simgpu
