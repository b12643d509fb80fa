#include <fcntl.h>

#include <optional>
#include <string>
#include <utility>

#include "simgpu/device/guest_session.h"

/// What a guest may ask about memory.
namespace simgpu {
namespace {

std::optional<std::uint64_t> figure(const MemoryPool& pool, protocol::PoolAttribute attribute) {
  switch (attribute) {
    case protocol::PoolAttribute::release_threshold:
      return pool.release_threshold;
    case protocol::PoolAttribute::reserved_current:
      return pool.reserved();
    case protocol::PoolAttribute::reserved_high:
      return pool.reserved_high();
    case protocol::PoolAttribute::used_current:
      return pool.used();
    case protocol::PoolAttribute::used_high:
      return pool.used_high();
    default:
      return std::nullopt;
  }
}

/// False for what cannot be set, or not to this value: a high-water mark goes back to now alone.
bool set(MemoryPool& pool, protocol::PoolAttribute attribute, std::uint64_t value) {
  if (attribute == protocol::PoolAttribute::release_threshold) {
    pool.release_threshold = value;
  } else if (attribute == protocol::PoolAttribute::reserved_high && value == 0) {
    pool.reset_reserved_high();
  } else if (attribute == protocol::PoolAttribute::used_high && value == 0) {
    pool.reset_used_high();
  } else {
    return false;
  }
  return true;
}

}  // namespace

CudaError GuestSession::memory_info(Call& call) {
  call.answer.put(device_.allocations().free_bytes());
  call.answer.put(static_cast<std::uint64_t>(device_.gpu().dram_bytes));
  return CudaError::success;
}

CudaError GuestSession::allocate(Call& call) {
  std::uint64_t address = 0;
  const CudaError error =
      device_.allocations().allocate(call.request.get<std::uint64_t>(), &address);
  call.answer.put(address);
  return error;
}

CudaError GuestSession::allocate_array(Call& call) {
  std::uint64_t address = 0;
  const CudaError error =
      device_.allocations().allocate_array(call.request.get<std::uint64_t>(), &address);
  call.answer.put(address);
  return error;
}

CudaError GuestSession::image_create(Call& call) {
  device_.timeline().spend(ApiCost::kTexture + ApiCost::kEvent);
  const auto image = call.request.get<Image>();
  device_.log().count_given(sizeof(Image));  // kernels see its border, its sizes and modes
  DeviceMemory& memory = device_.memory();
  const bool is_there = is_valid(image) && memory.find(image.address, image.bytes()) != nullptr;
  const std::uint64_t handle = is_there ? memory.images().add(image) : 0;
  call.answer.put(handle);
  if (!is_there) return CudaError::invalid_value;
  return handle == 0 ? CudaError::memory_allocation : CudaError::success;
}

CudaError GuestSession::image_destroy(Call& call) {
  return device_.memory().images().remove(call.request.get<std::uint64_t>())
             ? CudaError::success
             : CudaError::invalid_value;
}

CudaError GuestSession::get_stack_limit(Call& call) {
  call.answer.put(std::uint64_t{device_.launches().stack_bytes()});
  return CudaError::success;
}

CudaError GuestSession::get_heap_limit(Call& call) {
  call.answer.put(device_.launches().heap().bytes());
  return CudaError::success;
}

CudaError GuestSession::allocate_shared(Call& call) {
  const auto bytes = call.request.get<std::uint64_t>();
  const auto kind = call.request.get<protocol::SharedKind>();
  const bool pinned = kind != protocol::SharedKind::managed;
  SharedBlock block;
  const CudaError error = device_.allocations().allocate_shared(
      bytes, pinned ? Sharing::pinned : Sharing::managed, &block);
  call.answer.put(protocol::SharedMemory{block.address, block.mapped_bytes});
  call.memory = std::move(block.memory);
  return error;
}

CudaError GuestSession::share_variable(Call& call) {
  const LoadedModule* module = device_.modules().find(call.request.get<std::uint64_t>());
  const std::string name = call.request.get_string(protocol::kMaxName);
  if (module == nullptr) return CudaError::invalid_symbol;
  const auto found = module->symbols.find(name);
  if (found == module->symbols.end() || found->second.shared == nullptr) {
    return CudaError::invalid_symbol;
  }
  const SharedBlock& block = *found->second.shared;
  call.memory = Descriptor(fcntl(block.memory.get(), F_DUPFD_CLOEXEC, 0));
  call.answer.put(protocol::SharedMemory{block.address, block.mapped_bytes});
  return call.memory ? CudaError::success : CudaError::memory_allocation;
}

CudaError GuestSession::pool_create(Call& call) {
  std::uint64_t number = 0;
  const CudaError error = device_.pools().create(&number);
  call.answer.put(number);
  return error;
}

CudaError GuestSession::pool_allocate(Call& call) {
  const auto bytes = call.request.get<std::uint64_t>();
  const auto pool = call.request.get<std::uint64_t>();
  const auto stream = call.request.get<std::uint64_t>();
  if (!device_.timeline().has_stream(stream)) return CudaError::invalid_resource_handle;
  std::uint64_t address = 0;
  const CudaError error = device_.allocations().allocate_from_pool(bytes, pool, &address);
  call.answer.put(address);
  return error;
}

CudaError GuestSession::pool_get(Call& call) {
  const MemoryPool* pool = device_.pools().find(call.request.get<std::uint64_t>());
  const auto attribute = call.request.get<protocol::PoolAttribute>();
  const auto value = pool == nullptr ? std::nullopt : figure(*pool, attribute);
  if (!value) return CudaError::invalid_value;
  call.answer.put(*value);
  return CudaError::success;
}

CudaError GuestSession::pool_set(Call& call) {
  MemoryPool* pool = device_.pools().find(call.request.get<std::uint64_t>());
  const auto attribute = call.request.get<protocol::PoolAttribute>();
  const auto value = call.request.get<std::uint64_t>();
  return pool != nullptr && set(*pool, attribute, value) ? CudaError::success
                                                         : CudaError::invalid_value;
}

CudaError GuestSession::pool_trim(Call& call) {
  MemoryPool* pool = device_.pools().find(call.request.get<std::uint64_t>());
  const auto keep = call.request.get<std::uint64_t>();
  if (pool == nullptr) return CudaError::invalid_value;
  pool->trim(keep);
  return CudaError::success;
}

}  // namespace simgpu
