#include <algorithm>

#include "simgpu/arith/bits.h"
#include "simgpu/exec/lanes.h"
#include "simgpu/memory/device_memory.h"

/// mov, cvta, isspacep.
namespace simgpu {
namespace {

/// The assembler folds copies and literals into other instructions.
constexpr Cost kFolded{.cls = InstructionClass::move, .issues = false};
constexpr Cost kMove{.cls = InstructionClass::move};
/// Registers have names for halves, and none for bytes: each is taken out or put in by a PRMT.
constexpr Cost kByte{.cls = InstructionClass::integer};
const Cost& cost_of_part(unsigned bits) { return bits == 8 ? kByte : kFolded; }

// mov.

void emit_part(KernelBuilder& builder, const ptx::Scalar& to, Ref from, const Implementation& code,
               const Cost& cost) {
  if (std::holds_alternative<ptx::Sink>(to)) return;
  const Ref dst = builder.destination(to, 'i');
  Pending& pending = builder.emit(code.handler, cost);
  pending.a = from;
  pending.dst = dst;
}

template <unsigned kFirst>
std::uint32_t part8(std::uint32_t x) {
  return x >> kFirst & 0xFFU;
}
std::uint32_t join8(std::uint32_t low, std::uint32_t high) {
  return (low & 0xFFU) | (high & 0xFFU) << 8;
}

/// What takes each of the parts of a value of `bits`; nothing where there is no such form.
std::vector<Implementation> parts_of(unsigned bits, std::size_t count) {
  using std::uint32_t;
  using std::uint64_t;
  if (bits == 64 && count == 2) return {lanes<&arith::part32<0>>(), lanes<&arith::part32<32>>()};
  if (bits == 64 && count == 4) {
    return {lanes<&arith::part16<0, uint64_t>>(), lanes<&arith::part16<16, uint64_t>>(),
            lanes<&arith::part16<32, uint64_t>>(), lanes<&arith::part16<48, uint64_t>>()};
  }
  if (bits == 32 && count == 2) {
    return {lanes<&arith::part16<0, uint32_t>>(), lanes<&arith::part16<16, uint32_t>>()};
  }
  if (bits == 32 && count == 4) {
    return {lanes<&part8<0>>(), lanes<&part8<8>>(), lanes<&part8<16>>(), lanes<&part8<24>>()};
  }
  if (bits == 16 && count == 2) return {lanes<&part8<0>>(), lanes<&part8<8>>()};
  return {};
}

/// A copy, for what is written first may be read later.
Ref kept(KernelBuilder& builder, Ref from, bool wide) {
  const Ref copy = builder.new_register(wide ? SlotKind::pair : SlotKind::word);
  Pending& keep = builder.emit_hidden(wide ? lanes<&arith::copy<std::uint64_t>>().handler
                                           : lanes<&arith::copy<std::uint32_t>>().handler);
  keep.a = from;
  keep.dst = copy;
  return copy;
}

/// Parts of a value go to registers one after the other.
void unpack(KernelBuilder& builder, unsigned bits) {
  const auto& parts = builder.instruction().operands[0].elements;
  const bool wide = bits == 64;
  const std::vector<Implementation> takes = parts_of(bits, parts.size());
  if (takes.empty()) builder.refuse(builder.instruction().spelling());
  const Ref from = kept(builder, builder.source(std::size_t{1}, wide ? 'l' : 'i'), wide);
  const Cost& cost = cost_of_part(bits / static_cast<unsigned>(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) emit_part(builder, parts[i], from, takes[i], cost);
}

Ref join(KernelBuilder& builder, unsigned bits, Ref low, Ref high) {
  const Ref joined = builder.new_register(SlotKind::word);
  Pending& pending = bits == 8 ? builder.emit(lanes<&join8>().handler, kByte)
                               : builder.emit_hidden(lanes<&arith::join16>().handler);
  pending.a = low;
  pending.b = high;
  pending.dst = joined;
  return joined;
}

void pack(KernelBuilder& builder, unsigned bits) {
  std::vector<Ref> parts = builder.sources(1, 'i');
  const Ref dst = builder.destination(std::size_t{0}, bits == 64 ? 'l' : 'i');
  // Of four parts, first two and two.
  const bool four = parts.size() == 4;
  const unsigned each = bits / static_cast<unsigned>(std::max<std::size_t>(parts.size(), 1));
  if ((parts.size() != 2 && !four) || each < 8) builder.refuse(builder.instruction().spelling());
  if (four) {
    parts = {join(builder, each, parts[0], parts[1]), join(builder, each, parts[2], parts[3])};
  }
  const Implementation whole = bits == 64   ? lanes<&arith::join32>()
                               : bits == 32 ? lanes<&arith::join16>()
                                            : lanes<&join8>();
  Pending& pending = builder.emit(whole.handler, cost_of_part(each));
  pending.a = parts[0];
  pending.b = parts[1];
  pending.dst = dst;
}

Handler copy_of(unsigned bits) {
  if (bits == 16) return lanes<&arith::copy<std::uint16_t>>().handler;
  return bits == 64 ? lanes<&arith::copy<std::uint64_t>>().handler
                    : lanes<&arith::copy<std::uint32_t>>().handler;
}

/// The sources of mov.v4: %tid and its like have the elements x, y, z and a last one that is 0.
std::vector<Ref> elements_to_move(KernelBuilder& builder, char kind) {
  const ptx::Operand& from = builder.instruction().operands[1];
  const auto* special = std::get_if<ptx::SpecialRegister>(&from.elements.at(0));
  if (special == nullptr || from.kind != ptx::Operand::Kind::scalar)
    return builder.sources(1, kind);
  std::vector<Ref> elements;
  for (const char* axis : {".x", ".y", ".z"}) {
    elements.push_back(builder.source(ptx::SpecialRegister{special->name + axis}, kind));
  }
  elements.push_back(builder.constant(0, 4));
  return elements;
}

/// mov.v2 and mov.v4: each element by itself.
void move_elements(KernelBuilder& builder, unsigned bits, std::size_t count, char kind) {
  const bool wide = bits == 64;
  std::vector<Ref> from = elements_to_move(builder, kind);
  const std::vector<Ref> to = builder.destinations(0, kind);
  if (from.size() != count || to.size() != count) {
    builder.refuse(builder.instruction().spelling() + " with other operands");
  }
  for (Ref& element : from) element = kept(builder, element, wide);
  for (std::size_t i = 0; i < count; ++i) {
    Pending& pending = builder.emit(copy_of(bits), kFolded);
    pending.a = from[i];
    pending.dst = to[i];
  }
}

/// Bits of a type that mov takes; 0 for a modifier that is none.
unsigned bits_to_move(const std::string& type) {
  static const std::map<std::string, unsigned> kBits{
      {"b16", 16},    {"u16", 16}, {"s16", 16}, {"f16", 16}, {"bf16", 16},
      {"b32", 32},    {"u32", 32}, {"s32", 32}, {"f32", 32}, {"f16x2", 32},
      {"bf16x2", 32}, {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f64", 64}};
  const auto found = kBits.find(type);
  return found == kBits.end() ? 0 : found->second;
}

void build_mov(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (builder.operand_count() != 2) builder.refuse(instruction.spelling());
  std::string type;
  for (const std::string& modifier : instruction.modifiers) {
    if (bits_to_move(modifier) != 0) type = modifier;
  }
  const unsigned bits = bits_to_move(type);
  const char kind = type == "f64" ? 'd' : type == "f32" ? 'f' : bits == 64 ? 'l' : 'i';
  const bool two = instruction.has("v2");
  if (two || instruction.has("v4")) return move_elements(builder, bits, two ? 2 : 4, kind);
  using Kind = ptx::Operand::Kind;
  if (instruction.operands[0].kind == Kind::vector) return unpack(builder, bits);
  if (instruction.operands[1].kind == Kind::vector) return pack(builder, bits);
  const bool special =
      std::holds_alternative<ptx::SpecialRegister>(instruction.operands[1].elements.at(0));
  const Ref from = builder.source(std::size_t{1}, kind);
  const Ref dst = builder.destination(std::size_t{0}, kind);
  Pending& pending = builder.emit(copy_of(bits), special ? kMove : kFolded);
  pending.a = from;
  pending.dst = dst;
}

// Address spaces.

template <std::uint64_t kWindow>
std::uint64_t to_generic(std::uint64_t x) {
  return x + kWindow;
}
template <std::uint64_t kWindow>
std::uint64_t from_generic(std::uint64_t x) {
  return x - kWindow;
}
template <std::uint64_t kWindow>
bool in_window(std::uint64_t x) {
  return x - kWindow < kWindowBytes;
}
bool in_global(std::uint64_t x) {
  return x - kSharedWindow >= kWindowBytes && x - kLocalWindow >= kWindowBytes;
}
bool nowhere(std::uint64_t) { return false; }
/// Whether x is in a constant variable, or has been in one before it.
bool in_constant(std::uint64_t x, std::uint64_t begin, std::uint64_t bytes, bool before) {
  return before || x - begin < bytes;
}
bool outside_constant(std::uint64_t x, std::uint64_t begin, std::uint64_t bytes, bool before) {
  return before && x - begin >= bytes;
}

/// cvta{.to}.SPACE.u64: global and constant addresses are generic ones already.
void build_cvta(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (!instruction.has("u64")) builder.refuse(instruction.spelling());
  const bool to = instruction.has("to");
  Handler handler = lanes<&arith::copy<std::uint64_t>>().handler;
  if (instruction.has("shared") || instruction.has("shared::cta")) {
    handler = to ? lanes<&from_generic<kSharedWindow>>().handler
                 : lanes<&to_generic<kSharedWindow>>().handler;
  } else if (instruction.has("local")) {
    handler = to ? lanes<&from_generic<kLocalWindow>>().handler
                 : lanes<&to_generic<kLocalWindow>>().handler;
  } else if (!instruction.has("global") && !instruction.has("const")) {
    builder.refuse(instruction.spelling());
  }
  const Ref from = builder.source(std::size_t{1}, 'l');
  const Ref dst = builder.destination(std::size_t{0}, 'l');
  Pending& pending = builder.emit(handler, kFolded);
  pending.a = from;
  pending.dst = dst;
}

void build_isspacep(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  Handler handler = nullptr;
  if (instruction.has("shared") || instruction.has("shared::cta")) {
    handler = lanes<&in_window<kSharedWindow>>().handler;
  } else if (instruction.has("local")) {
    handler = lanes<&in_window<kLocalWindow>>().handler;
  } else if (instruction.has("global")) {
    handler = lanes<&in_global>().handler;
  } else if (instruction.has("const")) {
    handler = lanes<&nowhere>().handler;
  } else {
    builder.refuse(instruction.spelling());
  }
  const Ref from = builder.source(std::size_t{1}, 'l');
  const Ref dst = builder.destination(std::size_t{0}, 'p');
  Pending& pending = builder.emit(handler, {.cls = InstructionClass::integer});
  pending.a = from;
  pending.dst = dst;
  if (!instruction.has("global") && !instruction.has("const")) return;
  // Constant variables are in device memory, each at a place of its own.
  const Handler constant =
      instruction.has("const") ? lanes<&in_constant>().handler : lanes<&outside_constant>().handler;
  for (const ptx::Variable& variable : builder.module().variables) {
    if (variable.space != ptx::Space::constant) continue;
    const std::optional<VariableHome> home = builder.find_variable(variable.name);
    if (!home) continue;
    const Ref begin = builder.constant(home->address, 8);
    const Ref bytes = builder.constant(home->bytes, 8);
    Pending& refine = builder.emit_hidden(constant, true);
    refine.a = from;
    refine.b = begin;
    refine.c = bytes;
    refine.d = dst;
    refine.dst = dst;
  }
}

std::uint32_t saturate(std::uint64_t x) {
  return x > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(x);
}

/// option 0: an address, with the immediate added to it (the sum may be in bounds where the base is
/// not); one too large for 32 bits becomes the largest one, so that it stays out of bounds.
/// option 1: the low half.
const Lowered* narrow(const Lowered* in, Warp& warp) {
  Source<std::uint64_t> from(warp, in->a);
  if (in->option == 1) {
    store_lanes<&arith::part32<0>, std::uint32_t>(warp, in->dst, from);
    return in + 1;
  }
  alignas(64) std::array<std::uint64_t, kWarpSize> sums;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    sums[lane] = from[lane] + static_cast<std::uint64_t>(in->immediate);
  }
  from.values = sums.data();
  store_lanes<&saturate, std::uint32_t>(warp, in->dst, from);
  return in + 1;
}

/// An array's element: the assembler computes its place in the array in 32 bits.
std::uint64_t element_address(std::uint64_t array, std::uint32_t index, std::uint32_t more,
                              std::uint32_t bytes) {
  return array + (index + more) * bytes;
}

}  // namespace

namespace hidden {

const Handler kSaturate = &narrow;
const Handler kWiden = lanes<&arith::widen>().handler;
const Handler kElementAddress = &detail::Deduce<&element_address>::type::run;

}  // namespace hidden

OpcodeFile move_opcodes() {
  const std::string space = "shared|shared::cta|local|global|const";
  return {.built = {{"mov",
                     build_mov,
                     {"[v2|v4] b16|u16|s16|f16|bf16|b32|u32|s32|f32|f16x2|bf16x2|b64|u64|s64|f64"}},
                    {"cvta", build_cvta, {"[to] u64 " + space}},
                    {"isspacep", build_isspacep, {space}}}};
}

}  // namespace simgpu
