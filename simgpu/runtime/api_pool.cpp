#include <cstdint>
#include <cstring>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/context.h"

/// The stream-ordered allocator.
namespace simgpu::runtime {
namespace {

std::uint64_t number_of(cudaMemPool_t pool) { return address_of(pool) - 1; }

/// Whether a capture takes what is asked of the stream, be it only to refuse it.
bool is_captured(cudaStream_t stream) {
  CaptureInfo info;
  return capture_info(stream, &info) == 0 && info.graph != nullptr;
}

bool is_invalidated(cudaStream_t stream) {
  CaptureInfo info;
  return capture_info(stream, &info) == 0 && info.status == cudaStreamCaptureStatusInvalidated;
}

/// Becomes a node of the graph.
int allocate_in_capture(void** pointer, size_t bytes, cudaStream_t stream) {
  if (is_invalidated(stream)) return cudaErrorStreamCaptureInvalidated;
  AllocationWork work;
  if (const int error = GraphMemory::allocate(bytes, &work.memory); error != 0) return error;
  *pointer = work.memory->pointer();
  return capture(stream, std::move(work)).value_or(cudaErrorUnknown);
}

int free_in_capture(void* pointer, cudaStream_t stream) {
  if (is_invalidated(stream)) return cudaErrorStreamCaptureInvalidated;
  if (!Context::get<GraphMemoryTable>().mark_freed(address_of(pointer))) {
    return cudaErrorInvalidValue;  // and the capture goes on
  }
  return capture(stream, ReleaseWork{pointer}).value_or(cudaErrorUnknown);
}

int allocate_from_pool(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (pointer == nullptr || pool == nullptr) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (is_captured(stream)) return allocate_in_capture(pointer, bytes, stream);
  if (const int error = permit_stream(stream); error != 0) return error;
  if (const int error = permit_unsafe(); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::pool_allocate, std::uint64_t{bytes},
                                             number_of(pool), stream_number(stream));
  if (!reply.ok()) return reply.error;
  const auto address = reply.reader().get<std::uint64_t>();
  *pointer = reinterpret_cast<void*>(address);
  Context::get<DeviceBlocks>().add({address, bytes, "cudaMallocAsync"});
  return cudaSuccess;
}

int free_to_pool(void* pointer, cudaStream_t stream) {
  if (is_captured(stream)) return free_in_capture(pointer, stream);
  if (const int error = permit_stream(stream); error != 0) return error;
  if (Context::get<GraphMemoryTable>().mark_freed(address_of(pointer))) return cudaSuccess;
  const auto block = Context::get<DeviceBlocks>().find(address_of(pointer));
  if (block && block->mapped_bytes != 0) return cudaErrorInvalidValue;  // cudaFree takes it
  const Reply reply = Client::instance().ask(GuestOperation::pool_release, address_of(pointer),
                                             stream_number(stream));
  if (reply.ok()) Context::get<DeviceBlocks>().remove(address_of(pointer));
  return reply.error;
}

bool is_here(const cudaMemLocation& place) {
  return place.type == cudaMemLocationTypeDevice && place.id == 0;
}

int create_pool(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
  if (properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
  if (properties->handleTypes != cudaMemHandleTypeNone) {
    return refuse("cudaMemPoolCreate", "handles for other processes");
  }
  if (properties->location.type != cudaMemLocationTypeDevice) {
    return refuse("cudaMemPoolCreate", "a pool of host memory");
  }
  if (properties->location.id != 0) return cudaErrorInvalidValue;
  const Reply reply = Client::instance().ask(GuestOperation::pool_create);
  if (reply.ok()) *pool = pool_handle(reply.reader().get<std::uint64_t>());
  return reply.error;
}

/// Whether there is such a pool. @returns a cudaError_t
int find_pool(cudaMemPool_t pool) {
  if (pool == nullptr) return cudaErrorInvalidValue;
  constexpr auto kAny = static_cast<std::uint32_t>(cudaMemPoolAttrReleaseThreshold);
  return Client::instance().ask(GuestOperation::pool_get, number_of(pool), kAny).error;
}

int destroy_pool(cudaMemPool_t pool) {
  if (pool == nullptr) return cudaErrorInvalidValue;
  const Reply reply = Client::instance().ask(GuestOperation::pool_destroy, number_of(pool));
  if (reply.ok()) Context::get<CurrentPool>().leave(pool);
  return reply.error;
}

int give_pool(cudaMemPool_t* pool, int device, cudaMemPool_t value) {
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (device != 0) return cudaErrorInvalidDevice;
  *pool = value;
  return cudaSuccess;
}

/// The policies of reuse, which are ints: all reuse that they allow shows in no figure here.
bool is_policy(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

int get_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (is_policy(attribute)) {
    const int allowed = 1;
    std::memcpy(value, &allowed, sizeof allowed);
    return find_pool(pool);
  }
  if (pool == nullptr) return cudaErrorInvalidValue;
  const Reply reply = Client::instance().ask(GuestOperation::pool_get, number_of(pool),
                                             static_cast<std::uint32_t>(attribute));
  if (!reply.ok()) return reply.error;
  const auto bytes = reply.reader().get<std::uint64_t>();
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}

int set_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, const void* value) {
  if (value == nullptr || pool == nullptr) return cudaErrorInvalidValue;
  if (is_policy(attribute)) return find_pool(pool);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, value, sizeof bytes);
  return Client::instance()
      .ask(GuestOperation::pool_set, number_of(pool), static_cast<std::uint32_t>(attribute), bytes)
      .error;
}

/// The device that a pool lies on may always use it, and there is no other.
int set_access(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, size_t count) {
  if (descriptions == nullptr || count == 0) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (!is_here(descriptions[i].location)) return cudaErrorInvalidDevice;
    if (descriptions[i].flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;
  }
  return find_pool(pool);
}

int get_access(cudaMemAccessFlags* flags, cudaMemPool_t pool, const cudaMemLocation* place) {
  if (flags == nullptr || place == nullptr) return cudaErrorInvalidValue;
  if (const int error = find_pool(pool); error != 0) return error;
  *flags = is_here(*place) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Context;
using runtime::CurrentPool;
using runtime::per_thread;
using runtime::record;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, Context::get<CurrentPool>().get(), stream);
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, per_thread(stream));
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return api([&] { return runtime::allocate_from_pool(pointer, bytes, pool, stream); });
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, per_thread(stream));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api([&] { return runtime::free_to_pool(pointer, stream); });
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, per_thread(stream));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return api([&] { return runtime::create_pool(pool, properties); });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api([&] { return runtime::destroy_pool(pool); });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return api([&] { return runtime::give_pool(pool, device, runtime::pool_handle(0)); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return api([&] { return runtime::give_pool(pool, device, Context::get<CurrentPool>().get()); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return record(cudaErrorInvalidDevice);
  return api([&] {
    const int error = runtime::find_pool(pool);
    if (error == 0) Context::get<CurrentPool>().set(pool);
    return error;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return api([&] { return runtime::get_attribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return api([&] { return runtime::set_attribute(pool, attribute, value); });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
                                 size_t count) {
  return api([&] { return runtime::set_access(pool, descriptions, count); });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* place) {
  return api([&] { return runtime::get_access(flags, pool, place); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  if (pool == nullptr) return record(cudaErrorInvalidValue);
  return runtime::request(runtime::GuestOperation::pool_trim, runtime::number_of(pool),
                          std::uint64_t{keep});
}

}  // extern "C"
