#include <cstdint>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"

/// Streams and events: handles are the device process's numbers.

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Client;
using runtime::GuestOperation;
using runtime::per_thread;
using runtime::record;
using runtime::Reply;
using runtime::request;
using runtime::stream_number;

namespace {

template <typename Handle>
Handle handle_of(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return api([&] {
    if (stream == nullptr || flags > cudaStreamNonBlocking) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    const Reply reply = Client::instance().ask(GuestOperation::stream_create,
                                               std::uint32_t{flags == cudaStreamDefault ? 1u : 0u},
                                               std::int32_t{priority});
    if (reply.ok()) *stream = handle_of<cudaStream_t>(reply.reader().get<std::uint64_t>());
    return reply.error;
  });
}

struct StreamInfo {
  bool blocking = true;
  int priority = 0;
};

int stream_info(cudaStream_t stream, StreamInfo* info) {
  const Reply reply = Client::instance().ask(GuestOperation::stream_info, stream_number(stream));
  if (!reply.ok()) return reply.error;
  auto reader = reply.reader();
  info->blocking = reader.get<std::uint32_t>() != 0;
  info->priority = reader.get<std::int32_t>();
  return 0;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return create_stream(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (const int error = runtime::permit_destruction(stream); error != 0) return record(error);
  return request(GuestOperation::stream_destroy, stream_number(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const int error = runtime::permit_stream(stream); error != 0) return record(error);
  if (const int error = runtime::permit_unsafe(); error != 0) return record(error);
  return request(GuestOperation::stream_synchronize, stream_number(stream));
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const int error = runtime::permit_stream(stream); error != 0) return record(error);
  if (const int error = runtime::permit_unsafe(); error != 0) return record(error);
  return request(GuestOperation::stream_query, stream_number(stream));
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  return cudaStreamQuery(per_thread(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) {
    return record(cudaErrorInvalidValue);
  }
  const auto captured = flags == cudaEventWaitExternal
                            ? runtime::capture(stream, runtime::EventWaitWork{event})
                            : runtime::capture_wait(stream, event);
  if (captured) return record(*captured);
  return request(GuestOperation::stream_wait, stream_number(stream), runtime::address_of(event));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return api([&] {
    StreamInfo info;
    if (flags == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = stream_info(stream, &info);
    if (error == 0) *flags = info.blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return error;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return api([&] {
    StreamInfo info;
    if (priority == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = stream_info(stream, &info);
    if (error == 0) *priority = info.priority;
    return error;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  constexpr int kGreatest = -5;  // as current GPUs report
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = kGreatest;
  return cudaSuccess;
}

/// Work on the modelled device is done in issue order, so what comes before the function is done
/// already.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return record(cudaErrorInvalidValue);
  if (const auto captured = runtime::capture(stream, runtime::HostWork{function, data})) {
    return record(*captured);
  }
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return error;
  const runtime::HostFunctionScope scope;
  function(data);
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return cudaLaunchHostFunc(per_thread(stream), function, data);
}

/// Unlike a host function it is told of an error, and called after one too.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  if (callback == nullptr || flags != 0) return record(cudaErrorInvalidValue);
  if (const int error = runtime::permit_stream(stream); error != 0) return record(error);
  const cudaError_t status = cudaStreamSynchronize(stream);
  if (status == cudaErrorInvalidResourceHandle || status == cudaErrorNoDevice) return status;
  const runtime::HostFunctionScope scope;
  callback(stream, status, data);
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void* data, unsigned flags) {
  return cudaStreamAddCallback(per_thread(stream), callback, data, flags);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned* flags) {
  return cudaStreamGetFlags(per_thread(stream), flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(per_thread(stream), priority);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return api([&] {
    StreamInfo info;
    if (id == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = stream_info(stream, &info);
    if (error == 0) *id = stream_number(stream);
    return error;
  });
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(per_thread(stream), id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return api([&] {
    StreamInfo info;
    if (device == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = stream_info(stream, &info);
    if (error == 0) *device = 0;
    return error;
  });
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(per_thread(stream), device);
}

/// What may be set is a hint; the priority is the one that the stream was made with.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return api([&] {
    StreamInfo info;
    if (value == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    if (attribute == cudaLaunchAttributePriority) {
      return static_cast<int>(runtime::refuse("cudaStreamSetAttribute", "a new priority"));
    }
    return stream_info(stream, &info);
  });
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attribute,
                                        const cudaStreamAttrValue* value) {
  return cudaStreamSetAttribute(per_thread(stream), attribute, value);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return api([&] {
    StreamInfo info;
    if (value == nullptr) return static_cast<int>(cudaErrorInvalidValue);
    const int error = stream_info(stream, &info);
    if (error != 0) return error;
    *value = {};
    if (attribute == cudaLaunchAttributePriority) value->priority = info.priority;
    return 0;
  });
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attribute,
                                        cudaStreamAttrValue* value) {
  return cudaStreamGetAttribute(per_thread(stream), attribute, value);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
  return api([&] {
    StreamInfo info;
    const int error = stream_info(destination, &info);
    return error == 0 ? stream_info(source, &info) : error;
  });
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t destination, cudaStream_t source) {
  return cudaStreamCopyAttributes(per_thread(destination), per_thread(source));
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return Client::instance().connected() ? cudaSuccess : record(cudaErrorNoDevice);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return api([&] {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (event == nullptr || (flags & ~kKnown) != 0) return static_cast<int>(cudaErrorInvalidValue);
    const Reply reply =
        Client::instance().ask(GuestOperation::event_create,
                               std::uint32_t{(flags & cudaEventDisableTiming) == 0 ? 1u : 0u});
    if (reply.ok()) *event = handle_of<cudaEvent_t>(reply.reader().get<std::uint64_t>());
    return reply.error;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  runtime::forget_event(event);
  return request(GuestOperation::event_destroy, runtime::address_of(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const auto captured = runtime::capture_record(event, stream)) return record(*captured);
  return request(GuestOperation::event_record, runtime::address_of(event), stream_number(stream));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, per_thread(stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags == cudaEventRecordExternal) {
    if (const auto captured = runtime::capture(stream, runtime::EventRecordWork{event})) {
      return record(*captured);
    }
  }
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return cudaEventRecordWithFlags(event, per_thread(stream), flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const int error = runtime::permit_event(event); error != 0) return record(error);
  return request(GuestOperation::event_synchronize, runtime::address_of(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const int error = runtime::permit_event(event); error != 0) return record(error);
  return request(GuestOperation::event_query, runtime::address_of(event));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return runtime::request_value(milliseconds, GuestOperation::event_elapsed,
                                runtime::address_of(start), runtime::address_of(stop));
}

}  // extern "C"
