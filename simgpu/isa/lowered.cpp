#include "simgpu/isa/lowered.h"

namespace simgpu {

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
