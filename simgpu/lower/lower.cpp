#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "simgpu/lower/builder.h"

namespace simgpu {

std::shared_ptr<const Program> lower(const ptx::Module& module, const SymbolTable& symbols) {
  constexpr std::size_t kMostInstructions = 2'000'000;
  constexpr std::size_t kMostKernels = 65'536;  // each takes some kilobytes, however short it is
  auto program = std::make_shared<Program>();
  const SourceFiles files(module.files);
  const CallGraph calls(module);
  std::size_t instructions = 0;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    if (program->kernels.size() == kMostKernels) {
      throw std::runtime_error("the module has more than 65,536 kernels");
    }
    KernelBuilder builder(module, files, calls, symbols, function,
                          kMostInstructions - std::min(kMostInstructions, instructions));
    LoweredKernel kernel = builder.build();
    if (function.cluster_blocks > 1) {
      kernel.info.unsupported.push_back("clusters of " + std::to_string(function.cluster_blocks) +
                                        " blocks (__cluster_dims__)");
    }
    instructions += builder.is_too_large() ? kMostInstructions : kernel.code.size();
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

const KernelInfo* find_kernel(const Program& program, const std::string& name) {
  const auto found = program.kernels.find(name);
  return found == program.kernels.end() ? nullptr : &found->second.info;
}

std::vector<std::string> kernel_names(const Program& program) {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : program.kernels) names.push_back(name);
  return names;
}

}  // namespace simgpu
