#include "simgpu/lower/lower.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "simgpu/lower/builder.h"

namespace simgpu {

std::shared_ptr<const Program> lower(const ptx::Module& module, const SymbolTable& symbols,
                                     const InstructionSet& instructions) {
  constexpr std::size_t kMostInstructions = 2'000'000;
  constexpr std::size_t kMostKernels = 65'536;  // each takes some kilobytes, however short it is
  auto program = std::make_shared<Program>();
  const SourceFiles files(module.files);
  const CallGraph calls(module);
  std::size_t lowered = 0;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    if (program->kernels.size() == kMostKernels) {
      throw std::runtime_error("the module has more than 65,536 kernels");
    }
    KernelBuilder builder(instructions, module, files, calls, symbols, function,
                          kMostInstructions - std::min(kMostInstructions, lowered));
    LoweredKernel kernel = builder.build();
    if (function.cluster_blocks > 1) {
      kernel.info.unsupported.push_back("clusters of " + std::to_string(function.cluster_blocks) +
                                        " blocks (__cluster_dims__)");
    }
    lowered += builder.is_too_large() ? kMostInstructions : kernel.code.size();
    program->kernels.emplace(function.name, std::move(kernel));
  }
  return program;
}

std::vector<std::string> functions_with_address(const ptx::Module& module) {
  std::vector<std::string> names;
  const CallGraph calls(module);
  for (const ptx::Function* function : calls.with_address()) {
    names.push_back(function->name);
  }
  return names;
}

}  // namespace simgpu
