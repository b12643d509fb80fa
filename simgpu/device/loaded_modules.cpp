#include "simgpu/device/loaded_modules.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "simgpu/device/kernel_names.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostModules = 4096;
/// Each keeps a descriptor open, and a process may have 1024 of them.
constexpr std::size_t kMostManagedVariables = 256;
/// As much as constant memory has, and more.
constexpr std::uint64_t kMostAssigned = std::uint64_t{1} << 20;
constexpr std::size_t kMostBuiltCode = std::size_t{256} << 20;

}  // namespace

CudaError LoadedModules::load(std::span<const std::byte> container, std::uint64_t* handle,
                              protocol::ImageOrigin origin) {
  *handle = 0;
  std::uint64_t image_bytes = 0;
  std::size_t managed = 0;
  for (const auto& [other, loaded] : modules_) {
    image_bytes += loaded.image_bytes;
    managed += loaded.managed_variables();
  }
  if (modules_.size() >= kMostModules) return CudaError::memory_allocation;
  const bool built = is_built(container);
  if (!built) log_.count_given(container.size());
  const ModuleLimits limits{
      .image_bytes = protocol::kMaxImageBytes - image_bytes,
      .memory_bytes = options_.memory_limit,
      .managed_variables = kMostManagedVariables - managed,
      .origin = origin,
      .naming = built || !names_only_built_code_ ? Naming::own : Naming::none};
  try {
    LoadedModule loaded = load_module(container, reader_, limits, memory_);
    if (keeps_variables_) kept_variables_.keep(loaded, memory_);
    write_assigned(loaded);
    *handle = next_handle_++;
    modules_.emplace(*handle, std::move(loaded));
    return CudaError::success;
  } catch (const ModuleError& error) {
    log_.add(Finding{.code = "RL0312", .message = error.what()});
    return error.error();
  }
}

CudaError LoadedModules::unload(std::uint64_t handle) {
  const auto found = modules_.find(handle);
  if (found == modules_.end()) return CudaError::invalid_resource_handle;
  unload_module(found->second, memory_);
  modules_.erase(found);
  return CudaError::success;
}

void LoadedModules::unload_all() {
  for (const auto& [handle, loaded] : modules_) unload_module(loaded, memory_);
  modules_.clear();
  kept_variables_.forget_all();
}

LoadedModule* LoadedModules::find(std::uint64_t handle) {
  const auto found = modules_.find(handle);
  return found == modules_.end() ? nullptr : &found->second;
}

LoadedKernel* LoadedModules::find_kernel(std::uint64_t handle, std::uint64_t index) {
  LoadedModule* const module = find(handle);
  if (module == nullptr || index >= module->kernels.size()) return nullptr;
  try {
    read_kernel(*module, index, reader_);
    return &module->kernels[index];
  } catch (const ModuleError& error) {
    log_.add(Finding{
        .code = "RL0312", .kernel = *module->kernels[index].display_name, .message = error.what()});
    return nullptr;
  }
}

std::size_t LoadedModules::libraries() const {
  return static_cast<std::size_t>(std::ranges::count_if(modules_, [](const auto& entry) {
    return entry.second.origin == protocol::ImageOrigin::loaded_library;
  }));
}

void LoadedModules::add_built_code(std::span<const std::byte> bytes) {
  if (built_code_.size() + bytes.size() > kMostBuiltCode) {
    throw std::runtime_error("the built library is too large");
  }
  built_code_.insert(built_code_.end(), bytes.begin(), bytes.end());
}

bool LoadedModules::is_built(std::span<const std::byte> container) const {
  return built_code_.empty() || memmem(built_code_.data(), built_code_.size(), container.data(),
                                       container.size()) != nullptr;
}

void LoadedModules::keep_variables() {
  keeps_variables_ = true;
  for (const auto& [handle, loaded] : modules_) kept_variables_.keep(loaded, memory_);
}

void LoadedModules::assign(std::vector<VariableContent> contents) {
  assigned_ = std::move(contents);
  for (const auto& [handle, loaded] : modules_) write_assigned(loaded);
}

void LoadedModules::write_assigned(const LoadedModule& module) {
  for (const auto& [name, symbol] : module.symbols) {
    for (const VariableContent& content : assigned_) {
      const bool is_meant = symbol.bytes >= content.bytes.size() && symbol.bytes <= kMostAssigned &&
                            name.find(content.name) != std::string::npos;
      if (!is_meant) continue;
      memory_.fill(symbol.address, 0, symbol.bytes);
      memory_.write(symbol.address, content.bytes);
    }
  }
}

std::string LoadedModules::shown_name(const std::string& mangled) const {
  if (!names_only_built_code_) return kernel_display_name(mangled);
  for (const auto& [handle, loaded] : modules_) {
    const int index = loaded.kernel_index(mangled);
    if (index >= 0) return *loaded.kernels[static_cast<std::size_t>(index)].display_name;
  }
  return kMadeAtRunTime;
}

}  // namespace simgpu
