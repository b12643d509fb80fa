#include <algorithm>
#include <set>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/builder.h"
#include "simgpu/memory/device_memory.h"

/// Where a kernel's variables live: shared arrays, local variables, parameters.
namespace simgpu {

std::uint32_t KernelBuilder::place_in(std::uint32_t& next, std::uint64_t bytes,
                                      unsigned alignment) const {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28;
  const std::uint64_t align = std::max(1U, alignment);
  const std::uint64_t at = (next + align - 1) / align * align;
  if (at + bytes > kMost) throw Unsupported("variables of more than 256 MiB");
  next = static_cast<std::uint32_t>(at + bytes);
  return static_cast<std::uint32_t>(at);
}

void KernelBuilder::add_shared(FunctionInstance* instance, const ptx::Variable& variable) {
  const bool dynamic = variable.linkage == ptx::Variable::Linkage::external;
  if (dynamic) return;
  const std::uint32_t at = place_in(shared_next_, variable.size(), variable.alignment);
  kernel_.info.shared_arrays.push_back(
      {variable.name, at, static_cast<std::uint32_t>(variable.size())});
  const auto array = static_cast<std::uint32_t>(kernel_.info.shared_arrays.size());
  const VariableHome home{ptx::Space::shared, at, variable.size(), false, false, array};
  (instance != nullptr ? instance->variables : module_variables_)[variable.name] = home;
}

void KernelBuilder::lay_out_kernel() {
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space == ptx::Space::shared) continue;
    const auto placed = symbols_.find(variable.name);
    if (placed != symbols_.end()) {
      module_variables_[variable.name] = {variable.space, placed->second, variable.size(), false};
    }
  }
  std::uint32_t next = 0;
  for (const ptx::Variable& parameter : function_.parameters) {
    const std::uint32_t at = place_in(next, parameter.size(), parameter.alignment);
    kernel_.info.parameter_offsets.push_back(at);
    kernel_.info.parameter_sizes.push_back(static_cast<std::uint32_t>(parameter.size()));
  }
  kernel_.info.parameter_bytes = next;
}

/// A variable of a thread's own, in the kernel's memory or in the frame of an out-of-line function.
void KernelBuilder::declare(FunctionInstance& instance, const ptx::Variable& variable,
                            ptx::Space space, std::uint32_t& next, unsigned alignment) {
  const bool in_frame = body_ != kKernel;
  const std::uint32_t base = !in_frame ? 0 : space == ptx::Space::local ? local_base_ : frame_base_;
  const std::uint32_t at = place_in(next, variable.size(), alignment);
  instance.variables[variable.name] = {space, std::uint64_t{base} + at, variable.size(), false,
                                       in_frame};
}

void KernelBuilder::declare_variables(FunctionInstance& instance) {
  for (const ptx::Variable& variable : instance.function->variables) {
    switch (variable.space) {
      case ptx::Space::shared: {
        // A device function's static shared array is one array, however often it is inlined.
        const std::string key = instance.function->name + "/" + variable.name;
        if (const auto known = module_variables_.find(key); known != module_variables_.end()) {
          instance.variables[variable.name] = known->second;
          break;
        }
        add_shared(&instance, variable);
        if (const auto own = instance.variables.find(variable.name);
            own != instance.variables.end()) {
          module_variables_[key] = own->second;
        }
        break;
      }
      case ptx::Space::local:
        declare(instance, variable, ptx::Space::local, local_next_, variable.alignment);
        break;
      case ptx::Space::param:
        declare(instance, variable, ptx::Space::param, frame_next_,
                std::max(8U, variable.alignment));
        break;
      default:
        break;
    }
  }
}

namespace {

void collect_symbols(const ptx::Function& function, std::set<std::string>& names) {
  for (const ptx::Instruction& instruction : function.body) {
    for (const ptx::Operand& operand : instruction.operands) {
      for (const ptx::Scalar& scalar : operand.elements) {
        if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) names.insert(symbol->name);
      }
    }
  }
}

}  // namespace

/// Module-scope shared arrays: those this kernel or any device function names.
void KernelBuilder::place_module_shared() {
  const bool any = std::any_of(
      module_.variables.begin(), module_.variables.end(),
      [](const ptx::Variable& variable) { return variable.space == ptx::Space::shared; });
  if (!any) return;
  std::set<std::string> used;
  collect_symbols(function_, used);
  for (const ptx::Function& other : module_.functions) {
    if (!other.is_entry) collect_symbols(other, used);
  }
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space == ptx::Space::shared && used.contains(variable.name)) {
      add_shared(nullptr, variable);
    }
  }
}

std::uint64_t KernelBuilder::window_of(const VariableHome& home) const {
  if (home.space == ptx::Space::param) refuse("the generic address of a parameter");
  return home.space == ptx::Space::shared  ? kSharedWindow
         : home.space == ptx::Space::local ? kLocalWindow
                                           : 0;
}

Ref KernelBuilder::low_half(Ref pair) {
  const Ref low = new_register(SlotKind::word);
  Pending& pending = emit_hidden(primitives().saturate);
  pending.a = pair;
  pending.option = 1;
  pending.dst = low;
  return low;
}

Ref KernelBuilder::element_address(const ptx::Operand& operand) {
  const auto& array = std::get<ptx::Symbol>(operand.elements.at(0));
  const Ref base = symbol_value(array, 8);
  const Ref index = source(operand.elements.at(1), 'i');
  const Ref more = constant(static_cast<std::uint64_t>(operand.offset), 4);
  const Ref bytes = constant(operand.scale, 4);
  const Ref element = new_register(SlotKind::pair);
  Pending& pending = emit_hidden(primitives().element_address);
  pending.a = base;
  pending.b = index;
  pending.c = more;
  pending.d = bytes;
  pending.dst = element;
  const auto home = find_variable(array.name);
  const bool narrow =
      home && (home->space == ptx::Space::shared || home->space == ptx::Space::local ||
               home->space == ptx::Space::param);
  return narrow ? widen_address(low_half(element), 32) : element;
}

}  // namespace simgpu
