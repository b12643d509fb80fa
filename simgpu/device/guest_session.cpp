#include "simgpu/device/guest_session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simgpu/device/blas_operation.h"
#include "simgpu/device/guest_properties.h"

namespace simgpu {
namespace {

/// What is special about an operation.
enum Trait : unsigned {
  kAfterFault = 1,   ///< answers even when a kernel has broken the context
  kNamesHandle = 2,  ///< "invalid resource handle" means a stream or an event that is not there
  kWaits = 4,        ///< the host waits for the device: as on a GPU, printf output appears then
};

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

/// The record of one call, from before its checks until its answer.
class RecordedCall {
 public:
  /// @param reply of the call, read when it ends
  RecordedCall(ActivityLog& log, const Timeline& timeline, const char* name,
               const GuestSession::Reply& reply)
      : log_(log), timeline_(timeline), reply_(reply) {
    log_.count_call(name);
    log_.begin_call(name, microseconds(timeline_.now()));
  }
  ~RecordedCall() { log_.end_call(microseconds(timeline_.now()), reply_.error); }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

 private:
  ActivityLog& log_;
  const Timeline& timeline_;
  const GuestSession::Reply& reply_;
};

std::vector<HostFrame> frames_of(const protocol::Caller& caller) {
  const std::size_t count = std::min<std::size_t>(caller.count, caller.frames.size());
  return {caller.frames.begin(), caller.frames.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// What of a kind that leaks are told of by kind alone a request makes, as they call it; empty for
/// all others.
const char* made_by(protocol::GuestOperation operation, std::span<const std::byte> payload) {
  switch (operation) {
    case protocol::GuestOperation::stream_create:
      return "stream";
    case protocol::GuestOperation::event_create:
      return "event";
    case protocol::GuestOperation::graph_end:
      return "executable graph";
    case protocol::GuestOperation::pool_create:
      return "memory pool";
    case protocol::GuestOperation::image_create:
      return "texture or surface object";
    case protocol::GuestOperation::host_call: {
      const auto kind = wire::Reader(payload).get<protocol::HostCall>().kind;
      if (kind == protocol::HostCallKind::create_blas_handle) return "cuBLAS handle";
      return kind == protocol::HostCallKind::register_memory ? "registration" : "";
    }
    default:
      return "";
  }
}

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

template <typename Part, typename Result, typename... Fields>
CudaError hand_on(Part& part, Result (Part::*function)(Fields...), wire::Reader& request) {
  // In braces, so that the fields are read in their order.
  const std::tuple<std::remove_cvref_t<Fields>...> fields{
      request.get<std::remove_cvref_t<Fields>>()...};
  const auto call = [&](const auto&... field) { return (part.*function)(field...); };
  if constexpr (std::is_void_v<Result>) {
    std::apply(call, fields);
    return CudaError::success;
  } else {
    return std::apply(call, fields);
  }
}

}  // namespace

template <auto kPart, auto kFunction>
CudaError GuestSession::to(Call& call) {
  return hand_on((device_.*kPart)(), kFunction, call.request);
}

/// A row of the table.
struct GuestSession::Operation {
  Id id{};
  /// The runtime function that it serves, for the activity log; empty for the client's own needs.
  const char* function = "";
  Handler GuestSession::*serve = nullptr;
  unsigned traits = 0;
  /// Where the function depends on the request.
  const char* (*function_in)(std::span<const std::byte> payload) = nullptr;

  bool is(Trait trait) const { return (traits & trait) != 0; }
  const char* name_in(std::span<const std::byte> payload) const {
    return function_in == nullptr ? function : function_in(payload);
  }
};

/// Every operation that there is, in the protocol's order.
struct GuestSession::Operations {
  using Guest = GuestSession;

  static constexpr auto kRows = std::to_array<Operation>({
      {Id::hello, "", &Guest::hello, kAfterFault},
      {Id::memory_info, "cudaMemGetInfo", &Guest::memory_info},
      {Id::allocate, "cudaMalloc", &Guest::allocate},
      {Id::release, "cudaFree", &Guest::to<&Device::allocations, &Allocations::release>, kWaits},
      {Id::reset, "cudaDeviceReset", &Guest::reset, kAfterFault | kWaits},
      {Id::pool_allocate, "cudaMallocAsync", &Guest::pool_allocate},
      {Id::pool_release, "cudaFreeAsync",
       &Guest::to<&Device::allocations, &Allocations::release_on>},
      {Id::pool_get, "cudaMemPoolGetAttribute", &Guest::pool_get},
      {Id::pool_set, "cudaMemPoolSetAttribute", &Guest::pool_set},
      {Id::pool_trim, "", &Guest::pool_trim},
      {Id::copy_to_device, "cudaMemcpy", &Guest::copy_to_device, kNamesHandle | kWaits},
      {Id::copy_from_device, "cudaMemcpy", &Guest::copy_from_device, kNamesHandle | kWaits},
      {Id::copy_more, "", &Guest::copy_more},
      {Id::copy_on_device, "cudaMemcpy", &Guest::copy_on_device, kNamesHandle},
      {Id::fill, "cudaMemset", &Guest::fill, kNamesHandle},
      {Id::module_begin, "", &Guest::module_begin},
      {Id::module_data, "", &Guest::module_data},
      {Id::module_end, "", &Guest::module_end},
      {Id::module_unload, "", &Guest::to<&Device::modules, &LoadedModules::unload>},
      {Id::kernel_count, "", &Guest::kernel_count},
      {Id::kernel_name, "", &Guest::kernel_name},
      {Id::kernel_info, "", &Guest::kernel_info},
      {Id::set_shared_limit, "", &Guest::set_shared_limit},
      {Id::symbol_info, "", &Guest::symbol_info},
      {Id::launch, "cudaLaunchKernel", &Guest::launch, kNamesHandle},
      {Id::occupancy, "", &Guest::occupancy},
      {Id::stream_create, "cudaStreamCreate", &Guest::stream_create},
      {Id::stream_destroy, "", &Guest::stream_destroy},
      {Id::stream_synchronize, "cudaStreamSynchronize", &Guest::stream_synchronize,
       kNamesHandle | kWaits},
      {Id::stream_query, "cudaStreamQuery", &Guest::stream_query, kNamesHandle},
      {Id::stream_wait, "cudaStreamWaitEvent", &Guest::stream_wait, kNamesHandle},
      {Id::stream_info, "", &Guest::stream_info},
      {Id::event_create, "cudaEventCreate", &Guest::event_create},
      {Id::event_destroy, "", &Guest::event_destroy},
      {Id::event_record, "cudaEventRecord", &Guest::event_record, kNamesHandle},
      {Id::event_synchronize, "cudaEventSynchronize", &Guest::event_synchronize,
       kNamesHandle | kWaits},
      {Id::event_query, "cudaEventQuery", &Guest::event_query, kNamesHandle},
      {Id::event_elapsed, "cudaEventElapsedTime", &Guest::event_elapsed},
      {Id::device_synchronize, "cudaDeviceSynchronize", &Guest::device_synchronize, kWaits},
      {Id::take_output, "", &Guest::take_output, kAfterFault},
      {Id::host_dereference, "",
       &Guest::to<&Device::host_findings, &HostFindings::report_dereference>, kAfterFault},
      {Id::blas, "cublas", &Guest::blas},
      {Id::get_stack_limit, "", &Guest::get_stack_limit},
      {Id::set_stack_limit, "", &Guest::to<&Device::launches, &Launches::set_stack_bytes>},
      {Id::get_heap_limit, "", &Guest::get_heap_limit},
      {Id::set_heap_limit, "", &Guest::to<&Device::launches, &Launches::set_heap_bytes>},
      {Id::check_launch, "", &Guest::check_launch},
      {Id::graph_begin, "", &Guest::graph_begin},
      {Id::graph_nodes, "", &Guest::graph_nodes},
      {Id::graph_end, "cudaGraphInstantiate", &Guest::graph_end},
      {Id::graph_destroy, "", &Guest::graph_destroy},
      {Id::graph_update, "cudaGraphExecUpdate", &Guest::graph_update},
      {Id::graph_set_node, "", &Guest::graph_set_node},
      {Id::graph_upload, "cudaGraphUpload", &Guest::graph_upload},
      {Id::graph_launch, "cudaGraphLaunch", &Guest::graph_launch},
      {Id::graph_continue, "", &Guest::graph_continue},
      {Id::activity_record, "", &Guest::activity_record, kAfterFault},
      {Id::activity_take, "", &Guest::activity_take, kAfterFault},
      {Id::activity_clock, "", &Guest::activity_clock, kAfterFault},
      {Id::allocate_shared, "", &Guest::allocate_shared, 0, function_of_shared},
      {Id::release_pinned, "cudaFreeHost",
       &Guest::to<&Device::allocations, &Allocations::release_pinned>, kWaits},
      {Id::allocate_array, "cudaMallocArray", &Guest::allocate_array},
      {Id::image_create, "cudaCreateTextureObject", &Guest::image_create},
      {Id::image_destroy, "", &Guest::image_destroy},
      {Id::pool_create, "", &Guest::pool_create},
      {Id::pool_destroy, "", &Guest::to<&Device::pools, &MemoryPools::destroy>},
      {Id::share_variable, "", &Guest::share_variable},
      {Id::misuse, "", &Guest::to<&Device::host_findings, &HostFindings::report_misuse>},
      {Id::launch_unasked, "",
       &Guest::to<&Device::host_findings, &HostFindings::note_unasked_launch>},
      {Id::error_asked, "", &Guest::to<&Device::host_findings, &HostFindings::note_asked>},
      {Id::graphs_kept, "", &Guest::to<&Device::host_objects, &HostObjects::note_graphs_kept>},
      {Id::refused, "", &Guest::refused},
      {Id::host_call, "", &Guest::host_call},
      {Id::take_results, "", &Guest::take_results, kAfterFault},
      {Id::result_used, "", &Guest::to<&Device::streams, &Streams::report_used_result>,
       kAfterFault},
  });

  static constexpr bool has_each_in_order() {
    auto next = static_cast<std::uint32_t>(Id::hello);
    for (const Operation& row : kRows) {
      if (static_cast<std::uint32_t>(row.id) != next++ || row.serve == nullptr) return false;
    }
    return next == static_cast<std::uint32_t>(Id::count);
  }

  /// @throws wire::MessageError
  static const Operation& find(std::uint32_t number) {
    static_assert(has_each_in_order(), "each operation has one row, in the protocol's order");
    const std::uint32_t index = number - static_cast<std::uint32_t>(Id::hello);
    if (index >= kRows.size()) throw wire::MessageError("unknown operation");
    return kRows.at(index);
  }
};

GuestSession::Reply GuestSession::handle(std::uint32_t number, std::span<const std::byte> payload) {
  const Operation& operation = Operations::find(number & ~protocol::kWithCaller);
  // The rest of a copy or of a graph's launch belongs to the request that began it.
  const bool goes_on = operation.id == Id::copy_more || operation.id == Id::graph_continue;
  if (!goes_on) device_.log().set_caller({});
  if ((number & protocol::kWithCaller) != 0) {
    device_.log().set_caller(frames_of(wire::Reader(payload).get<protocol::Caller>()));
    payload = payload.subspan(sizeof(protocol::Caller));
  }
  if (device_.host_findings().is_endless()) throw wire::MessageError("a program that does not end");
  Call call{.request = wire::Reader(payload), .answer = {}};
  call.answer.put(std::uint8_t{0});
  Reply reply;
  const Watching watching(device_.log(), activity_.recording() ? &activity_ : nullptr);
  const char* function = operation.name_in(payload);
  std::optional<RecordedCall> record;
  if (*function != '\0') record.emplace(device_.log(), device_.timeline(), function, reply);
  if (device_.fault().is_raised() && !operation.is(kAfterFault)) {
    reply.error = device_.fault().error();
  } else {
    reply.error = (this->*operation.serve)(call);
    call.request.expect_end();
    if (reply.error == CudaError::invalid_resource_handle && operation.is(kNamesHandle)) {
      device_.host_findings().report_no_handle(function);
    }
  }
  if (reply.error == CudaError::success) {
    if (const char* object = made_by(operation.id, payload); *object != '\0') {
      device_.host_objects().note_maker(object, device_.log().caller());
    }
  }
  if (record) device_.host_findings().note_call(reply.error == CudaError::not_ready);
  reply.payload = call.answer.take();
  reply.descriptor = std::move(call.memory);
  if (operation.is(kWaits) && device_.launches().has_output()) {
    reply.payload.front() = std::byte{protocol::kHasOutput};
  }
  if (device_.streams().has_new_results()) {
    reply.payload.front() |= std::byte{protocol::kHasResults};
  }
  return reply;
}

CudaError GuestSession::hello(Call& call) {
  if (call.request.get<std::uint32_t>() != protocol::kVersion) {
    throw wire::MessageError("another version of the protocol");
  }
  device_.log().guest_connects();
  call.answer.put(properties_of(device_.gpu()));
  return CudaError::success;
}

CudaError GuestSession::reset(Call& /*call*/) {
  device_.release_guest();
  transfer_ = {};
  graph_run_.reset();
  image_ = {};
  image_bytes_ = 0;
  return CudaError::success;
}

CudaError GuestSession::take_output(Call& call) {
  const std::string text = device_.launches().take_output();
  call.answer.append(std::as_bytes(std::span(text)));
  return CudaError::success;
}

CudaError GuestSession::take_results(Call& call) {
  for (const ByteRange& range : device_.streams().take_new_results()) call.answer.put(range);
  return CudaError::success;
}

CudaError GuestSession::refused(Call& call) {
  const auto refusal = call.request.get<protocol::Refusal>();
  const std::string function = call.request.get_string(protocol::kMaxFunctionName);
  device_.host_findings().report_refused(function, refusal.in_part != 0);
  return CudaError::success;
}

CudaError GuestSession::host_call(Call& call) {
  const double us = device_.host_objects().note(call.request.get<protocol::HostCall>());
  device_.timeline().spend(us);
  return CudaError::success;
}

CudaError GuestSession::blas(Call& call) {
  return blas_operation(device_, call.request, call.answer);
}

CudaError GuestSession::activity_record(Call& call) {
  activity_.record(call.request.get<std::uint32_t>() != 0);
  return CudaError::success;
}

CudaError GuestSession::activity_take(Call& call) {
  activity_.take(call.answer, protocol::kChunkBytes);
  return CudaError::success;
}

CudaError GuestSession::activity_clock(Call& call) {
  const double nanoseconds = microseconds(device_.timeline().now()) * 1e3;
  call.answer.put(static_cast<std::uint64_t>(std::llround(nanoseconds)));
  return CudaError::success;
}

}  // namespace simgpu
