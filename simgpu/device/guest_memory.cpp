#include <fcntl.h>
#include <fmt/format.h>

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

CudaError GuestSession::memory_operation(Operation operation, wire::Reader& reader,
                                         wire::Writer& writer) {
  switch (operation) {
    case Operation::memory_info:
      writer.put(device_.free_bytes());
      writer.put(static_cast<std::uint64_t>(device_.gpu().dram_bytes));
      return CudaError::success;
    case Operation::allocate:
    case Operation::allocate_array: {
      std::uint64_t address = 0;
      const auto bytes = reader.get<std::uint64_t>();
      const bool array = operation == Operation::allocate_array;
      const CudaError error =
          array ? device_.allocate_array(bytes, &address) : device_.allocate(bytes, &address);
      writer.put(address);
      return error;
    }
    case Operation::image_create: {
      std::uint64_t handle = 0;
      device_.timeline().spend(ApiCost::kTexture);
      const CudaError error = device_.create_image(reader.get<Image>(), &handle);
      writer.put(handle);
      return error;
    }
    case Operation::image_destroy:
      return device_.memory().images().remove(reader.get<std::uint64_t>())
                 ? CudaError::success
                 : CudaError::invalid_value;
    case Operation::release:
      return device_.release(reader.get<std::uint64_t>());
    case Operation::release_pinned:
      return device_.release_pinned(reader.get<std::uint64_t>());
    case Operation::allocate_shared:
      return allocate_shared(reader, writer);
    case Operation::share_variable:
      return share_variable(reader, writer);
    case Operation::reset:
      device_.release_guest();
      transfer_ = {};
      graph_run_.reset();
      image_ = {};
      image_bytes_ = 0;
      return CudaError::success;
    case Operation::host_dereference: {
      const auto address = reader.get<std::uint64_t>();
      const Allocation* near = device_.memory().nearest(address);
      const bool inside =
          near != nullptr && address >= near->base && address - near->base < near->bytes;
      device_.report(
          {.code = "RL0207",
           .message = fmt::format(
               "host code dereferenced device pointer {:#x}{}; copy it with "
               "cudaMemcpy first",
               address,
               inside ? fmt::format(" (allocation of {} bytes, {})", near->bytes, near->label)
                      : std::string())});
      return CudaError::success;
    }
    case Operation::device_synchronize:
      device_.timeline().spend(ApiCost::kSynchronize);
      device_.synchronize(device_.timeline().all_done());
      device_.host_waited_for_all();
      return device_.fault();
    case Operation::get_stack_limit:
      writer.put(std::uint64_t{device_.stack_bytes()});
      return CudaError::success;
    case Operation::set_stack_limit:
      return device_.set_stack_bytes(reader.get<std::uint64_t>());
    case Operation::get_heap_limit:
      writer.put(device_.heap_bytes());
      return CudaError::success;
    case Operation::set_heap_limit:
      return device_.set_heap_bytes(reader.get<std::uint64_t>());
    case Operation::misuse:
      device_.report_misuse(reader.get<protocol::Misuse>());
      return CudaError::success;
    case Operation::refused: {
      const auto refusal = reader.get<protocol::Refusal>();
      device_.report_refused(reader.get_string(protocol::kMaxFunctionName), refusal.in_part != 0);
      return CudaError::success;
    }
    case Operation::launch_unasked:
      device_.note_unasked_launch(static_cast<CudaError>(reader.get<std::uint32_t>()));
      return CudaError::success;
    case Operation::error_asked:
      device_.note_asked();
      return CudaError::success;
    case Operation::host_call:
      device_.spend_on(reader.get<protocol::HostCall>());
      return CudaError::success;
    case Operation::take_output: {
      const std::string text = device_.take_output();
      writer.append(std::as_bytes(std::span(text)));
      return CudaError::success;
    }
    default:
      throw wire::MessageError("unknown operation");
  }
}

CudaError GuestSession::allocate_shared(wire::Reader& reader, wire::Writer& writer) {
  const auto bytes = reader.get<std::uint64_t>();
  const auto kind = reader.get<protocol::SharedKind>();
  const bool pinned = kind != protocol::SharedKind::managed;
  SharedBlock block;
  const CudaError error =
      device_.allocate_shared(bytes, pinned ? Sharing::pinned : Sharing::managed, &block);
  writer.put(protocol::SharedMemory{block.address, block.mapped_bytes});
  shared_ = std::move(block.memory);
  return error;
}

CudaError GuestSession::share_variable(wire::Reader& reader, wire::Writer& writer) {
  const LoadedModule* module = device_.module(reader.get<std::uint64_t>());
  const std::string name = reader.get_string(protocol::kMaxName);
  if (module == nullptr) return CudaError::invalid_symbol;
  const auto found = module->symbols.find(name);
  if (found == module->symbols.end() || found->second.shared == nullptr) {
    return CudaError::invalid_symbol;
  }
  const SharedBlock& block = *found->second.shared;
  shared_ = Descriptor(fcntl(block.memory.get(), F_DUPFD_CLOEXEC, 0));
  writer.put(protocol::SharedMemory{block.address, block.mapped_bytes});
  return shared_ ? CudaError::success : CudaError::memory_allocation;
}

CudaError GuestSession::pool_operation(Operation operation, wire::Reader& reader,
                                       wire::Writer& writer) {
  switch (operation) {
    case Operation::pool_create: {
      std::uint64_t number = 0;
      const CudaError error = device_.create_pool(&number);
      writer.put(number);
      return error;
    }
    case Operation::pool_destroy:
      return device_.destroy_pool(reader.get<std::uint64_t>());
    case Operation::pool_allocate: {
      const auto bytes = reader.get<std::uint64_t>();
      const auto pool = reader.get<std::uint64_t>();
      const auto stream = reader.get<std::uint64_t>();
      if (!device_.timeline().has_stream(stream)) return CudaError::invalid_resource_handle;
      std::uint64_t address = 0;
      const CudaError error = device_.allocate_from_pool(bytes, pool, &address);
      writer.put(address);
      return error;
    }
    case Operation::pool_release: {
      const auto address = reader.get<std::uint64_t>();
      return device_.release_on(address, reader.get<std::uint64_t>());
    }
    default:
      return pool_figures(operation, reader, writer);
  }
}

CudaError GuestSession::pool_figures(Operation operation, wire::Reader& reader,
                                     wire::Writer& writer) {
  MemoryPool* pool = device_.pool(reader.get<std::uint64_t>());
  if (operation == Operation::pool_trim) {
    const auto keep = reader.get<std::uint64_t>();
    if (pool == nullptr) return CudaError::invalid_value;
    pool->trim(keep);
    return CudaError::success;
  }
  const auto attribute = reader.get<protocol::PoolAttribute>();
  if (operation == Operation::pool_set) {
    const auto value = reader.get<std::uint64_t>();
    return pool != nullptr && set(*pool, attribute, value) ? CudaError::success
                                                           : CudaError::invalid_value;
  }
  const auto value = pool == nullptr ? std::nullopt : figure(*pool, attribute);
  if (!value) return CudaError::invalid_value;
  writer.put(*value);
  return CudaError::success;
}

}  // namespace simgpu
