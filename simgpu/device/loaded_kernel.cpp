#include "simgpu/device/loaded_kernel.h"

#include <algorithm>
#include <utility>

#include "simgpu/device/kernel_names.h"
#include "simgpu/device/spilled_instructions.h"

namespace simgpu {
namespace {

using machine_code::Assembled;

/// Places in the source that the module itself gives, one after the other, become unknown.
void forget_places(ptx::Module& module) {
  for (ptx::Function& function : module.functions) {
    for (ptx::SourceLocation& location : function.locations) location = {};
  }
}

/// Of what a kernel takes, all that may not be more than there is.
void settle_limits(LoadedKernel& kernel, unsigned most_registers, const gpu_spec::GpuSpec& gpu) {
  const auto of_gpu = static_cast<unsigned>(gpu.max_registers_per_thread);
  const unsigned most = most_registers == 0 ? of_gpu : std::min(most_registers, of_gpu);
  kernel.registers = std::clamp(kernel.registers, 1u, most);
  const auto limit = static_cast<unsigned>(gpu.shared_bytes_per_block);
  kernel.max_dynamic_shared_bytes = limit - std::min(limit, kernel.static_shared_bytes);
}

void estimate(LoadedKernel& kernel) {
  kernel.registers = kernel.info->register_estimate;
  kernel.static_shared_bytes = kernel.info->static_shared_bytes;
  kernel.local_bytes = kernel.info->local_bytes_per_thread;
}

void take_figures(LoadedKernel& kernel, const Assembled& assembled) {
  if (assembled.end == Assembled::End::refused) {
    kernel.refusal = "NVIDIA's assembler refuses the module's PTX: " + assembled.why;
  }
  const auto found = assembled.resources.find(kernel.name);
  if (found == assembled.resources.end()) return;
  kernel.is_estimated = false;
  kernel.registers = found->second.registers_per_thread;
  kernel.local_bytes = found->second.local_bytes_per_thread;
  kernel.static_shared_bytes =
      std::max(kernel.static_shared_bytes, found->second.static_shared_bytes);
  const auto spilled = assembled.spills.find(kernel.name);
  if (spilled == assembled.spills.end()) return;
  kernel.spills = spills_by_instruction(spilled->second, kernel.info->instructions);
  kernel.spilled_bytes =
      kernel.local_bytes - std::min(kernel.local_bytes, kernel.info->local_bytes_per_thread);
}

}  // namespace

LoadedKernel unread_kernel(const std::string& name, Naming naming) {
  LoadedKernel kernel;
  kernel.name = name;
  kernel.display_name = std::make_shared<const std::string>(
      naming == Naming::own ? kernel_display_name(name) : kMadeAtRunTime);
  return kernel;
}

std::vector<LoadedKernel> KernelReader::read(ptx::ModuleOfLines module, const SymbolTable& symbols,
                                             Naming naming) const {
  if (naming == Naming::none) forget_places(module.module);
  const std::shared_ptr<const Program> program = lower(module.module, symbols);
  Assembled assembled;
  if (assembler != nullptr) {
    const auto capability = static_cast<unsigned>(gpu.compute_capability());
    const std::string architecture = machine_code::architecture_of(module.text, capability);
    // What may not be named may not be remembered, either.
    assembled = assembler->assemble(module.text, architecture, naming == Naming::own);
  }
  const auto text = std::make_shared<const std::string>(std::move(module.text));
  std::vector<LoadedKernel> kernels;
  for (const std::string& name : kernel_names(*program)) {
    LoadedKernel& kernel = kernels.emplace_back(unread_kernel(name, naming));
    kernel.program = program;
    kernel.ptx = text;
    kernel.info = find_kernel(*program, name);
    estimate(kernel);
    take_figures(kernel, assembled);
    settle_limits(kernel, most_registers, gpu);
  }
  return kernels;
}

}  // namespace simgpu
