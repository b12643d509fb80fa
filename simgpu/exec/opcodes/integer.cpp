#include "simgpu/arith/integer.h"

#include "simgpu/exec/lanes.h"

/// Integer arithmetic and bit manipulation.
namespace simgpu {
namespace {

using Rows = std::vector<OpcodeRow>;
using std::int16_t;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

constexpr Cost kInteger{.cls = InstructionClass::integer};

template <class T>
void add_common(Rows& rows, const std::string& type) {
  rows.push_back({"add." + type, lanes<&arith::add<T>>(), kInteger});
  rows.push_back({"sub." + type, lanes<&arith::sub<T>>(), kInteger});
  rows.push_back({"mul.lo." + type, lanes<&arith::mul_lo<T>>(), kInteger});
  rows.push_back({"mul.hi." + type, lanes<&arith::mul_hi<T>>(), kInteger});
  rows.push_back({"mad.lo." + type, lanes<&arith::mad_lo<T>>(), kInteger});
  rows.push_back({"mad.hi." + type, lanes<&arith::mad_hi<T>>(), kInteger});
  rows.push_back({"div." + type, lanes<&arith::div<T>>(), kInteger});
  rows.push_back({"rem." + type, lanes<&arith::rem<T>>(), kInteger});
  rows.push_back({"min." + type, lanes<&arith::min<T>>(), kInteger});
  rows.push_back({"max." + type, lanes<&arith::max<T>>(), kInteger});
  rows.push_back({"sad." + type, lanes<&arith::sad<T>>(), kInteger});
  rows.push_back({"shr." + type, lanes<&arith::shr<T>>(), kInteger});
  if constexpr (std::is_signed_v<T>) {
    rows.push_back({"abs." + type, lanes<&arith::abs<T>>(), kInteger});
    rows.push_back({"neg." + type, lanes<&arith::neg<T>>(), kInteger});
    // nvcc writes the one, the manual the other.
    const std::string relu = type == "s32" ? "{relu.s32|s32.relu}" : "relu." + type;
    rows.push_back(
        {"min." + relu, lanes<[](T a, T b) { return arith::relu(arith::min(a, b)); }>(), kInteger});
    rows.push_back(
        {"max." + relu, lanes<[](T a, T b) { return arith::relu(arith::max(a, b)); }>(), kInteger});
  }
}

template <class T>
void add_wide(Rows& rows, const std::string& type) {
  rows.push_back({"mul.wide." + type, lanes<&arith::mul_wide<T>>(), kInteger});
  rows.push_back({"mad.wide." + type, lanes<&arith::mad_wide<T>>(), kInteger});
}

template <class T>
void add_fields(Rows& rows, const std::string& type) {
  rows.push_back({"bfe." + type, lanes<&arith::bfe<T>>(), kInteger});
  rows.push_back({"bfind." + type, lanes<[](T a) { return arith::bfind(a, false); }>(), kInteger});
  rows.push_back(
      {"bfind.shiftamt." + type, lanes<[](T a) { return arith::bfind(a, true); }>(), kInteger});
}

template <class T>
void add_24_bit(Rows& rows, const std::string& type) {
  rows.push_back({"mul24.lo." + type, lanes<&arith::mul24_lo<T>>(), kInteger});
  rows.push_back({"mul24.hi." + type, lanes<&arith::mul24_hi<T>>(), kInteger});
  rows.push_back({"mad24.lo." + type, lanes<&arith::mad24_lo<T>>(), kInteger});
  rows.push_back({"mad24.hi." + type, lanes<&arith::mad24_hi<T>>(), kInteger});
}

template <class T>
void add_bits(Rows& rows, const std::string& type) {
  rows.push_back({"shl." + type, lanes<&arith::shl<T>>(), kInteger});
  rows.push_back({"shr." + type, lanes<&arith::shr<T>>(), kInteger});
}

template <class T>
void add_counts(Rows& rows, const std::string& type) {
  rows.push_back({"popc." + type, lanes<&arith::popc<T>>(), kInteger});
  rows.push_back({"clz." + type, lanes<&arith::clz<T>>(), kInteger});
  rows.push_back({"brev." + type, lanes<[](T a) { return arith::brev(a); }>(), kInteger});
  rows.push_back({"bfi." + type, lanes<&arith::bfi<T>>(), kInteger});
}

template <class A, class B>
void add_dot_products(Rows& rows, const std::string& types) {
  // dp2a takes 16-bit halves of a, of the same signedness.
  using A16 = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
  rows.push_back({"dp4a." + types, lanes<&arith::dp4a<A, B>>(), kInteger});
  rows.push_back({"dp2a.lo." + types, lanes<[](uint32_t a, uint32_t b, uint32_t c) {
                    return arith::dp2a<A16, B>(a, b, c, false);
                  }>(),
                  kInteger});
  rows.push_back({"dp2a.hi." + types, lanes<[](uint32_t a, uint32_t b, uint32_t c) {
                    return arith::dp2a<A16, B>(a, b, c, true);
                  }>(),
                  kInteger});
}

template <arith::PermuteMode kMode>
uint32_t permute(uint32_t a, uint32_t b, uint32_t control) {
  return arith::prmt(a, b, control, kMode);
}

void add_rest(Rows& rows) {
  using Mode = arith::PermuteMode;
  rows.push_back({"add.sat.s32", lanes<&arith::add_sat_s32>(), kInteger});
  rows.push_back({"sub.sat.s32", lanes<&arith::sub_sat_s32>(), kInteger});
  rows.push_back({"mad.hi.sat.s32", lanes<&arith::mad_hi_sat_s32>(), kInteger});
  rows.push_back({"mad24.hi.sat.s32", lanes<&arith::mad24_hi_sat_s32>(), kInteger});
  rows.push_back({"prmt.b32", lanes<&arith::prmt_index>(), kInteger});
  rows.push_back({"prmt.b32.f4e", lanes<&permute<Mode::f4e>>(), kInteger});
  rows.push_back({"prmt.b32.b4e", lanes<&permute<Mode::b4e>>(), kInteger});
  rows.push_back({"prmt.b32.rc8", lanes<&permute<Mode::rc8>>(), kInteger});
  rows.push_back({"prmt.b32.ecl", lanes<&permute<Mode::ecl>>(), kInteger});
  rows.push_back({"prmt.b32.ecr", lanes<&permute<Mode::ecr>>(), kInteger});
  rows.push_back({"prmt.b32.rc16", lanes<&permute<Mode::rc16>>(), kInteger});
  rows.push_back({"lop3.b32", lanes<&arith::lop3>(), kInteger});
  rows.push_back(
      {"shf.l.wrap.b32",
       lanes<[](uint32_t a, uint32_t b, uint32_t c) { return arith::shf_left(a, b, c, true); }>(),
       kInteger});
  rows.push_back(
      {"shf.l.clamp.b32",
       lanes<[](uint32_t a, uint32_t b, uint32_t c) { return arith::shf_left(a, b, c, false); }>(),
       kInteger});
  rows.push_back(
      {"shf.r.wrap.b32",
       lanes<[](uint32_t a, uint32_t b, uint32_t c) { return arith::shf_right(a, b, c, true); }>(),
       kInteger});
  rows.push_back(
      {"shf.r.clamp.b32",
       lanes<[](uint32_t a, uint32_t b, uint32_t c) { return arith::shf_right(a, b, c, false); }>(),
       kInteger});
  rows.push_back({"bmsk.wrap.b32",
                  lanes<[](uint32_t a, uint32_t b) { return arith::bmsk(a, b, true); }>(),
                  kInteger});
  rows.push_back({"bmsk.clamp.b32",
                  lanes<[](uint32_t a, uint32_t b) { return arith::bmsk(a, b, false); }>(),
                  kInteger});
  rows.push_back({"szext.wrap.u32",
                  lanes<[](uint32_t a, uint32_t b) { return arith::szext(a, b, true); }>(),
                  kInteger});
  rows.push_back({"szext.clamp.u32",
                  lanes<[](uint32_t a, uint32_t b) { return arith::szext(a, b, false); }>(),
                  kInteger});
  rows.push_back({"szext.wrap.s32",
                  lanes<[](int32_t a, uint32_t b) { return arith::szext(a, b, true); }>(),
                  kInteger});
  rows.push_back({"szext.clamp.s32",
                  lanes<[](int32_t a, uint32_t b) { return arith::szext(a, b, false); }>(),
                  kInteger});
  rows.push_back({"fns.b32", lanes<&arith::fns>(), kInteger});
}

// Extended precision: the carry travels in a predicate register of the function.

enum CarryUse : std::uint32_t { kReads = 1, kWrites = 2 };

template <class T>
const Lowered* add_with_carry(const Lowered* in, Warp& warp) {
  const std::uint32_t carry_in = in->option & kReads ? predicate(warp, in->c) : 0;
  std::uint32_t carry_out = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const auto sum = arith::add_carry<T>(slot<T>(warp, in->a)[lane], slot<T>(warp, in->b)[lane],
                                         (carry_in >> lane) & 1U);
    slot<T>(warp, in->dst)[lane] = sum.value;
    carry_out |= static_cast<std::uint32_t>(sum.carry) << lane;
  }
  if (in->option & kWrites) write_predicate(warp, in->dst2, carry_out);
  return in + 1;
}

/// A difference is a + ~b + 1 in the machine, whose carry is set where nothing is borrowed. PTX
/// calls CC.CF the borrow, but nvcc's own 128-bit division goes on with addc behind subc and counts
/// on the machine's sense.
template <class T>
const Lowered* sub_with_borrow(const Lowered* in, Warp& warp) {
  const std::uint32_t borrow_in = in->option & kReads ? ~predicate(warp, in->c) : 0;
  std::uint32_t borrow_out = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(left));
    const auto difference = arith::sub_borrow<T>(
        slot<T>(warp, in->a)[lane], slot<T>(warp, in->b)[lane], (borrow_in >> lane) & 1U);
    slot<T>(warp, in->dst)[lane] = difference.value;
    borrow_out |= static_cast<std::uint32_t>(difference.carry) << lane;
  }
  if (in->option & kWrites) write_predicate(warp, in->dst2, ~borrow_out);
  return in + 1;
}

/// A sum (or difference) of operands `first` and `second` with carry.
void emit_carry(KernelBuilder& builder, Handler handler, Ref first, Ref second, char kind,
                std::uint32_t use) {
  const Ref result = builder.destination(std::size_t{0}, kind);
  Pending& pending = builder.emit(handler, kInteger);
  pending.dst = result;
  pending.a = first;
  pending.b = second;
  pending.option = use;
  if (use & kReads) pending.c = builder.carry();
  if (use & kWrites) pending.dst2 = builder.carry();
}

struct CarryForm {
  bool wide = false, is_signed = false, high = false;
  std::uint32_t use = 0;
  char kind() const { return wide ? 'l' : 'i'; }
};

CarryForm parse_carry(KernelBuilder& builder) {
  CarryForm form;
  const ptx::Instruction& instruction = builder.instruction();
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "cc") {
      form.use |= kWrites;
    } else if (modifier == "u64" || modifier == "s64" || modifier == "b64") {
      form.wide = true;
      form.is_signed = modifier[0] == 's';
    } else if (modifier == "u32" || modifier == "s32" || modifier == "b32") {
      form.is_signed = modifier[0] == 's';
    } else if (modifier == "hi") {
      form.high = true;
    } else if (modifier != "lo") {
      builder.refuse(instruction.spelling());
    }
  }
  if (instruction.opcode.back() == 'c') form.use |= kReads;
  if (form.use == 0) builder.refuse(instruction.spelling());
  return form;
}

void build_carry_add(KernelBuilder& builder) {
  const CarryForm form = parse_carry(builder);
  emit_carry(builder, form.wide ? &add_with_carry<uint64_t> : &add_with_carry<uint32_t>,
             builder.source(std::size_t{1}, form.kind()),
             builder.source(std::size_t{2}, form.kind()), form.kind(), form.use);
}

void build_carry_sub(KernelBuilder& builder) {
  const CarryForm form = parse_carry(builder);
  emit_carry(builder, form.wide ? &sub_with_borrow<uint64_t> : &sub_with_borrow<uint32_t>,
             builder.source(std::size_t{1}, form.kind()),
             builder.source(std::size_t{2}, form.kind()), form.kind(), form.use);
}

template <class Signed, class Unsigned>
Handler product(const CarryForm& form) {
  if (!form.high) return lanes<&arith::mul_lo<Unsigned>>().handler;
  return form.is_signed ? lanes<&arith::mul_hi<Signed>>().handler
                        : lanes<&arith::mul_hi<Unsigned>>().handler;
}

/// mad.cc and madc: the product into a register of its own, then the sum with carry.
void build_carry_mad(KernelBuilder& builder) {
  const CarryForm form = parse_carry(builder);
  const Ref a = builder.source(std::size_t{1}, form.kind());
  const Ref b = builder.source(std::size_t{2}, form.kind());
  const Ref c = builder.source(std::size_t{3}, form.kind());
  const Ref partial = builder.new_register(form.wide ? SlotKind::pair : SlotKind::word);
  Pending& multiply = builder.emit_hidden(form.wide ? product<int64_t, uint64_t>(form)
                                                    : product<int32_t, uint32_t>(form));
  multiply.dst = partial;
  multiply.a = a;
  multiply.b = b;
  emit_carry(builder, form.wide ? &add_with_carry<uint64_t> : &add_with_carry<uint32_t>, partial, c,
             form.kind(), form.use);
}

/// lop3 with a predicate: whether the result is not 0, joined with another predicate.
void build_lop3(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  if (builder.operand_count() != 6 || builder.width(0) != 2) builder.refuse(instruction.spelling());
  const ptx::Scalar& number = instruction.operands[0].elements[0];
  const Ref a = builder.source(std::size_t{1}, 'i'), b = builder.source(std::size_t{2}, 'i');
  const Ref c = builder.source(std::size_t{3}, 'i'), table = builder.source(std::size_t{4}, 'i');
  const Ref joined = builder.source(std::size_t{5}, 'p');
  const Ref result = builder.new_register(SlotKind::word);
  const Ref to = builder.destination(number, 'i');
  const Ref flag = builder.destination(instruction.operands[0].elements[1], 'p');
  Pending& combine = builder.emit(lanes<&arith::lop3>().handler, kInteger);
  combine.dst = result;
  combine.a = a;
  combine.b = b;
  combine.c = c;
  combine.d = table;
  Pending& test = builder.emit_hidden(
      instruction.has("or") ? lanes<[](uint32_t x, bool q) { return x != 0 || q; }>().handler
                            : lanes<[](uint32_t x, bool q) { return x != 0 && q; }>().handler,
      true);
  test.dst = flag;
  test.a = result;
  test.b = joined;
  Pending& copy = builder.emit_hidden(lanes<[](uint32_t x) { return x; }>().handler, true);
  copy.dst = to;
  copy.a = result;
}

}  // namespace

OpcodeFile integer_opcodes() {
  Rows rows;
  add_common<int16_t>(rows, "s16");
  add_common<uint16_t>(rows, "u16");
  add_common<int32_t>(rows, "s32");
  add_common<uint32_t>(rows, "u32");
  add_common<int64_t>(rows, "s64");
  add_common<uint64_t>(rows, "u64");
  add_wide<int16_t>(rows, "s16");
  add_wide<uint16_t>(rows, "u16");
  add_wide<int32_t>(rows, "s32");
  add_wide<uint32_t>(rows, "u32");
  add_24_bit<int32_t>(rows, "s32");
  add_24_bit<uint32_t>(rows, "u32");
  add_fields<int32_t>(rows, "s32");
  add_fields<uint32_t>(rows, "u32");
  add_fields<int64_t>(rows, "s64");
  add_fields<uint64_t>(rows, "u64");
  add_bits<uint16_t>(rows, "b16");
  add_bits<uint32_t>(rows, "b32");
  add_bits<uint64_t>(rows, "b64");
  add_counts<uint32_t>(rows, "b32");
  add_counts<uint64_t>(rows, "b64");
  add_dot_products<std::int8_t, std::int8_t>(rows, "s32.s32");
  add_dot_products<std::int8_t, std::uint8_t>(rows, "s32.u32");
  add_dot_products<std::uint8_t, std::int8_t>(rows, "u32.s32");
  add_dot_products<std::uint8_t, std::uint8_t>(rows, "u32.u32");
  add_rest(rows);
  const std::string types = " u32|s32|u64|s64";
  return {.rows = std::move(rows),
          .built = {{"add", build_carry_add, {"cc" + types}},
                    {"addc", build_carry_add, {"[cc]" + types}},
                    {"sub", build_carry_sub, {"cc" + types}},
                    {"subc", build_carry_sub, {"[cc]" + types}},
                    {"mad", build_carry_mad, {"lo|hi cc" + types}},
                    {"madc", build_carry_mad, {"lo|hi [cc]" + types}},
                    {"lop3", build_lop3, {"or|and b32"}}}};
}

}  // namespace simgpu
