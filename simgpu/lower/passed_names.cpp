#include "simgpu/lower/passed_names.h"

#include <variant>

#include "simgpu/isa/instruction_set.h"

namespace simgpu {
namespace {

/// As KernelBuilder::source has it.
char kind_to_pass(ptx::Type type) {
  if (type == ptx::Type::f32) return 'f';
  if (type == ptx::Type::f64) return 'd';
  return ptx::size_of(type) == 8 ? 'l' : 'i';
}

const ptx::Variable& formal_at(const KernelBuilder& builder,
                               const std::vector<ptx::Variable>* formals, std::size_t i) {
  const bool fits = formals != nullptr && i < formals->size() && (*formals)[i].dimensions.empty() &&
                    (*formals)[i].vector == 1;
  if (!fits) builder.refuse("a call with an argument that is no .param variable");
  return (*formals)[i];
}

}  // namespace

PassedNames::PassedNames(KernelBuilder& builder, const CallOperands& operands,
                         const ptx::Function* callee) {
  const auto* parameters = callee == nullptr ? nullptr : &callee->parameters;
  const auto* return_values = callee == nullptr ? nullptr : &callee->return_values;
  if (operands.arguments != nullptr) {
    for (const ptx::Scalar& scalar : operands.arguments->elements) {
      if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) {
        arguments_.push_back(symbol->name);
        continue;
      }
      const ptx::Variable& formal = formal_at(builder, parameters, arguments_.size());
      const Ref value = builder.source(scalar, kind_to_pass(formal.type));
      arguments_.push_back(builder.new_parameter(formal));
      builder.store_parameter(arguments_.back(), value);
    }
  }
  if (operands.results == nullptr) return;
  for (const ptx::Scalar& scalar : operands.results->elements) {
    if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) {
      results_.push_back(symbol->name);
      continue;
    }
    const ptx::Variable& formal = formal_at(builder, return_values, results_.size());
    results_.push_back(builder.new_parameter(formal));
    in_registers_.push_back({results_.back(), scalar, formal.type});
  }
}

void PassedNames::load_results(KernelBuilder& builder) const {
  for (const Result& result : in_registers_) {
    builder.load_parameter(result.name, builder.destination(result.to, kind_to_pass(result.type)));
  }
}

// Parameters of functions that are declared as registers.

std::string KernelBuilder::new_parameter(const ptx::Variable& like) {
  const std::string name = "(passed " + std::to_string(instance_->variables.size()) + ")";
  ptx::Variable variable = like;
  variable.name = name;
  declare(*instance_, variable, ptx::Space::param, frame_next_, std::max(8U, like.alignment));
  return name;
}

/// A number for a byte of a .param variable. Functions out of line share theirs: each has the same
/// for the arguments and results of calls.
std::uint64_t KernelBuilder::passed_byte(std::uint64_t address, bool in_frame) const {
  constexpr std::uint64_t kOutOfLine = std::uint64_t{1} << 33;
  return in_frame ? kOutOfLine + address - frame_base_ : address;
}

void KernelBuilder::note_passed(Pending& access, std::uint64_t first, bool stores) const {
  for (const std::uint32_t word : passed_words(first, access.access_bytes)) {
    (stores ? access.writes_passed : access.reads_passed).push_back(word);
    const auto result = results_of_calls_.find(word);
    if (!stores && result != results_of_calls_.end()) access.reads_passed.push_back(result->second);
  }
}

std::vector<std::uint32_t> KernelBuilder::passed_words(std::uint64_t first, std::uint64_t bytes) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t word = first / 4; word * 4 < first + bytes; ++word) {
    words.push_back(static_cast<std::uint32_t>(word));
  }
  return words;
}

Pending& KernelBuilder::emit_in_frame(const VariableHome& home, bool stores) {
  const auto bytes = static_cast<unsigned>(home.bytes);
  const Handler handler = primitives().frame_access(stores, bytes);
  if (handler == nullptr || home.space != ptx::Space::param || home.kernel_parameter) {
    refuse("a call that passes a register of " + std::to_string(bytes) + " bytes");
  }
  const Ref base = home.in_frame ? stack_pointer() : constant(0, 4);
  Pending& pending = emit_hidden(handler, true);
  pending.a = base;
  pending.immediate = static_cast<std::int64_t>(home.address);
  pending.is_memory = true;
  pending.access_bytes = bytes;
  note_passed(pending, passed_byte(home.address, home.in_frame), stores);
  return pending;
}

void KernelBuilder::store_parameter(const std::string& name, Ref value) {
  Pending& pending = emit_in_frame(find_variable(name).value(), true);
  pending.b = value;
  pending.only_stores = true;
}

void KernelBuilder::load_parameter(const std::string& name, Ref to) {
  emit_in_frame(find_variable(name).value(), false).dst = to;
}

Ref KernelBuilder::register_of(const FunctionInstance& instance, const ptx::Variable& formal) {
  const auto& registers = instance.function->registers;
  for (std::uint32_t i = 0; i < registers.size(); ++i) {
    if (registers[i].name == formal.name) {
      return {Ref::Kind::reg, instance.first_register + i};
    }
  }
  refuse("parameter " + formal.name + " of " + instance.function->name);
}

void KernelBuilder::enter_registers(const FunctionInstance& instance) {
  for (const ptx::Variable& formal : instance.function->parameters) {
    if (formal.space != ptx::Space::reg) continue;
    const Ref to = register_of(instance, formal);
    emit_in_frame(instance.variables.find(home_of(formal))->second, false).dst = to;
  }
}

void KernelBuilder::leave_registers(const FunctionInstance& instance) {
  for (const ptx::Variable& formal : instance.function->return_values) {
    if (formal.space != ptx::Space::reg) continue;
    Pending& pending = emit_in_frame(instance.variables.find(home_of(formal))->second, true);
    pending.b = register_of(instance, formal);
    pending.only_stores = true;
  }
}

std::string KernelBuilder::home_of(const ptx::Variable& formal) {
  return formal.space == ptx::Space::reg ? "(home of " + formal.name + ")" : formal.name;
}

}  // namespace simgpu
