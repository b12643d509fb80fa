#include "simgpu/lower/builder.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>

#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostRefusals = 1000;
constexpr std::size_t kLongestRefusal = 500;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool is_pair(char kind) { return kind == 'l' || kind == 'd'; }

/// Of what is no register and no integer, for messages.
std::string name_of(const ptx::Scalar& scalar) {
  if (const auto* special = std::get_if<ptx::SpecialRegister>(&scalar)) return special->name;
  if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) return symbol->name;
  return "this operand";
}

SlotKind slot_kind(char kind) {
  return kind == 'p' ? SlotKind::predicate : is_pair(kind) ? SlotKind::pair : SlotKind::word;
}

}  // namespace

SlotKind slot_kind(ptx::Type type) {
  if (type == ptx::Type::pred) return SlotKind::predicate;
  const unsigned bytes = ptx::size_of(type);
  if (bytes > 8) throw Unsupported("128-bit registers");
  return bytes == 8 ? SlotKind::pair : SlotKind::word;
}

KernelBuilder::KernelBuilder(const ptx::Module& module, const SourceFiles& files,
                             const CallGraph& calls, const SymbolTable& symbols,
                             const ptx::Function& kernel, std::size_t most_instructions)
    : module_(module),
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
  annotate(pending);
  code_.push_back(std::move(pending));
  return code_.back();
}

Pending& KernelBuilder::emit_hidden(Handler handler, bool guarded) {
  Pending& pending = emit(handler, {.cls = InstructionClass::move, .issues = false});
  pending.hidden = true;
  if (!guarded) pending.guard = {};
  return pending;
}

void KernelBuilder::annotate(Pending& pending) const {
  pending.file = file_;
  pending.line = line_;
  pending.column = column_;
  pending.call = call_;
  if (instruction_ != nullptr) pending.spelling = instruction_->spelling();
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

Ref KernelBuilder::constant(std::uint64_t bits, unsigned bytes) {
  if (bytes == 4) bits &= 0xFFFFFFFFU;
  const auto [found, added] =
      constant_index_.try_emplace({bytes, bits}, static_cast<std::uint32_t>(constants_.size()));
  if (added) constants_.push_back({0, static_cast<std::uint8_t>(bytes), bits});
  return {Ref::Kind::constant, found->second};
}

Ref KernelBuilder::carry() {
  if (!instance_->carry) instance_->carry = new_register(SlotKind::predicate).index;
  return {Ref::Kind::reg, *instance_->carry};
}

std::optional<VariableHome> KernelBuilder::find_variable(std::string_view name) const {
  if (const auto own = instance_->variables.find(name); own != instance_->variables.end()) {
    return own->second;
  }
  const auto found = module_variables_.find(name);
  if (found == module_variables_.end()) return std::nullopt;
  return found->second;
}

Ref KernelBuilder::symbol_value(const ptx::Symbol& symbol, unsigned bytes) {
  if (const auto home = find_variable(symbol.name)) {
    const std::uint64_t value = home->address + static_cast<std::uint64_t>(symbol.offset);
    if (!home->in_frame) return constant(value, bytes);
    const Ref address = new_register(bytes == 8 ? SlotKind::pair : SlotKind::word);
    const Ref base = stack_pointer();
    Pending& pending = emit_hidden(bytes == 8 ? hidden::kFrameAddress64 : hidden::kFrameAddress32);
    pending.a = base;
    pending.immediate = static_cast<std::int64_t>(value);
    pending.dst = address;
    return address;
  }
  if (module_.find_function(symbol.name) != nullptr) {
    const auto placed = symbols_.find(symbol.name);
    if (placed == symbols_.end() || symbol.offset != 0 || bytes != 8) {
      refuse("the address of function " + symbol.name);
    }
    return constant(placed->second, bytes);
  }
  throw std::runtime_error("undefined symbol " + symbol.name + " (" + place() + ")");
}

unsigned KernelBuilder::register_bits(const ptx::Scalar& scalar) const {
  const auto* ref = std::get_if<ptx::RegisterRef>(&scalar);
  if (ref == nullptr) return 0;
  const ptx::Type type = instance_->function->registers.at(ref->index).type;
  return type == ptx::Type::pred ? 1 : 8 * ptx::size_of(type);
}

Ref KernelBuilder::register_value(const ptx::RegisterRef& ref, char kind, bool negated) {
  const Ref value{Ref::Kind::reg, instance_->first_register + ref.index};
  const SlotKind have = registers_.at(value.index);
  const SlotKind want = slot_kind(kind);
  const auto converted = [&](Handler handler) -> Pending& {
    const Ref result = new_register(want);
    Pending& pending = emit_hidden(handler);
    pending.a = value;
    pending.dst = result;
    return pending;
  };
  if (have != want) {
    if (have == SlotKind::word && want == SlotKind::pair) return converted(hidden::kWiden).dst;
    if (have == SlotKind::pair && want == SlotKind::word) {
      Pending& narrowing = converted(hidden::kSaturate);
      narrowing.option = 1;
      return narrowing.dst;
    }
    refuse(instruction_->spelling() + " with a predicate for a number");
  }
  if (!negated) return value;
  if (kind != 'p') refuse("a negated operand of " + instruction_->spelling());
  return converted(hidden::kNotPredicate).dst;
}

/// Where the driver's part of shared memory begins, of which cooperative_groups has 288 bytes
/// (details/memory.h).
Ref KernelBuilder::reserved_shared(char kind) {
  constexpr std::uint64_t kBytes = 288;
  static const std::string kName = "%reserved_smem";
  if (!module_variables_.contains(kName)) {
    const std::uint32_t at = place_in(shared_next_, kBytes, 128);
    module_variables_[kName] = {ptx::Space::shared, at, kBytes, false};
    kernel_.info.shared_arrays.push_back({"(reserved)", at, kBytes});
    kernel_.reserved_shared = {at, kBytes};
  }
  return constant(module_variables_.at(kName).address, is_pair(kind) ? 8 : 4);
}

Ref KernelBuilder::special_register_value(const ptx::SpecialRegister& special, char kind) {
  if (special.name == "%reserved_smem_offset_1") return reserved_shared(kind);
  std::uint32_t option = 0;
  const Handler handler = hidden::special_register(special.name, option);
  if (handler == nullptr) {
    refuse("special register " + special.name + hidden::purpose_of_register(special.name));
  }
  const bool wide =
      special.name == "%clock64" || special.name == "%globaltimer" || special.name == "%gridid";
  if (special.name.starts_with("%globaltimer")) kernel_.info.reads_time = true;
  if (kernel_.info.reads_time || special.name.starts_with("%clock")) {
    kernel_.info.reads_clock = true;
  }
  const Ref value = new_register(wide ? SlotKind::pair : SlotKind::word);
  Pending& pending = emit_hidden(handler);
  pending.option = option;
  pending.dst = value;
  if (wide == is_pair(kind)) return value;
  const Ref converted = new_register(slot_kind(kind));
  Pending& conversion = emit_hidden(wide ? hidden::kSaturate : hidden::kWiden);
  conversion.a = value;
  conversion.option = 1;
  conversion.dst = converted;
  return converted;
}

Ref KernelBuilder::source(const ptx::Scalar& scalar, char kind, bool negated) {
  const unsigned bytes = is_pair(kind) ? 8 : 4;
  if (const auto* ref = std::get_if<ptx::RegisterRef>(&scalar)) {
    return register_value(*ref, kind, negated);
  }
  if (const auto* literal = std::get_if<ptx::IntegerLiteral>(&scalar)) {
    if (kind == 'p') return constant(literal->value != 0 ? ~0U : 0U, 4);
    if (kind == 'f') {
      return constant(std::bit_cast<std::uint32_t>(static_cast<float>(literal->value)), 4);
    }
    if (kind == 'd') {
      return constant(std::bit_cast<std::uint64_t>(static_cast<double>(literal->value)), 8);
    }
    return constant(static_cast<std::uint64_t>(literal->value), bytes);
  }
  if (kind == 'p') {
    refuse(instruction_->spelling() + " with " + name_of(scalar) + " for a predicate");
  }
  if (const auto* literal = std::get_if<ptx::FloatLiteral>(&scalar)) {
    if (bytes == 8) return constant(std::bit_cast<std::uint64_t>(literal->value), 8);
    return constant(std::bit_cast<std::uint32_t>(static_cast<float>(literal->value)), 4);
  }
  if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) {
    if (symbol->name == "WARP_SZ") return constant(kWarpSize, bytes);
    return symbol_value(*symbol, bytes);
  }
  if (const auto* special = std::get_if<ptx::SpecialRegister>(&scalar)) {
    if (special->name == "WARP_SZ") return constant(kWarpSize, bytes);
    return special_register_value(*special, kind);
  }
  refuse("an operand of " + instruction_->spelling());
}

Ref KernelBuilder::source(std::size_t number, char kind) {
  if (number >= operand_count()) refuse(instruction_->spelling() + " with too few operands");
  const ptx::Operand& operand = instruction_->operands[number];
  if (operand.kind == ptx::Operand::Kind::element && kind != 'p') {
    const Ref element = element_address(operand);
    return is_pair(kind) ? element : low_half(element);
  }
  if (operand.kind != ptx::Operand::Kind::scalar || operand.selector >= 0) {
    refuse(instruction_->spelling() + " with this operand");
  }
  return source(operand.elements.at(0), kind, operand.negated);
}

Ref KernelBuilder::destination(const ptx::Scalar& scalar, char kind) {
  if (std::holds_alternative<ptx::Sink>(scalar)) return new_register(slot_kind(kind));
  const auto* ref = std::get_if<ptx::RegisterRef>(&scalar);
  if (ref == nullptr) refuse(instruction_->spelling() + " without a destination register");
  const Ref value{Ref::Kind::reg, instance_->first_register + ref->index};
  if (registers_.at(value.index) != slot_kind(kind)) {
    refuse(instruction_->spelling() + " into a register of another size");
  }
  return value;
}

Ref KernelBuilder::destination(std::size_t number, char kind) {
  if (number >= operand_count()) refuse(instruction_->spelling() + " with too few operands");
  const ptx::Operand& operand = instruction_->operands[number];
  if (operand.kind != ptx::Operand::Kind::scalar) {
    refuse(instruction_->spelling() + " with this destination");
  }
  return destination(operand.elements.at(0), kind);
}

std::vector<Ref> KernelBuilder::sources(std::size_t number, char kind) {
  if (number >= operand_count()) refuse(instruction_->spelling() + " with too few operands");
  std::vector<Ref> refs;
  for (const ptx::Scalar& scalar : instruction_->operands[number].elements) {
    refs.push_back(source(scalar, kind));
  }
  return refs;
}

std::vector<Ref> KernelBuilder::destinations(std::size_t number, char kind) {
  if (number >= operand_count()) refuse(instruction_->spelling() + " with too few operands");
  std::vector<Ref> refs;
  for (const ptx::Scalar& scalar : instruction_->operands[number].elements) {
    refs.push_back(destination(scalar, kind));
  }
  return refs;
}

std::size_t KernelBuilder::width(std::size_t number) const {
  return number < operand_count() ? instruction_->operands[number].elements.size() : 0;
}

Ref KernelBuilder::widen_address(Ref base, unsigned bits) {
  if (bits == 64) return base;
  const Ref wide = new_register(SlotKind::pair);
  Pending& pending = emit_hidden(hidden::kWiden);
  pending.a = base;
  pending.dst = wide;
  return wide;
}

Ref KernelBuilder::narrow_address(Ref base, std::int64_t offset) {
  const Ref narrow = new_register(SlotKind::word);
  Pending& pending = emit_hidden(hidden::kSaturate);
  pending.a = base;
  pending.immediate = offset;
  pending.dst = narrow;
  return narrow;
}

Ref KernelBuilder::plain_address(std::size_t number, ptx::Space space) {
  const Address address = this->address(number, space);
  if (address.offset == 0) return address.base;
  if (address.offset < 0 || address.offset > std::numeric_limits<std::int32_t>::max()) {
    refuse(instruction_->spelling() + " with this address");
  }
  const bool narrow = space == ptx::Space::shared;
  const Ref sum = new_register(narrow ? SlotKind::word : SlotKind::pair);
  const Ref offset = constant(static_cast<std::uint64_t>(address.offset), 4);
  const Ref zero = constant(0, 4);
  const Ref one = constant(1, 4);
  Pending& pending = emit_hidden(narrow ? hidden::kFrameAddress32 : hidden::kElementAddress);
  pending.a = address.base;
  pending.immediate = address.offset;
  pending.b = offset;
  pending.c = zero;
  pending.d = one;
  pending.dst = sum;
  return sum;
}

Address KernelBuilder::address(std::size_t number, ptx::Space space) {
  if (number >= operand_count() ||
      instruction_->operands[number].kind != ptx::Operand::Kind::address) {
    refuse(instruction_->spelling() + " without an address");
  }
  const ptx::Operand& operand = instruction_->operands[number];
  if (operand.elements.size() != (operand.scale != 0 ? 2 : 1)) {
    refuse(instruction_->spelling() + " with this address");
  }
  const bool narrow =
      space == ptx::Space::shared || space == ptx::Space::local || space == ptx::Space::param;
  Address result;
  result.offset = operand.offset;
  result.space = space;
  result.kernel_parameter = instance_->is_kernel;
  const ptx::Scalar& base = operand.elements[0];
  if (const auto* symbol = std::get_if<ptx::Symbol>(&base)) {
    const auto home = find_variable(symbol->name);
    if (!home) throw std::runtime_error("undefined symbol " + symbol->name + " (" + place() + ")");
    result.kernel_parameter = home->kernel_parameter;
    std::uint64_t value = home->address + static_cast<std::uint64_t>(symbol->offset);
    if (space == ptx::Space::generic) value += window_of(*home);
    if (operand.scale != 0) {
      const Ref element = element_address(operand);
      result.base = narrow ? low_half(element) : element;
      result.offset =
          space == ptx::Space::generic ? static_cast<std::int64_t>(window_of(*home)) : 0;
      return result;
    }
    if (home->in_frame) {
      result.base = narrow ? stack_pointer() : widen_address(stack_pointer(), 32);
      result.offset += static_cast<std::int64_t>(value);
      return result;
    }
    result.base = constant(value, narrow ? 4 : 8);
    return result;
  }
  if (const auto* literal = std::get_if<ptx::IntegerLiteral>(&base)) {
    result.base = constant(static_cast<std::uint64_t>(literal->value), narrow ? 4 : 8);
    return result;
  }
  const unsigned bits = register_bits(base);
  if (bits != 32 && bits != 64) refuse(instruction_->spelling() + " with this address");
  const Ref value = source(base, bits == 64 ? 'l' : 'i');
  if (narrow && bits == 64) {
    result.base = narrow_address(value, result.offset);
    result.offset = 0;
  } else {
    result.base = narrow ? value : widen_address(value, bits);
  }
  return result;
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
    const OpcodeTable& table = OpcodeTable::instance();
    if (const OpcodeRow* row = table.find_row(instruction.spelling())) {
      const std::string& signature = row->implementation.signature;
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
    const BuiltOpcode* built = table.find_built(instruction.opcode);
    if (built == nullptr) refuse(instruction.spelling());
    built->build(*this);
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
  emit_hidden(hidden::kRefuse, true).option = static_cast<std::uint32_t>(kernel_.refusals.size());
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
