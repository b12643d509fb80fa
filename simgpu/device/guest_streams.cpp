// What a guest may ask of its streams and events.

#include "simgpu/device/guest_session.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostHandles = 100'000;

}  // namespace

CudaError GuestSession::stream_create(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto blocking = call.request.get<std::uint32_t>();
  const auto priority = call.request.get<std::int32_t>();
  if (timeline.handles() >= kMostHandles) return CudaError::memory_allocation;
  timeline.spend(ApiCost::kStream);
  call.answer.put(timeline.create_stream(blocking != 0, priority));
  return CudaError::success;
}

CudaError GuestSession::stream_destroy(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto stream = call.request.get<std::uint64_t>();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  timeline.spend(ApiCost::kStream);
  return timeline.destroy_stream(stream);
}

CudaError GuestSession::stream_synchronize(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto stream = call.request.get<std::uint64_t>();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  timeline.spend(ApiCost::kSynchronize);
  device_.streams().synchronize(timeline.ready(stream));
  device_.streams().host_waited_for_stream(stream);
  return device_.fault().error();
}

CudaError GuestSession::stream_query(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto stream = call.request.get<std::uint64_t>();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  timeline.spend(ApiCost::kEvent);
  if (timeline.ready(stream) > timeline.now()) return CudaError::not_ready;
  device_.streams().host_waited_for_stream(stream);
  return CudaError::success;
}

CudaError GuestSession::stream_wait(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto stream = call.request.get<std::uint64_t>();
  timeline.spend(ApiCost::kEvent);
  return timeline.stream_wait(stream, call.request.get<std::uint64_t>());
}

CudaError GuestSession::stream_info(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto stream = call.request.get<std::uint64_t>();
  if (!timeline.has_stream(stream)) return CudaError::invalid_resource_handle;
  call.answer.put(static_cast<std::uint32_t>(timeline.stream_blocking(stream).value_or(true)));
  call.answer.put(static_cast<std::int32_t>(timeline.stream_priority(stream).value_or(0)));
  return CudaError::success;
}

CudaError GuestSession::event_create(Call& call) {
  Timeline& timeline = device_.timeline();
  if (timeline.handles() >= kMostHandles) return CudaError::memory_allocation;
  timeline.spend(ApiCost::kEventObject);
  call.answer.put(timeline.create_event(call.request.get<std::uint32_t>() != 0));
  return CudaError::success;
}

CudaError GuestSession::event_destroy(Call& call) {
  const auto event = call.request.get<std::uint64_t>();
  device_.timeline().spend(ApiCost::kEventObject);
  return device_.timeline().destroy_event(event);
}

CudaError GuestSession::event_record(Call& call) {
  const auto event = call.request.get<std::uint64_t>();
  device_.timeline().spend(ApiCost::kEvent);
  return device_.timeline().record_event(event, call.request.get<std::uint64_t>());
}

CudaError GuestSession::event_synchronize(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto event = call.request.get<std::uint64_t>();
  const auto time = timeline.event_time(event);
  if (!time) return CudaError::invalid_resource_handle;
  timeline.spend(ApiCost::kSynchronize);
  device_.streams().synchronize(*time);
  device_.streams().host_waited_for_event(event);
  return device_.fault().error();
}

CudaError GuestSession::event_query(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto event = call.request.get<std::uint64_t>();
  const auto time = timeline.event_time(event);
  if (!time) return CudaError::invalid_resource_handle;
  timeline.spend(ApiCost::kEvent);
  if (*time > timeline.now()) return CudaError::not_ready;
  device_.streams().host_waited_for_event(event);
  return CudaError::success;
}

CudaError GuestSession::event_elapsed(Call& call) {
  Timeline& timeline = device_.timeline();
  const auto start = call.request.get<std::uint64_t>();
  const auto stop = call.request.get<std::uint64_t>();
  Picoseconds result = 0;
  const CudaError error = timeline.elapsed(start, stop, &result);
  if (timeline.is_unrecorded(start) || timeline.is_unrecorded(stop)) {
    device_.host_findings().report_unrecorded(timeline.is_unrecorded(start),
                                              timeline.is_unrecorded(stop));
  }
  call.answer.put(static_cast<float>(static_cast<double>(result) * 1e-9));
  return error;
}

CudaError GuestSession::device_synchronize(Call& /*call*/) {
  device_.timeline().spend(ApiCost::kSynchronize);
  device_.streams().synchronize(device_.timeline().all_done());
  device_.streams().host_waited_for_all();
  return device_.fault().error();
}

}  // namespace simgpu
