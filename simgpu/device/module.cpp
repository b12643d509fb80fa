#include "simgpu/device/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "simgpu/device/kernel_names.h"
#include "simgpu/fatbin/fatbin.h"
#include "simgpu/ptx/one_a_line.h"
#include "simgpu/ptx/parser.h"

namespace simgpu {
namespace {

using FatImage = fatbin::Image;

std::string describe(const std::vector<FatImage>& images) {
  std::string text;
  for (const FatImage& image : images) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                        image.kind == FatImage::Kind::ptx ? "compute_" : "sm_", image.architecture);
  }
  return text.empty() ? "nothing" : text;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() &&
         std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

/// A fat binary, as nvcc embeds it.
bool is_container(std::span<const std::byte> bytes) {
  return starts_with(bytes, std::string_view("\x50\xED\x55\xBA", 4));
}

/// What a program may load: a fat binary as nvcc embeds it, or the text of one PTX module, as NVRTC
/// gives it. The text's architecture is in the text.
std::vector<FatImage> images_of(std::span<const std::byte> bytes, std::uint64_t most_bytes) {
  constexpr std::string_view kElf(
      "\x7F"
      "ELF",
      4);
  if (is_container(bytes)) return fatbin::read(bytes, most_bytes);
  if (starts_with(bytes, kElf)) {
    throw ModuleError(CudaError::no_kernel_image_for_device,
                      "machine code alone cannot be simulated; load PTX (nvcc -ptx, or "
                      "nvrtcGetPTX of a program compiled for compute_80 rather than sm_80)");
  }
  if (bytes.size() > most_bytes) {
    throw ModuleError(CudaError::memory_allocation, "the PTX is larger than a module may be");
  }
  const auto* end = std::find(bytes.data(), bytes.data() + bytes.size(), std::byte{0});
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::size_t>(end - bytes.data()));
  if (text.find(".version") == std::string_view::npos) {
    throw ModuleError(CudaError::invalid_kernel_image,
                      "what was to be loaded is neither a fat binary nor PTX");
  }
  return {FatImage{.kind = FatImage::Kind::ptx, .architecture = 0, .payload = {bytes.data(), end}}};
}

/// 80 for "sm_80", 90 for "sm_90a".
unsigned architecture_of(const std::string& target) {
  const std::size_t digits = target.find('_') + 1;  // 0 without one
  unsigned architecture = 0;
  std::from_chars(target.data() + digits, target.data() + target.size(), architecture);
  return architecture;
}

bool is_placed(const ptx::Variable& variable) {
  const bool global =
      variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
  return global && variable.linkage != ptx::Variable::Linkage::external;
}

/// The bytes that the text gives; what follows them is zero.
std::vector<std::byte> initial_contents(const ptx::Variable& variable, const SymbolTable& symbols) {
  const auto given = std::as_bytes(std::span(variable.initial_bytes));
  std::vector<std::byte> bytes(given.begin(), given.end());
  bytes.resize(std::min<std::uint64_t>(bytes.size(), variable.size()));
  for (const ptx::Relocation& relocation : variable.relocations) {
    const auto target = symbols.find(relocation.symbol);
    if (target == symbols.end()) {
      throw ModuleError(CudaError::invalid_ptx,
                        fmt::format("the initialiser of {} names {}, which is no variable and no "
                                    "function of this module",
                                    variable.name, relocation.symbol));
    }
    const std::uint64_t value = target->second + static_cast<std::uint64_t>(relocation.addend);
    const std::size_t width = std::min<std::size_t>(relocation.width, sizeof value);
    if (relocation.byte_offset > bytes.size() || bytes.size() - relocation.byte_offset < width) {
      throw ModuleError(CudaError::invalid_ptx,
                        fmt::format("the initialiser of {} is longer than it is", variable.name));
    }
    std::memcpy(bytes.data() + relocation.byte_offset, &value, width);
  }
  return bytes;
}

/// A variable as its source spells it, without the namespaces that nvcc puts around it.
std::string plain_name(const std::string& mangled) {
  const std::string name = kernel_display_name(mangled);
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

PlacedSymbol place_variable(const ptx::Variable& variable, const ModuleLimits& limits,
                            DeviceMemory& memory) {
  const std::uint64_t bytes = std::max<std::uint64_t>(variable.size(), 1);
  const std::uint64_t most = limits.memory_bytes;
  const bool sensible = bytes <= most - std::min(most, memory.allocated());
  if (variable.managed) {
    const bool room = sensible && limits.managed_variables > 0;
    if (auto block =
            room ? memory.allocate_shared(bytes, plain_name(variable.name), Sharing::managed)
                 : std::nullopt) {
      const std::uint64_t address = block->address;
      return {.address = address,
              .bytes = bytes,
              .shared = std::make_shared<const SharedBlock>(std::move(*block))};
    }
  } else {
    const bool read_only = variable.space == ptx::Space::constant;
    const auto address =
        sensible ? memory.allocate(bytes, plain_name(variable.name), read_only) : std::nullopt;
    if (address) return {.address = *address, .bytes = bytes, .shared = nullptr};
  }
  throw ModuleError(CudaError::memory_allocation,
                    fmt::format("no room for the {} variable {}, {} bytes",
                                variable.managed ? "managed" : "device", variable.name, bytes));
}

void place_variables(const ptx::Module& module, ModuleLimits limits, DeviceMemory& memory,
                     std::map<std::string, PlacedSymbol>& placed) {
  SymbolTable addresses;
  // An address of its own for each function that may be called through one; nothing is stored
  // there.
  for (const std::string& function : functions_with_address(module)) {
    constexpr std::uint64_t kBytes = 16;
    const auto address = memory.allocate(kBytes, "function " + function);
    if (!address)
      throw ModuleError(CudaError::memory_allocation, "no room for the device functions");
    placed[function] = {.address = *address, .bytes = kBytes, .shared = nullptr};
    addresses[function] = *address;
  }
  for (const ptx::Variable& variable : module.variables) {
    if (!is_placed(variable) || placed.contains(variable.name)) continue;
    const PlacedSymbol symbol = place_variable(variable, limits, memory);
    if (symbol.shared != nullptr) --limits.managed_variables;
    placed[variable.name] = symbol;
    addresses[variable.name] = symbol.address;
  }
  for (const ptx::Variable& variable : module.variables) {
    if (!is_placed(variable)) continue;
    const PlacedSymbol& symbol = placed.at(variable.name);
    memory.fill(symbol.address, 0, symbol.bytes);
    if (variable.initial_bytes.empty() && variable.relocations.empty()) continue;
    memory.write(symbol.address, initial_contents(variable, addresses));
  }
}

}  // namespace

int LoadedModule::kernel_index(const std::string& mangled) const {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].name == mangled) return static_cast<int>(i);
  }
  return -1;
}

std::size_t LoadedModule::managed_variables() const {
  return static_cast<std::size_t>(
      std::count_if(symbols.begin(), symbols.end(),
                    [](const auto& entry) { return entry.second.shared != nullptr; }));
}

SymbolTable LoadedModule::addresses() const {
  SymbolTable table;
  for (const auto& [name, symbol] : symbols) table[name] = symbol.address;
  return table;
}

namespace {

/// The newest PTX that the GPU can run.
const FatImage& choose(const std::vector<FatImage>& images, protocol::ImageOrigin origin,
                       const gpu_spec::GpuSpec& gpu) {
  const auto capability = static_cast<unsigned>(gpu.compute_capability());
  const FatImage* const image = fatbin::newest_ptx(images, capability);
  if (image != nullptr) return *image;
  if (origin == protocol::ImageOrigin::device_linked) {
    throw ModuleError(
        CudaError::no_kernel_image_for_device,
        "the program was device-linked (nvcc -rdc=true or -dc), which leaves machine code alone, "
        "and the simulated GPU needs PTX: build without -rdc=true, with the device functions that "
        "a kernel calls in its own file or in a header");
  }
  throw ModuleError(
      CudaError::no_kernel_image_for_device,
      fmt::format("the program holds {}, and the simulated {} needs PTX of compute_{} or older; "
                  "build with -gencode arch=compute_{},code=[sm_{},compute_{}]",
                  describe(images), gpu.name, capability, capability, capability, capability));
}

/// Makes the module of its PTX.
void take(std::string_view text, bool is_made_by_nvcc, const KernelReader& reader,
          const ModuleLimits& limits, DeviceMemory& memory, LoadedModule& loaded) {
  if (is_made_by_nvcc) loaded.texts = ptx::KernelTexts::of(text);
  // As ptxas gets it, so that both mean the same instruction by a line.
  ptx::ModuleOfLines read =
      ptx::parse_one_a_line(loaded.texts ? loaded.texts->without_kernels() : text);
  const ptx::Module& module = read.module;
  if (loaded.target == 0) loaded.target = architecture_of(module.target);
  const auto capability = static_cast<unsigned>(reader.gpu.compute_capability());
  if (loaded.target > capability) {
    throw ModuleError(CudaError::invalid_ptx,
                      fmt::format("the PTX is for {}, and the simulated {} is of compute_{}; "
                                  "compile it with --gpu-architecture=compute_{}",
                                  module.target, reader.gpu.name, capability, capability));
  }
  place_variables(module, limits, memory, loaded.symbols);
  if (!loaded.texts) {
    loaded.kernels = reader.read(std::move(read), loaded.addresses(), limits.naming);
    return;
  }
  for (std::size_t i = 0; i < loaded.texts->size(); ++i) {
    loaded.kernels.push_back(unread_kernel(loaded.texts->name(i), limits.naming));
  }
}

}  // namespace

LoadedModule load_module(std::span<const std::byte> container, const KernelReader& reader,
                         const ModuleLimits& limits, DeviceMemory& memory) {
  LoadedModule loaded;
  loaded.origin = limits.origin;
  loaded.naming = limits.naming;
  try {
    const std::vector<FatImage> images = images_of(container, limits.image_bytes);
    for (const FatImage& image : images) loaded.image_bytes += image.payload.size();
    const FatImage& image = choose(images, limits.origin, reader.gpu);
    loaded.target = image.architecture;
    take({reinterpret_cast<const char*>(image.payload.data()), image.payload.size()},
         is_container(container), reader, limits, memory, loaded);
  } catch (const ModuleError&) {
    unload_module(loaded, memory);
    throw;
  } catch (const fatbin::TooLarge& error) {
    throw ModuleError(CudaError::memory_allocation, error.what());
  } catch (const fatbin::FatbinError& error) {
    throw ModuleError(CudaError::invalid_kernel_image, error.what());
  } catch (const std::bad_alloc&) {
    unload_module(loaded, memory);
    throw ModuleError(CudaError::memory_allocation, "the module does not fit in memory");
  } catch (const std::exception& error) {
    unload_module(loaded, memory);
    throw ModuleError(CudaError::invalid_ptx, error.what());
  }
  return loaded;
}

void read_kernel(LoadedModule& module, std::size_t kernel, const KernelReader& reader) {
  if (module.kernels.at(kernel).program != nullptr) return;
  try {
    std::vector<LoadedKernel> read =
        reader.read(ptx::parse_one_a_line(module.texts.value().with_only(kernel)),
                    module.addresses(), module.naming);
    module.kernels[kernel] = std::move(read.at(0));
  } catch (const std::bad_alloc&) {
    throw ModuleError(CudaError::memory_allocation, "the kernel does not fit in memory");
  } catch (const std::exception& error) {
    throw ModuleError(CudaError::invalid_ptx, error.what());
  }
}

void unload_module(const LoadedModule& module, DeviceMemory& memory) {
  for (const auto& [name, symbol] : module.symbols) memory.release(symbol.address);
}

}  // namespace simgpu
