#include "simgpu/device/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "simgpu/device/spilled_instructions.h"
#include "simgpu/names/demangle.h"
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

/// What a program may load: a fat binary as nvcc embeds it, or the text of one PTX module, as NVRTC
/// gives it. The text's architecture is in the text.
std::vector<FatImage> images_of(std::span<const std::byte> bytes, std::uint64_t most_bytes) {
  constexpr std::string_view kContainer("\x50\xED\x55\xBA", 4);
  constexpr std::string_view kElf(
      "\x7F"
      "ELF",
      4);
  if (starts_with(bytes, kContainer)) return fatbin::read(bytes, most_bytes);
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

/// Of what a kernel takes, all that may not be more than there is.
void settle_limits(LoadedKernel& kernel, const gpu_spec::GpuSpec& gpu) {
  kernel.registers =
      std::clamp(kernel.registers, 1u, static_cast<unsigned>(gpu.max_registers_per_thread));
  const auto limit = static_cast<unsigned>(gpu.shared_bytes_per_block);
  kernel.max_dynamic_shared_bytes = limit - std::min(limit, kernel.static_shared_bytes);
}

/// As estimated from the PTX.
LoadedKernel describe_kernel(const Program& program, const std::string& name,
                             const gpu_spec::GpuSpec& gpu, Naming naming) {
  LoadedKernel kernel;
  kernel.info = find_kernel(program, name);
  kernel.display_name = std::make_shared<const std::string>(
      naming == Naming::own ? kernel_display_name(name) : kMadeAtRunTime);
  kernel.registers = kernel.info->register_estimate;
  kernel.static_shared_bytes = kernel.info->static_shared_bytes;
  kernel.local_bytes = kernel.info->local_bytes_per_thread;
  settle_limits(kernel, gpu);
  return kernel;
}

/// Places in the source that the module itself gives, one after the other, become unknown.
void forget_places(ptx::Module& module) {
  for (ptx::Function& function : module.functions) {
    for (ptx::SourceLocation& location : function.locations) location = {};
  }
}

}  // namespace

int LoadedModule::kernel_index(const std::string& mangled) const {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].info->name == mangled) return static_cast<int>(i);
  }
  return -1;
}

void LoadedModule::settle(const gpu_spec::GpuSpec& gpu) {
  if (code == nullptr) return;
  const std::shared_ptr<const machine_code::PendingCode> pending = std::move(code);
  const machine_code::Assembled& assembled = pending->wait();
  if (assembled.end == machine_code::Assembled::End::refused) {
    refusal = "NVIDIA's assembler refuses the module's PTX: " + assembled.why;
  }
  for (LoadedKernel& kernel : kernels) {
    const auto found = assembled.resources.find(kernel.info->name);
    if (found == assembled.resources.end()) continue;
    kernel.is_estimated = false;
    kernel.registers = found->second.registers_per_thread;
    kernel.local_bytes = found->second.local_bytes_per_thread;
    if (const auto spilled = assembled.spills.find(kernel.info->name);
        spilled != assembled.spills.end()) {
      kernel.spills = spills_by_instruction(spilled->second, kernel.info->instructions);
      kernel.spilled_bytes =
          kernel.local_bytes - std::min(kernel.local_bytes, kernel.info->local_bytes_per_thread);
    }
    kernel.static_shared_bytes =
        std::max(kernel.static_shared_bytes, found->second.static_shared_bytes);
    settle_limits(kernel, gpu);
  }
}

std::size_t LoadedModule::managed_variables() const {
  return static_cast<std::size_t>(
      std::count_if(symbols.begin(), symbols.end(),
                    [](const auto& entry) { return entry.second.shared != nullptr; }));
}

LoadedModule load_module(std::span<const std::byte> container, const gpu_spec::GpuSpec& gpu,
                         const ModuleLimits& limits, DeviceMemory& memory, Naming naming,
                         const machine_code::Assembler* assembler) {
  const auto capability =
      static_cast<unsigned>(gpu.compute_capability_major * 10 + gpu.compute_capability_minor);
  LoadedModule loaded;
  loaded.origin = limits.origin;
  try {
    const std::vector<FatImage> images = images_of(container, limits.image_bytes);
    for (const FatImage& image : images) loaded.image_bytes += image.payload.size();
    const FatImage* image = fatbin::newest_ptx(images, capability);
    if (image == nullptr && limits.origin == protocol::ImageOrigin::device_linked) {
      throw ModuleError(
          CudaError::no_kernel_image_for_device,
          "the program was device-linked (nvcc -rdc=true or -dc), which leaves machine code alone, "
          "and the simulated GPU needs PTX: build without -rdc=true, with the device functions "
          "that "
          "a kernel calls in its own file or in a header");
    }
    if (image == nullptr) {
      throw ModuleError(
          CudaError::no_kernel_image_for_device,
          fmt::format(
              "the program holds {}, and the simulated {} needs PTX of compute_{} or older; "
              "build with -gencode arch=compute_{},code=[sm_{},compute_{}]",
              describe(images), gpu.name, capability, capability, capability, capability));
    }
    // As ptxas gets it, so that both mean the same instruction by a line.
    auto [module, text] = ptx::parse_one_a_line(
        {reinterpret_cast<const char*>(image->payload.data()), image->payload.size()});
    if (assembler != nullptr) {
      // What may not be named may not be remembered, either.
      std::string architecture = machine_code::architecture_of(text, capability);
      loaded.code = std::make_shared<const machine_code::PendingCode>(
          *assembler, std::move(text), std::move(architecture), naming != Naming::none);
    }
    if (naming == Naming::none) forget_places(module);
    loaded.target = image->architecture != 0 ? image->architecture : architecture_of(module.target);
    if (loaded.target > capability) {
      throw ModuleError(CudaError::invalid_ptx,
                        fmt::format("the PTX is for {}, and the simulated {} is of compute_{}; "
                                    "compile it with --gpu-architecture=compute_{}",
                                    module.target, gpu.name, capability, capability));
    }
    place_variables(module, limits, memory, loaded.symbols);
    SymbolTable addresses;
    for (const auto& [name, symbol] : loaded.symbols) addresses[name] = symbol.address;
    loaded.program = lower(module, addresses);
    for (const std::string& name : kernel_names(*loaded.program)) {
      loaded.kernels.push_back(describe_kernel(*loaded.program, name, gpu, naming));
    }
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

void unload_module(const LoadedModule& module, DeviceMemory& memory) {
  for (const auto& [name, symbol] : module.symbols) memory.release(symbol.address);
}

namespace {

/// Each launch is recorded under its kernel's name.
std::string clipped(std::string name) {
  constexpr std::size_t kLongestShown = 1000;
  if (name.size() <= kLongestShown) return name;
  name.resize(kLongestShown - 3);
  return name + "...";
}

}  // namespace

std::string kernel_display_name(const std::string& mangled) {
  std::string name = demangled(mangled);
  if (name == mangled) return clipped(mangled);

  // Drop the parameter list: the last parenthesis that opens outside of template arguments.
  int angle = 0;
  std::size_t last_open = std::string::npos;
  std::size_t name_start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++angle;
    if (name[i] == '>') --angle;
    if (angle != 0) continue;
    if (name.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
      continue;
    }
    if (name[i] == ' ' && last_open == std::string::npos) name_start = i + 1;
    if (name[i] == '(' && last_open == std::string::npos) last_open = i;
  }
  if (last_open != std::string::npos) name.resize(last_open);
  name.erase(0, std::min(name_start, name.size()));
  // nvcc puts what has internal linkage into a namespace of its own: _INTERNAL_<hash>_<file>.
  if (name.starts_with("_INTERNAL_") && name.find("::") != std::string::npos) {
    name.erase(0, name.find("::") + 2);
  }
  return clipped(std::move(name));
}

void name_calls(Finding& finding) {
  const auto name_in = [](AccessSite& site) {
    for (InlinedCall& call : site.inlined_at) call.function = kernel_display_name(call.function);
  };
  name_in(finding.where);
  if (finding.other) name_in(*finding.other);
}

}  // namespace simgpu
