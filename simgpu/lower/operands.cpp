#include <bit>
#include <limits>

#include "simgpu/isa/instruction_set.h"
#include "simgpu/lower/builder.h"

/// The part of KernelBuilder that makes slots of an instruction's operands: registers, constants,
/// symbols and addresses.
namespace simgpu {
namespace {

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

std::optional<VariableHome> KernelBuilder::find_variable(std::string_view name) const {
  if (const auto own = instance_->variables.find(name); own != instance_->variables.end()) {
    return own->second;
  }
  const auto found = module_variables_.find(name);
  if (found == module_variables_.end()) return std::nullopt;
  return found->second;
}

std::optional<VariableHome> KernelBuilder::use_variable(std::string_view name) {
  const auto home = find_variable(name);
  if (!home || home->space != ptx::Space::constant) return home;
  const ByteRange range{home->address, home->bytes};
  std::vector<ByteRange>& known = kernel_.info.constants;
  if (std::ranges::find(known, range) == known.end()) known.push_back(range);
  return home;
}

Ref KernelBuilder::symbol_value(const ptx::Symbol& symbol, unsigned bytes) {
  if (const auto home = use_variable(symbol.name)) {
    const std::uint64_t value = home->address + static_cast<std::uint64_t>(symbol.offset);
    if (!home->in_frame) return constant(value, bytes, home->array);
    const Ref address = new_register(bytes == 8 ? SlotKind::pair : SlotKind::word);
    const Ref base = stack_pointer();
    Pending& pending =
        emit_hidden(bytes == 8 ? primitives().frame_address64 : primitives().frame_address32);
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
    if (have == SlotKind::word && want == SlotKind::pair) return converted(primitives().widen).dst;
    if (have == SlotKind::pair && want == SlotKind::word) {
      Pending& narrowing = converted(primitives().saturate);
      narrowing.option = 1;
      return narrowing.dst;
    }
    refuse(instruction_->spelling() + " with a predicate for a number");
  }
  if (!negated) return value;
  if (kind != 'p') refuse("a negated operand of " + instruction_->spelling());
  return converted(primitives().not_predicate).dst;
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
  const Handler handler = primitives().special_register(special.name, option);
  if (handler == nullptr) {
    refuse("special register " + special.name + primitives().purpose_of_register(special.name));
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
  Pending& conversion = emit_hidden(wide ? primitives().saturate : primitives().widen);
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
  const Ref value = source(operand.elements.at(0), kind, operand.negated);
  return operand.offset == 0 ? value : with_added(value, operand.offset, kind);
}

/// A register and a literal in one operand.
Ref KernelBuilder::with_added(Ref value, std::int64_t added, char kind) {
  if (kind != 'i' && kind != 'l') refuse("a sum as an operand of " + instruction_->spelling());
  const OpcodeRow* row = instructions_.find_row(is_pair(kind) ? "add.u64" : "add.u32");
  const Ref sum = new_register(slot_kind(kind));
  const Ref literal = constant(static_cast<std::uint64_t>(added), is_pair(kind) ? 8 : 4);
  Pending& pending = emit_hidden(row->implementation.handler);
  pending.a = value;
  pending.b = literal;
  pending.dst = sum;
  return sum;
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
  if (operand.kind != ptx::Operand::Kind::scalar || operand.offset != 0) {
    refuse(instruction_->spelling() + " with this destination");
  }
  return destination(operand.elements.at(0), kind);
}

std::vector<Ref> KernelBuilder::sources(std::size_t number, char kind) {
  if (number >= operand_count()) refuse(instruction_->spelling() + " with too few operands");
  if (instruction_->operands[number].offset != 0) return {source(number, kind)};
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
  Pending& pending = emit_hidden(primitives().widen);
  pending.a = base;
  pending.dst = wide;
  return wide;
}

Ref KernelBuilder::narrow_address(Ref base, std::int64_t offset) {
  const Ref narrow = new_register(SlotKind::word);
  Pending& pending = emit_hidden(primitives().saturate);
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
  Pending& pending =
      emit_hidden(narrow ? primitives().frame_address32 : primitives().element_address);
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
    const auto home = use_variable(symbol->name);
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
    if (space == ptx::Space::param && !home->kernel_parameter) {
      result.passed =
          passed_byte(value + static_cast<std::uint64_t>(operand.offset), home->in_frame);
    }
    if (home->in_frame) {
      result.base = narrow ? stack_pointer() : widen_address(stack_pointer(), 32);
      result.offset += static_cast<std::int64_t>(value);
      return result;
    }
    result.base = constant(value, narrow ? 4 : 8, home->array);
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

}  // namespace simgpu
