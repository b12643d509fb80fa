#include "simgpu/runtime/registry.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "simgpu/device/cuda_error.h"
#include "simgpu/runtime/client.h"

namespace simgpu::runtime {
namespace {

/// What __cudaRegisterFatBinary is given; the layout that nvcc emits.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;
  const void* file_name;
};
constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint32_t kContainerMagic = 0xBA55ED50;

/// Container header: u32 magic, u16 version, u16 header bytes, u64 payload bytes.
std::uint64_t container_bytes(const std::byte* container) {
  std::uint32_t magic = 0;
  std::uint16_t header = 0;
  std::uint64_t payload = 0;
  std::memcpy(&magic, container, sizeof magic);
  std::memcpy(&header, container + 6, sizeof header);
  std::memcpy(&payload, container + 8, sizeof payload);
  if (magic != kContainerMagic || payload > protocol::kMaxImageBytes) return 0;
  return header + payload;
}

}  // namespace

Registry& Registry::instance() {
  static Registry& registry = *new Registry;  // NOLINT(cppcoreguidelines-owning-memory)
  return registry;
}

Binary* Registry::add_binary(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  auto binary = std::make_unique<Binary>();
  Wrapper contents{};
  std::memcpy(&contents, wrapper, sizeof contents);
  if (contents.magic == kWrapperMagic) binary->container = contents.data;
  binaries_.push_back(std::move(binary));
  return binaries_.back().get();
}

void Registry::remove_binary(Binary* binary) {
  const std::lock_guard lock(mutex_);
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(kernels_, [&](const auto& entry) {
    if (entry.second->binary != binary) return false;
    handles_.erase(entry.second.get());
    return true;
  });
  if (binary->loaded && binary->error == 0) {
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

Kernel* Registry::kernel(const void* function) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(function); found != kernels_.end())
    return found->second.get();
  if (handles_.contains(function)) return const_cast<Kernel*>(static_cast<const Kernel*>(function));
  return nullptr;
}

int Registry::load(Binary& binary) {
  if (binary.loaded) return binary.error;
  const std::uint64_t bytes = binary.container == nullptr ? 0 : container_bytes(binary.container);
  if (bytes == 0) return static_cast<int>(CudaError::invalid_kernel_image);
  Client& client = Client::instance();
  Reply reply = client.ask(GuestOperation::module_begin, bytes);
  for (std::uint64_t sent = 0; reply.ok() && sent < bytes;) {
    const auto count = std::min<std::uint64_t>(bytes - sent, protocol::kChunkBytes);
    reply = client.call(GuestOperation::module_data, {}, {binary.container + sent, count});
    sent += count;
  }
  if (reply.ok()) {
    reply = client.call(GuestOperation::module_end, {});
    if (reply.ok()) binary.module = reply.reader().get<std::uint64_t>();
  }
  binary.loaded = true;
  binary.error = reply.error;
  return binary.error;
}

int Registry::resolve(Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  if (kernel.resolved) return 0;
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
  kernel.resolved = true;
  return 0;
}

int Registry::resolve(const void* host_variable, Variable** variable) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host_variable);
  if (found == variables_.end()) return static_cast<int>(CudaError::invalid_symbol);
  Variable& known = *found->second;
  *variable = &known;
  if (known.resolved) return 0;
  if (const int error = load(*known.binary); error != 0) return error;
  wire::Writer writer;
  writer.put(known.binary->module);
  writer.put_string(known.name);
  const Reply reply = Client::instance().call(GuestOperation::symbol_info, writer.bytes());
  if (!reply.ok()) return reply.error;
  wire::Reader reader = reply.reader();
  known.address = reader.get<std::uint64_t>();
  known.bytes = reader.get<std::uint64_t>();
  known.resolved = true;
  return 0;
}

void Registry::forget_loaded() {
  const std::lock_guard lock(mutex_);
  for (const auto& binary : binaries_) binary->loaded = false;
  for (const auto& [function, kernel] : kernels_) kernel->resolved = false;
  for (const auto& [host, variable] : variables_) variable->resolved = false;
}

}  // namespace simgpu::runtime
