#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/machine_code/assembler.h"
#include "simgpu/model/spilling.h"
#include "simgpu/ptx/one_a_line.h"
#include "simgpu/sass/control_flow.h"
#include "specs/gpu_spec.h"

namespace simgpu {

/// A kernel and what it takes: as estimated from its PTX, or as ptxas says.
struct LoadedKernel {
  std::string name;  ///< mangled
  /// Demangled, without parameters; shared with records that outlive the module.
  std::shared_ptr<const std::string> display_name;

  // What follows is known once the kernel is read.
  std::shared_ptr<const Program> program;  ///< null until then
  const KernelInfo* info = nullptr;        ///< owned by the program
  std::shared_ptr<const std::string> ptx;  ///< its module's, in which lines are counted
  std::string refusal;       ///< why no GPU would load it; empty when one would, or nobody knows
  bool is_estimated = true;  ///< false: its figures are ptxas's
  unsigned registers = 0;
  unsigned static_shared_bytes = 0;
  unsigned local_bytes = 0;
  std::vector<InstructionSpills> spills;  ///< of each instruction; empty: there are none
  unsigned spilled_bytes = 0;             ///< of local_bytes, those that hold spilled registers
  /// nullptr: it was not asked for, or there is none.
  std::shared_ptr<const sass::CutCode> machine_code;
  unsigned max_dynamic_shared_bytes = 0;  ///< cudaFuncAttributeMaxDynamicSharedMemorySize
};

/// Whether messages may name what a module names: kernels, files, lines, variables.
enum class Naming : std::uint8_t { own, none };

/// A kernel that is not read yet.
LoadedKernel unread_kernel(const std::string& name, Naming naming);

/// Makes kernels that can be launched of PTX.
struct KernelReader {
  const gpu_spec::GpuSpec& gpu;
  /// Makes the machine code of just this PTX. nullptr: nobody does, and figures stay estimates.
  const machine_code::Assembler* assembler = nullptr;
  unsigned most_registers = 0;      ///< DeviceOptions::most_registers
  bool reads_machine_code = false;  ///< for LoadedKernel::machine_code

  /// All kernels of the module, by name.
  /// @throws std::exception when they mean nothing
  std::vector<LoadedKernel> read(ptx::ModuleOfLines module, const SymbolTable& symbols,
                                 Naming naming) const;
};

}  // namespace simgpu
