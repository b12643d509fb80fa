#include <algorithm>
#include <cstdint>
#include <cstring>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/device_range.h"
#include "simgpu/runtime/shared_memory.h"

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
  if (address != 0) Context::get<DeviceBlocks>().add({address, bytes, "cudaMalloc"});
  return cudaSuccess;
}

int allocate_pinned(void** pointer, size_t bytes, protocol::SharedKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (!Client::instance().connected()) return cudaErrorNoDevice;
  if (const int error = permit_unsafe(); error != 0) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  return allocate_shared(kind, bytes, pointer);
}

int allocate_managed(void** pointer, size_t bytes, unsigned flags) {
  const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
  if (pointer == nullptr || !known) return cudaErrorInvalidValue;
  if (const int error = permit_unsafe(); error != 0) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  return allocate_shared(protocol::SharedKind::managed, bytes, pointer);
}

int release(void* pointer) {
  if (const int error = permit_unsafe(); error != 0) return error;
  if (Context::get<GraphMemoryTable>().mark_freed(address_of(pointer))) return cudaSuccess;
  const Reply reply = Client::instance().ask(GuestOperation::release, address_of(pointer));
  if (!reply.ok()) return reply.error;
  if (const auto block = Context::get<DeviceBlocks>().remove(address_of(pointer))) {
    if (block->mapped_bytes != 0) Context::get<ManagedAdvice>().forget(block->base, block->bytes);
    unmap_shared(block->base, block->mapped_bytes);
  }
  return cudaSuccess;
}

/// Of pinned memory: ours, not the program's own that it registered.
bool is_allocation(const KnownBlock& block) { return block.mapped_bytes != 0; }

int free_pinned(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  if (const int error = permit_unsafe(); error != 0) return error;
  const auto block = Context::get<PinnedBlocks>().find(address_of(pointer));
  if (!block || block->base != address_of(pointer) || !is_allocation(*block)) {
    Client::instance().ask(GuestOperation::misuse,
                           protocol::Misuse{.kind = protocol::MisuseKind::free_host,
                                            .destination = address_of(pointer)});
    return cudaErrorInvalidValue;
  }
  Context::get<PinnedBlocks>().remove(block->base);
  unmap_shared(block->base, block->mapped_bytes);
  return Client::instance().ask(GuestOperation::release_pinned, block->base).error;
}

int allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return cudaErrorInvalidValue;
  if (width > SIZE_MAX - kPitchAlignment) return cudaErrorInvalidValue;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (height != 0 && *pitch > SIZE_MAX / height) return cudaErrorMemoryAllocation;
  return allocate(pointer, *pitch * height);
}

int pointer_attributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  std::memset(attributes, 0, pointer_attributes_bytes());
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = cudaInvalidDeviceId;
  attributes->hostPointer = const_cast<void*>(pointer);
  if (is_device_memory(pointer)) {
    const bool managed = is_host_accessible(pointer);
    attributes->type = managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (!managed) attributes->hostPointer = nullptr;
  } else if (const auto block = Context::get<PinnedBlocks>().find(address_of(pointer))) {
    attributes->type = cudaMemoryTypeHost;
    attributes->device = 0;
    if (block->mapped_bytes != 0) attributes->devicePointer = const_cast<void*>(pointer);
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

using simgpu::runtime::address_of;
using simgpu::runtime::api;
using simgpu::runtime::Client;
using simgpu::runtime::Context;
using simgpu::runtime::GuestOperation;
using simgpu::runtime::PinnedBlocks;
using simgpu::runtime::record;
using simgpu::runtime::refuse;
using simgpu::runtime::Reply;
using HostCallKind = simgpu::protocol::HostCallKind;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return api([&] { return simgpu::runtime::allocate(pointer, bytes); });
}

cudaError_t cudaFree(void* pointer) {
  return api([&] { return simgpu::runtime::release(pointer); });
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

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return api([&] { return simgpu::runtime::allocate_managed(pointer, bytes, flags); });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  constexpr auto kKind = simgpu::protocol::SharedKind::malloc_host;
  return api([&] { return simgpu::runtime::allocate_pinned(pointer, bytes, kKind); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~kKnown) != 0) return record(cudaErrorInvalidValue);
  constexpr auto kKind = simgpu::protocol::SharedKind::host_alloc;
  return api([&] { return simgpu::runtime::allocate_pinned(pointer, bytes, kKind); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return api([&] { return simgpu::runtime::free_pinned(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned /*flags*/) {
  return api([&] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    if (Context::get<PinnedBlocks>().find(address_of(pointer))) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    Context::get<PinnedBlocks>().add({address_of(pointer), bytes, "registered"});
    simgpu::runtime::note_host_call({.kind = HostCallKind::register_memory, .bytes = bytes});
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return api([&] {
    const auto block = Context::get<PinnedBlocks>().find(address_of(pointer));
    if (!block || block->base != address_of(pointer) || simgpu::runtime::is_allocation(*block)) {
      return cudaErrorHostMemoryNotRegistered;
    }
    Context::get<PinnedBlocks>().remove(block->base);
    simgpu::runtime::note_host_call({.kind = HostCallKind::unregister_memory});
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

}  // extern "C"
