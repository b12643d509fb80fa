#include "simgpu/lower/builder.h"

#include <algorithm>
#include <filesystem>

#include "simgpu/isa/instruction_set.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostRefusals = 1000;
constexpr std::size_t kLongestRefusal = 500;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

SlotKind slot_kind(ptx::Type type) {
  if (type == ptx::Type::pred) return SlotKind::predicate;
  const unsigned bytes = ptx::size_of(type);
  if (bytes > 8) throw Unsupported("128-bit registers");
  return bytes == 8 ? SlotKind::pair : SlotKind::word;
}

KernelBuilder::KernelBuilder(const InstructionSet& instructions, const ptx::Module& module,
                             const SourceFiles& files, const CallGraph& calls,
                             const SymbolTable& symbols, const ptx::Function& kernel,
                             std::size_t most_instructions)
    : instructions_(instructions),
      module_(module),
      files_(files),
      calls_(calls),
      symbols_(symbols),
      function_(kernel),
      most_instructions_(most_instructions) {}

void KernelBuilder::refuse(const std::string& what) const {
  throw Unsupported(what + " (" + place() + ")");
}

std::string KernelBuilder::place() const {
  if (file_ != 0) return file_name(files_.names()->at(file_)) + ":" + std::to_string(line_);
  return "PTX line " + std::to_string(instruction_ != nullptr ? instruction_->ptx_line : 0);
}

Pending& KernelBuilder::emit(Handler handler, const Cost& cost) {
  if (code_.size() > most_instructions_) {
    throw TooLarge("kernels of more than 2,000,000 instructions in all after inlining");
  }
  Pending pending;
  pending.handler = handler;
  pending.cost = cost;
  pending.guard = guard_;
  pending.guard_negated = guard_negated_;
  // What the assembler folds into others when it is done always is a select when it is done at
  // times.
  const bool is_select = guard_.kind != Ref::Kind::none && !cost.issues;
  if (is_select) pending.cost = {.cls = InstructionClass::integer};
  annotate(pending);
  code_.push_back(std::move(pending));
  return code_.back();
}

Pending& KernelBuilder::emit_hidden(Handler handler, bool guarded) {
  Pending& pending = emit(handler, {});
  pending.cost = {.cls = InstructionClass::move, .issues = false};
  pending.hidden = true;
  if (!guarded) pending.guard = {};
  return pending;
}

void KernelBuilder::annotate(Pending& pending) const {
  pending.file = file_;
  pending.line = line_;
  pending.column = column_;
  pending.call = call_;
  if (instruction_ == nullptr) return;
  pending.ptx_line = instruction_->ptx_line;
  pending.spelling = instruction_->spelling();
}

/// The innermost place in a file of the user's, through inlining; line 0 means "same as before".
void KernelBuilder::set_place(const ptx::Instruction& instruction) {
  const auto& locations = instance_->function->locations;
  std::int64_t index = instruction.location;
  for (std::size_t steps = 0; index > 0 && steps < locations.size(); ++steps) {
    if (static_cast<std::size_t>(index) >= locations.size()) return;
    const ptx::SourceLocation& location = locations[static_cast<std::size_t>(index)];
    if (files_.is_users(location.file)) {
      if (location.line != 0) {
        file_ = location.file;
        line_ = location.line;
        column_ = location.column;
        call_ = call_at(location);
      }
      return;
    }
    index = location.inlined_at;
  }
}

std::uint32_t KernelBuilder::add_call(KernelInfo::Call call) {
  constexpr std::size_t kMostCalls = 100'000;
  if (kernel_.info.calls.size() >= kMostCalls) return 0;
  kernel_.info.calls.push_back(std::move(call));
  return static_cast<std::uint32_t>(kernel_.info.calls.size());
}

/// The call for which the function around a place was inlined, by the compiler or here. Calls in
/// files that are not the user's are left out.
std::uint32_t KernelBuilder::call_at(const ptx::SourceLocation& place) {
  constexpr std::size_t kDeepest = 32;
  const auto& locations = instance_->function->locations;
  std::vector<const ptx::SourceLocation*> inlined;  // innermost first
  const ptx::SourceLocation* at = &place;
  std::uint32_t call = instance_->call;
  for (; at->inlined_at > 0 && inlined.size() < kDeepest;
       at = &locations[static_cast<std::size_t>(at->inlined_at)]) {
    if (static_cast<std::size_t>(at->inlined_at) >= locations.size()) break;
    if (const auto known = call_of_.find({at, instance_->call}); known != call_of_.end()) {
      call = known->second;
      break;
    }
    inlined.push_back(at);
  }
  while (!inlined.empty()) {
    const ptx::SourceLocation* const callee = inlined.back();
    inlined.pop_back();
    const ptx::SourceLocation& from = locations[static_cast<std::size_t>(callee->inlined_at)];
    if (files_.is_users(from.file) && from.line != 0) {
      call = add_call({from.file, from.line, from.column, callee->function, call});
    }
    call_of_[{callee, instance_->call}] = call;
  }
  return call;
}

Ref KernelBuilder::new_register(SlotKind kind) {
  registers_.push_back(kind);
  return {Ref::Kind::reg, static_cast<std::uint32_t>(registers_.size() - 1)};
}

Ref KernelBuilder::constant(std::uint64_t bits, unsigned bytes, std::uint32_t array) {
  if (bytes == 4) bits &= 0xFFFFFFFFU;
  const auto [found, added] = constant_index_.try_emplace(
      {bytes, bits, array}, static_cast<std::uint32_t>(constants_.size()));
  if (added) constants_.push_back({0, static_cast<std::uint8_t>(bytes), bits, array});
  return {Ref::Kind::constant, found->second};
}

Ref KernelBuilder::carry() {
  if (!instance_->carry) instance_->carry = new_register(SlotKind::predicate).index;
  return {Ref::Kind::reg, *instance_->carry};
}

void KernelBuilder::lower_body(FunctionInstance& instance) {
  instance_ = &instance;
  const ptx::Function& function = *instance.function;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    labels_[instance.first_label + i] = static_cast<std::uint32_t>(code_.size());
    lower_instruction(function.body[i]);
  }
  const auto end = static_cast<std::uint32_t>(code_.size());
  labels_[instance.first_label + function.body.size()] = end;
  labels_[instance.return_label] = end;
}

void KernelBuilder::lower_instruction(const ptx::Instruction& instruction) {
  instruction_ = &instruction;
  set_place(instruction);
  guard_ = {};
  guard_negated_ = false;
  if (instruction.guard) {
    guard_ = {Ref::Kind::reg, instance_->first_register + instruction.guard->reg};
    guard_negated_ = instruction.guard->negated;
  }
  try {
    if (const OpcodeRow* row = instructions_.find_row(instruction.spelling())) {
      const std::string_view signature = row->implementation.signature;
      std::array<Ref, 6> refs;  // dst, dst2, a, b, c, d
      const std::size_t colon = signature.find(':');
      const std::size_t sources_count = signature.size() - colon - 1;
      if (operand_count() != sources_count + 1) {
        refuse(instruction.spelling() + " with " + std::to_string(operand_count()) + " operands");
      }
      for (std::size_t i = 0; i < sources_count; ++i) {
        refs[2 + i] = source(1 + i, signature[colon + 1 + i]);
      }
      refs[0] = destination(std::size_t{0}, signature[0]);
      Pending& pending = emit(row->implementation.handler, row->cost);
      pending.dst = refs[0];
      pending.a = refs[2];
      pending.b = refs[3];
      pending.c = refs[4];
      pending.d = refs[5];
      return;
    }
    const BuiltOpcode* built = instructions_.find_built(instruction.opcode);
    const bool is_known = built != nullptr && built->has_form(instruction.modifiers);
    if (!is_known) refuse(instruction.spelling());
    built->emit(*this);
  } catch (const TooLarge&) {
    throw;
  } catch (const Unsupported& problem) {
    refuse_instruction(std::string(problem.what()).substr(0, kLongestRefusal));
  }
}

/// A function that is only called through its address may well never be called: its class may have
/// a destructor that nothing runs, say. It stops a launch only when it is reached.
void KernelBuilder::refuse_instruction(const std::string& what) {
  if (std::max(kernel_.info.unsupported.size(), kernel_.refusals.size()) >= kMostRefusals) {
    throw TooLarge("more than 1000 instructions that are not implemented, among them " + what);
  }
  if (body_ == kKernel || calls_.is_recursive(*bodies_[body_].function)) {
    kernel_.info.unsupported.push_back(what);
    return;
  }
  emit_hidden(primitives().refuse, true).option =
      static_cast<std::uint32_t>(kernel_.refusals.size());
  kernel_.refusals.push_back(what);
}

LoweredKernel KernelBuilder::build() {
  kernel_.info.name = function_.name;
  kernel_.info.files = files_.names();
  kernel_.info.required_threads = function_.required_threads;
  kernel_.info.max_threads = function_.max_threads;
  FunctionInstance instance;
  try {
    lay_out_kernel();
    instance = make_instance(function_, true);
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      instance.variables[function_.parameters[i].name] = {ptx::Space::param,
                                                          kernel_.info.parameter_offsets[i],
                                                          kernel_.info.parameter_sizes[i], true};
    }
    declare_variables(instance);
    place_module_shared();
    // Dynamic shared memory begins behind the static arrays, which device functions may still add
    // to: its place is found by lowering twice when the first pass found more.
    std::uint32_t dynamic_at = 0;
    for (int pass = 0; pass < 2; ++pass) {
      const std::uint32_t aligned = (shared_next_ + 15) / 16 * 16;
      if (pass == 1 && aligned == dynamic_at) break;
      dynamic_at = aligned;
      for (const ptx::Variable& variable : module_.variables) {
        if (variable.space == ptx::Space::shared &&
            variable.linkage == ptx::Variable::Linkage::external) {
          module_variables_[variable.name] = {ptx::Space::shared, dynamic_at, 0, false};
        }
      }
      kernel_.info.unsupported.clear();
      lower_program(instance);
    }
  } catch (const Unsupported& problem) {
    too_large_ = dynamic_cast<const TooLarge*>(&problem) != nullptr;
    abandon();
    kernel_.info.unsupported.emplace_back(problem.what());
  }
  return finish();
}

}  // namespace simgpu
