#include "simgpu/runtime/registry.h"

#include <algorithm>
#include <span>

#include "simgpu/device/cuda_error.h"
#include "simgpu/runtime/client.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/image.h"
#include "simgpu/runtime/shared_memory.h"

namespace simgpu::runtime {
namespace {

/// Whether what was found out in that life of the device still holds.
bool is_current(std::uint64_t life) { return life == Context::life(); }

bool is_on_device(const Binary& binary) { return is_current(binary.life) && binary.error == 0; }

}  // namespace

Registry& Registry::instance() {
  static Registry& registry = *new Registry;  // NOLINT(cppcoreguidelines-owning-memory)
  return registry;
}

Binary* Registry::add_binary(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  auto binary = std::make_unique<Binary>();
  binary->container = container_of(wrapper);
  if (is_device_linked(wrapper)) binary->origin = protocol::ImageOrigin::device_linked;
  binaries_.push_back(std::move(binary));
  return binaries_.back().get();
}

void Registry::remove_binary(Binary* binary) {
  const std::lock_guard lock(mutex_);
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(managed_, [&](const auto& variable) { return variable.binary == binary; });
  std::erase_if(kernels_, [&](const auto& entry) {
    if (entry.second->binary != binary) return false;
    handles_.erase(entry.second.get());
    return true;
  });
  if (is_on_device(*binary)) {
    Client::instance().ask(GuestOperation::module_unload, binary->module);
  }
  std::erase_if(binaries_, [&](const auto& entry) { return entry.get() == binary; });
}

void Registry::add_kernel(Binary* binary, const void* host_function, const char* name) {
  const std::lock_guard lock(mutex_);
  auto kernel = std::make_unique<Kernel>();
  kernel->binary = binary;
  kernel->name = name;
  handles_.insert(kernel.get());
  kernels_[host_function] = std::move(kernel);
}

void Registry::add_variable(Binary* binary, const void* host_variable, const char* name) {
  const std::lock_guard lock(mutex_);
  auto variable = std::make_unique<Variable>();
  variable->binary = binary;
  variable->name = name;
  variables_[host_variable] = std::move(variable);
}

void Registry::add_managed(Binary* binary, void** host_pointer, const char* name) {
  const std::lock_guard lock(mutex_);
  managed_.push_back({binary, name, host_pointer});
  add_variable(binary, host_pointer, name);
}

int Registry::initialise(Binary& binary) {
  const std::lock_guard lock(mutex_);
  return load(binary);
}

Kernel* Registry::kernel(const void* function) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(function); found != kernels_.end())
    return found->second.get();
  if (handles_.contains(function)) return const_cast<Kernel*>(static_cast<const Kernel*>(function));
  return nullptr;
}

int Registry::load(Binary& binary) {
  // As it is before anything is sent: a reset in between takes that.
  const std::uint64_t life = Context::life();
  if (binary.life == life) return binary.error;
  binary.life = life;
  binary.error = send(binary);
  if (binary.error == 0) binary.error = map_managed(binary);
  return binary.error;
}

int Registry::map_managed(const Binary& binary) {
  for (const ManagedVariable& variable : managed_) {
    if (variable.binary != &binary) continue;
    const int error = map_variable(binary.module, variable.name, variable.host_pointer);
    if (error != 0) return error;
  }
  return 0;
}

int Registry::send(Binary& binary) {
  std::span<const std::byte> image = binary.image;
  if (binary.container != nullptr) image = image_at(binary.container);
  const std::uint64_t bytes = image.size();
  if (bytes == 0) return static_cast<int>(CudaError::invalid_kernel_image);
  Client& client = Client::instance();
  const std::lock_guard transfer(client.transfers());
  Reply reply = client.ask(GuestOperation::module_begin, bytes, binary.origin);
  for (std::uint64_t sent = 0; reply.ok() && sent < bytes;) {
    const auto count = std::min<std::uint64_t>(bytes - sent, protocol::kChunkBytes);
    reply = client.call(GuestOperation::module_data, {}, image.subspan(sent, count));
    sent += count;
  }
  if (reply.ok()) {
    reply = client.call(GuestOperation::module_end, {});
    if (reply.ok()) binary.module = reply.reader().get<std::uint64_t>();
  }
  return reply.error;
}

int Registry::resolve(Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (is_current(kernel.life)) return 0;
  if (const int error = load(*kernel.binary); error != 0) return error;
  wire::Writer writer;
  writer.put(kernel.binary->module);
  writer.put_string(kernel.name);
  const Reply reply = Client::instance().call(GuestOperation::kernel_info, writer.bytes());
  if (!reply.ok()) return reply.error;
  wire::Reader reader = reply.reader();
  kernel.index = reader.get<std::uint64_t>();
  kernel.attributes = reader.get<protocol::KernelAttributes>();
  kernel.parameters.resize(reader.get<std::uint32_t>());
  for (Kernel::Parameter& parameter : kernel.parameters) {
    parameter.offset = reader.get<std::uint32_t>();
    parameter.bytes = reader.get<std::uint32_t>();
  }
  if (kernel.shared_limit) {
    const int error = Client::instance()
                          .ask(GuestOperation::set_shared_limit, kernel.binary->module,
                               kernel.index, *kernel.shared_limit)
                          .error;
    if (error != 0) return error;
    kernel.attributes.max_dynamic_shared_bytes = *kernel.shared_limit;
  }
  kernel.life = kernel.binary->life;
  return 0;
}

int Registry::resolve(const void* function, Kernel** kernel) {
  if (!Client::instance().connected()) return static_cast<int>(CudaError::no_device);
  *kernel = this->kernel(function);
  if (*kernel != nullptr) return resolve(**kernel);
  return static_cast<int>(function == nullptr ? CudaError::invalid_device_function
                                              : CudaError::invalid_resource_handle);
}

int Registry::resolve(const void* host_variable, Variable** variable) {
  const std::lock_guard lock(mutex_);
  auto found = variables_.find(host_variable);
  if (found == variables_.end()) {
    // Of a managed variable the program may know no address but the one that it really has.
    const auto managed = std::ranges::find_if(
        managed_, [&](const auto& candidate) { return *candidate.host_pointer == host_variable; });
    if (host_variable == nullptr || managed == managed_.end()) {
      return static_cast<int>(CudaError::invalid_symbol);
    }
    found = variables_.find(managed->host_pointer);
  }
  *variable = found->second.get();
  return locate(**variable);
}

int Registry::locate(Variable& variable) {
  if (is_current(variable.life)) return 0;
  if (const int error = load(*variable.binary); error != 0) return error;
  wire::Writer writer;
  writer.put(variable.binary->module);
  writer.put_string(variable.name);
  const Reply reply = Client::instance().call(GuestOperation::symbol_info, writer.bytes());
  if (!reply.ok()) return reply.error;
  wire::Reader reader = reply.reader();
  variable.address = reader.get<std::uint64_t>();
  variable.bytes = reader.get<std::uint64_t>();
  variable.life = variable.binary->life;
  return 0;
}

int Registry::load_library(std::span<const std::byte> image, Binary** library) {
  const std::lock_guard lock(mutex_);
  auto binary = std::make_unique<Binary>();
  binary->origin = protocol::ImageOrigin::loaded_library;
  binary->image.assign(image.begin(), image.end());
  if (const int error = load(*binary); error != 0) return error;
  *library = binary.get();
  libraries_[binary.get()] = std::move(binary);
  return 0;
}

int Registry::unload_library(const Binary* library) {
  const std::lock_guard lock(mutex_);
  const auto found = libraries_.find(library);
  if (found == libraries_.end()) return static_cast<int>(CudaError::invalid_resource_handle);
  std::erase_if(library_kernels_, [&](const auto& entry) {
    if (entry.first.first != library) return false;
    handles_.erase(entry.second.get());
    return true;
  });
  const Binary& binary = *found->second;
  const int error = is_on_device(binary)
                        ? Client::instance().ask(GuestOperation::module_unload, binary.module).error
                        : 0;
  libraries_.erase(found);
  return error;
}

int Registry::loaded_library(const Binary* handle, Binary** library) {
  const auto found = libraries_.find(handle);
  if (found == libraries_.end()) return static_cast<int>(CudaError::invalid_resource_handle);
  *library = found->second.get();
  return load(**library);
}

int Registry::library_kernel(const Binary* library, const std::string& name, Kernel** kernel) {
  const std::lock_guard lock(mutex_);
  Binary* binary = nullptr;
  if (const int error = loaded_library(library, &binary); error != 0) return error;
  std::unique_ptr<Kernel>& known = library_kernels_[{library, name}];
  if (known == nullptr) {
    known = std::make_unique<Kernel>();
    known->binary = binary;
    known->name = name;
  }
  if (int error = resolve(*known); error != 0) {
    library_kernels_.erase({library, name});
    const bool unknown = error == static_cast<int>(CudaError::invalid_device_function);
    return unknown ? static_cast<int>(CudaError::symbol_not_found) : error;
  }
  handles_.insert(known.get());
  *kernel = known.get();
  return 0;
}

int Registry::library_variable(const Binary* library, const std::string& name, Variable* variable) {
  const std::lock_guard lock(mutex_);
  Binary* binary = nullptr;
  if (const int error = loaded_library(library, &binary); error != 0) return error;
  *variable = {.binary = binary, .name = name};
  const int error = locate(*variable);
  const bool unknown = error == static_cast<int>(CudaError::invalid_symbol);
  return unknown ? static_cast<int>(CudaError::symbol_not_found) : error;
}

int Registry::library_kernel_count(const Binary* library, std::uint32_t* count) {
  const std::lock_guard lock(mutex_);
  Binary* binary = nullptr;
  if (const int error = loaded_library(library, &binary); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::kernel_count, binary->module);
  if (reply.ok()) *count = reply.reader().get<std::uint32_t>();
  return reply.error;
}

int Registry::library_kernel_name(const Binary* library, std::uint32_t index, std::string* name) {
  const std::lock_guard lock(mutex_);
  Binary* binary = nullptr;
  if (const int error = loaded_library(library, &binary); error != 0) return error;
  const Reply reply = Client::instance().ask(GuestOperation::kernel_name, binary->module, index);
  if (reply.ok()) *name = reply.reader().get_string(protocol::kMaxName);
  return reply.error;
}

}  // namespace simgpu::runtime
