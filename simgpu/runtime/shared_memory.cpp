#include "simgpu/runtime/shared_memory.h"

#include <driver_types.h>
#include <sys/mman.h>

#include <utility>

#include "simgpu/runtime/client.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/device_range.h"

namespace simgpu::runtime {
namespace {

/// Maps what the reply describes, where it lies in the device's addresses. @returns a cudaError_t
int map_shared(const Reply& reply, protocol::SharedMemory* memory) {
  *memory = reply.reader().get<protocol::SharedMemory>();
  if (!reply.descriptor) return cudaErrorMemoryAllocation;
  void* const at = reinterpret_cast<void*>(memory->address);
  // Where the range could not be reserved, something of the program may lie there.
  const int fixed = device_range_is_reserved() ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  const void* mapped = mmap(at, memory->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | fixed,
                            reply.descriptor.get(), 0);
  return mapped == at ? cudaSuccess : cudaErrorMemoryAllocation;
}

}  // namespace

int allocate_shared(protocol::SharedKind kind, std::size_t bytes, void** pointer) {
  Client& client = Client::instance();
  const Reply reply = client.ask(GuestOperation::allocate_shared, std::uint64_t{bytes}, kind);
  if (!reply.ok()) return reply.error;
  const bool pinned = kind != protocol::SharedKind::managed;
  protocol::SharedMemory memory;
  if (const int error = map_shared(reply, &memory); error != 0) {
    client.ask(pinned ? GuestOperation::release_pinned : GuestOperation::release, memory.address);
    return error;
  }
  if (pinned) {
    Context::get<PinnedBlocks>().add(
        {memory.address, bytes, "cudaMallocHost", memory.mapped_bytes});
  } else {
    Context::get<DeviceBlocks>().add(
        {memory.address, bytes, "cudaMallocManaged", memory.mapped_bytes});
  }
  *pointer = reinterpret_cast<void*>(memory.address);
  return cudaSuccess;
}

int map_variable(std::uint64_t module, const std::string& name, void** pointer) {
  wire::Writer request;
  request.put(module);
  request.put_string(name);
  const Reply reply = Client::instance().call(GuestOperation::share_variable, request.bytes());
  if (!reply.ok()) return reply.error;
  protocol::SharedMemory memory;
  if (const int error = map_shared(reply, &memory); error != 0) return error;
  Context::get<DeviceBlocks>().add(
      {memory.address, memory.mapped_bytes, "__managed__", memory.mapped_bytes});
  *pointer = reinterpret_cast<void*>(memory.address);
  return cudaSuccess;
}

void unmap_shared(std::uint64_t address, std::uint64_t mapped_bytes) {
  if (mapped_bytes == 0) return;
  void* const at = reinterpret_cast<void*>(address);
  if (!device_range_is_reserved()) {
    munmap(at, mapped_bytes);
    return;
  }
  void* const reserved = mmap(at, mapped_bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (reserved == MAP_FAILED) munmap(at, mapped_bytes);
}

}  // namespace simgpu::runtime
