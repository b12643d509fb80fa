#include "simgpu/lower/builder.h"

namespace simgpu {

std::shared_ptr<const Program> lower(ptx::Module module, const SymbolTable& symbols) {
  auto program = std::make_shared<Program>();
  const CallGraph calls(module);
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    program->kernels.emplace(function.name,
                             KernelBuilder(module, calls, symbols, function).build());
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
