#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/device_range.h"

/// Allocation on the device and of pinned host memory.
namespace simgpu::runtime {
namespace {

constexpr size_t kPitchAlignment = 512;  // as cudaMallocPitch gives on current GPUs

int allocate(void** pointer, size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const int error = permit_unsafe(); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::allocate, std::uint64_t{bytes});
  if (!reply.ok()) return reply.error;
  const auto address = reply.reader().get<std::uint64_t>();
  *pointer = reinterpret_cast<void*>(address);
  if (address != 0) remember_device_block({address, bytes, "cudaMalloc"});
  return cudaSuccess;
}

int allocate_pinned(void** pointer, size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (const int error = permit_unsafe(); error != 0) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return cudaErrorMemoryAllocation;
  remember_pinned_block({address_of(block), bytes, "cudaMallocHost"});
  *pointer = block;
  return cudaSuccess;
}

/// Of pinned memory: ours, not the program's own that it registered.
bool is_allocation(const KnownBlock& block) { return block.api[0] == 'c'; }

int free_pinned(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  if (const int error = permit_unsafe(); error != 0) return error;
  const auto block = find_pinned_block(address_of(pointer));
  if (!block || block->base != address_of(pointer) || !is_allocation(*block)) {
    return cudaErrorInvalidValue;
  }
  forget_pinned_block(block->base);
  munmap(pointer, block->bytes);
  return cudaSuccess;
}

int allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return cudaErrorInvalidValue;
  if (width > SIZE_MAX - kPitchAlignment) return cudaErrorMemoryAllocation;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (height != 0 && *pitch > SIZE_MAX / height) return cudaErrorMemoryAllocation;
  return allocate(pointer, *pitch * height);
}

/// A graph here has no nodes that allocate or free.
int permit_pool(const char* function, cudaStream_t stream) {
  const int error = permit_stream(stream);
  if (error == cudaErrorStreamCaptureUnsupported) {
    refuse(function, "in a stream capture; allocate before it");
  }
  return error;
}

int allocate_from_pool(void** pointer, size_t bytes, cudaStream_t stream) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const int error = permit_pool("cudaMallocAsync", stream); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::pool_allocate, std::uint64_t{bytes},
                                             stream_number(stream));
  if (!reply.ok()) return reply.error;
  const auto address = reply.reader().get<std::uint64_t>();
  *pointer = reinterpret_cast<void*>(address);
  remember_device_block({address, bytes, "cudaMallocAsync"});
  return cudaSuccess;
}

/// The one pool there is.
cudaMemPool_t default_pool() {
  static char pool;
  return reinterpret_cast<cudaMemPool_t>(&pool);
}

int pointer_attributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = -1;
  attributes->hostPointer = const_cast<void*>(pointer);
  if (is_device_address(pointer)) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    attributes->hostPointer = nullptr;
  } else if (find_pinned_block(address_of(pointer))) {
    attributes->type = cudaMemoryTypeHost;
    attributes->device = 0;
  }
  return cudaSuccess;
}

}  // namespace

void forget_memory() {
  forget_device_blocks();
  for (const KnownBlock& block : forget_pinned_blocks()) {
    if (is_allocation(block)) munmap(reinterpret_cast<void*>(block.base), block.bytes);
  }
}

}  // namespace simgpu::runtime

using simgpu::runtime::address_of;
using simgpu::runtime::api;
using simgpu::runtime::Client;
using simgpu::runtime::GuestOperation;
using simgpu::runtime::per_thread;
using simgpu::runtime::record;
using simgpu::runtime::refuse;
using simgpu::runtime::Reply;
using simgpu::runtime::stream_number;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return api([&] { return simgpu::runtime::allocate(pointer, bytes); });
}

cudaError_t cudaFree(void* pointer) {
  return api([&] {
    if (const int error = simgpu::runtime::permit_unsafe(); error != 0) return error;
    const Reply reply = Client::instance().ask(GuestOperation::release, address_of(pointer));
    if (reply.ok()) simgpu::runtime::forget_device_block(address_of(pointer));
    return reply.error;
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return api([&] { return simgpu::runtime::allocate_pitched(pointer, pitch, width, height); });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return api([&] {
    if (pitched == nullptr || (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth)) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return simgpu::runtime::allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width,
                                             extent.height * extent.depth);
  });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocManaged(void** /*pointer*/, size_t /*bytes*/, unsigned /*flags*/) {
  return refuse("cudaMallocManaged", "use cudaMalloc and cudaMemcpy");
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return api([&] { return simgpu::runtime::allocate_pinned(pointer, bytes); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if ((flags & cudaHostAllocMapped) != 0) return refuse("cudaHostAlloc", "cudaHostAllocMapped");
  return cudaMallocHost(pointer, bytes);
}

cudaError_t cudaFreeHost(void* pointer) {
  return api([&] { return simgpu::runtime::free_pinned(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned /*flags*/) {
  return api([&] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    if (simgpu::runtime::find_pinned_block(address_of(pointer))) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    simgpu::runtime::remember_pinned_block({address_of(pointer), bytes, "registered"});
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api([&] {
    const auto block = simgpu::runtime::find_pinned_block(address_of(pointer));
    if (!block || block->base != address_of(pointer) || simgpu::runtime::is_allocation(*block)) {
      return cudaErrorHostMemoryNotRegistered;
    }
    simgpu::runtime::forget_pinned_block(block->base);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return api([&] {
    if (free_bytes == nullptr || total_bytes == nullptr) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    const Reply reply = Client::instance().ask(GuestOperation::memory_info);
    if (!reply.ok()) return reply.error;
    auto reader = reply.reader();
    *free_bytes = reader.get<std::uint64_t>();
    *total_bytes = reader.get<std::uint64_t>();
    return 0;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return api([&] { return simgpu::runtime::pointer_attributes(attributes, pointer); });
}

// The stream-ordered allocator.

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return api([&] { return simgpu::runtime::allocate_from_pool(pointer, bytes, stream); });
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, per_thread(stream));
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (pool != simgpu::runtime::default_pool()) return record(cudaErrorInvalidValue);
  return cudaMallocAsync(pointer, bytes, stream);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api([&] {
    if (const int error = simgpu::runtime::permit_pool("cudaFreeAsync", stream); error != 0) {
      return error;
    }
    const Reply reply = Client::instance().ask(GuestOperation::pool_release, address_of(pointer),
                                               stream_number(stream));
    if (reply.ok()) simgpu::runtime::forget_device_block(address_of(pointer));
    return reply.error;
  });
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, per_thread(stream));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return record(cudaErrorInvalidValue);
  if (device != 0) return record(cudaErrorInvalidDevice);
  *pool = simgpu::runtime::default_pool();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return api([&] {
    if (pool != simgpu::runtime::default_pool() || value == nullptr) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    if (attribute < cudaMemPoolAttrReleaseThreshold) {  // the reuse policies are ints, all allowed
      const int allowed = 1;
      std::memcpy(value, &allowed, sizeof allowed);
      return 0;
    }
    const Reply reply =
        Client::instance().ask(GuestOperation::pool_get, static_cast<std::uint32_t>(attribute));
    if (!reply.ok()) return reply.error;
    const auto bytes = reply.reader().get<std::uint64_t>();
    std::memcpy(value, &bytes, sizeof bytes);
    return 0;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return api([&] {
    if (pool != simgpu::runtime::default_pool() || value == nullptr) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    if (attribute < cudaMemPoolAttrReleaseThreshold) return 0;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, value, sizeof bytes);
    return Client::instance()
        .ask(GuestOperation::pool_set, static_cast<std::uint32_t>(attribute), bytes)
        .error;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  if (pool != simgpu::runtime::default_pool()) return record(cudaErrorInvalidValue);
  return simgpu::runtime::request(GuestOperation::pool_trim, std::uint64_t{keep});
}

}  // extern "C"
