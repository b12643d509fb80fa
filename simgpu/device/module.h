#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/loaded_kernel.h"
#include "simgpu/device/protocol.h"
#include "simgpu/exec/engine.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/ptx/kernel_texts.h"

namespace simgpu {

/// A fat binary that cannot run here: the runtime's error, and why in words.
class ModuleError : public std::runtime_error {
 public:
  ModuleError(CudaError error, const std::string& message)
      : std::runtime_error(message), error_(error) {}
  CudaError error() const { return error_; }

 private:
  CudaError error_;
};

/// A module-scope variable in device memory.
struct PlacedSymbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<const SharedBlock> shared;  ///< of a __managed__ variable
};

/// What a module may take.
struct ModuleLimits {
  std::uint64_t image_bytes = 0;   ///< its images, unpacked
  std::uint64_t memory_bytes = 0;  ///< device memory, with what is allocated already
  std::size_t managed_variables = 64;
  protocol::ImageOrigin origin = protocol::ImageOrigin::program;
  Naming naming = Naming::own;
};

struct LoadedModule {
  std::vector<LoadedKernel> kernels;
  std::map<std::string, PlacedSymbol> symbols;
  unsigned target = 0;            ///< 80 for PTX of sm_80
  std::uint64_t image_bytes = 0;  ///< of its images, unpacked
  protocol::ImageOrigin origin = protocol::ImageOrigin::program;
  Naming naming = Naming::own;
  /// Of `kernels`, by index, which are read when they are first used; nothing: all are read.
  std::optional<ptx::KernelTexts> texts;

  std::size_t managed_variables() const;
  /// Where device code finds the variables.
  SymbolTable addresses() const;
  /// Index into `kernels` by mangled name, or -1.
  int kernel_index(const std::string& mangled) const;
};

/// Loads the newest PTX of the container that the GPU can run and places its variables in `memory`.
/// Machine code beside it is not looked at: it need not be that of the PTX. Kernels that nvcc made
/// are left for read_kernel(), until they are used; what a program makes while it runs is read
/// at once, so that its errors are those of loading it.
/// @param container untrusted bytes: a fat binary, or the text of one PTX module
/// @throws ModuleError saying what to do
LoadedModule load_module(std::span<const std::byte> container, const KernelReader& reader,
                         const ModuleLimits& limits, DeviceMemory& memory);

/// Makes sure that the kernel of this index is read.
/// @throws ModuleError when it means nothing
void read_kernel(LoadedModule& module, std::size_t kernel, const KernelReader& reader);

/// Frees the module's variables.
void unload_module(const LoadedModule& module, DeviceMemory& memory);

}  // namespace simgpu
