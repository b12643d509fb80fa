#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/protocol.h"
#include "simgpu/exec/engine.h"
#include "simgpu/fatbin/fatbin.h"
#include "simgpu/machine_code/pending_code.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/model/spilling.h"
#include "specs/gpu_spec.h"

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

/// A kernel and what it takes: estimated from its PTX until its module is settled.
struct LoadedKernel {
  const KernelInfo* info = nullptr;  ///< owned by the module's program
  /// Demangled, without parameters; shared with records that outlive the module.
  std::shared_ptr<const std::string> display_name;
  bool is_estimated = true;  ///< false: its figures are ptxas's
  unsigned registers = 0;
  unsigned static_shared_bytes = 0;
  unsigned local_bytes = 0;
  std::vector<InstructionSpills> spills;  ///< of each instruction; empty: there are none
  unsigned spilled_bytes = 0;             ///< of local_bytes, those that hold spilled registers
  unsigned max_dynamic_shared_bytes = 0;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize
};

/// What a module may take.
struct ModuleLimits {
  std::uint64_t image_bytes = 0;   ///< its images, unpacked
  std::uint64_t memory_bytes = 0;  ///< device memory, with what is allocated already
  std::size_t managed_variables = 64;
  protocol::ImageOrigin origin = protocol::ImageOrigin::program;
};

struct LoadedModule {
  std::shared_ptr<const Program> program;
  std::vector<LoadedKernel> kernels;
  std::map<std::string, PlacedSymbol> symbols;
  unsigned target = 0;            ///< 80 for PTX of sm_80
  std::uint64_t image_bytes = 0;  ///< of its images, unpacked
  protocol::ImageOrigin origin = protocol::ImageOrigin::program;
  /// Under way until the module is settled; null when nobody makes any.
  std::shared_ptr<const machine_code::PendingCode> code;
  std::string refusal;  ///< why no GPU would load it; empty when one would, or nobody knows

  /// Waits for the machine code and takes the kernels' figures from it. To be called before these
  /// are used.
  void settle(const gpu_spec::GpuSpec& gpu);
  std::size_t managed_variables() const;
  /// Index into `kernels` by mangled name, or -1.
  int kernel_index(const std::string& mangled) const;
};

/// What the kernels of a module that must not be named are called.
inline constexpr const char* kMadeAtRunTime = "a kernel made at run time";

/// Whether messages may name what a module names: kernels, files, lines, variables.
enum class Naming : std::uint8_t { own, none };

/// Loads the newest PTX of the container that the GPU can run and places its variables in `memory`.
/// Machine code beside it is not looked at: it need not be that of the PTX.
/// @param container untrusted bytes: a fat binary, or the text of one PTX module
/// @param assembler makes the machine code of just this PTX, beside other work; nullptr: nobody
/// does, and the kernels' figures stay estimates
/// @throws ModuleError saying what to do
LoadedModule load_module(std::span<const std::byte> container, const gpu_spec::GpuSpec& gpu,
                         const ModuleLimits& limits, DeviceMemory& memory,
                         Naming naming = Naming::own,
                         const machine_code::Assembler* assembler = nullptr);

/// Frees the module's variables.
void unload_module(const LoadedModule& module, DeviceMemory& memory);

/// `gemm_tiled` for "_Z10gemm_tiledPKfS0_Pfiii": demangled, without return type and parameters.
/// Names that are not mangled come back as they are, and so do mangled ones that could stand for
/// far more text than they have; of more than 1000 characters the rest is left out.
std::string kernel_display_name(const std::string& mangled);

/// The functions that a finding's places were inlined from come mangled, and are named so too.
void name_calls(Finding& finding);

}  // namespace simgpu
