#include "simgpu/arith/compare.h"

#include "simgpu/exec/lanes.h"

/// setp, set, slct.
namespace simgpu {
namespace {

using arith::Comparison;
using arith::PredicateJoin;

constexpr Cost kInteger{.cls = InstructionClass::integer};
constexpr Cost kFloat{.cls = InstructionClass::fp32};
constexpr Cost kDouble{.cls = InstructionClass::fp64};
constexpr Cost kHalf{.cls = InstructionClass::fp16};

/// A 16-bit float in a register, compared as its f32 value.
template <class H>
struct HalfValue {
  using Word = std::uint16_t;
  using Number = float;
  static float number(std::uint16_t bits) { return H::widen(bits); }
};
template <class T>
struct PlainValue {
  using Word = T;
  using Number = T;
  static T number(T value) { return value; }
};

template <class V, Comparison kComparison>
bool compare_lane(typename V::Word a, typename V::Word b) {
  return arith::compare<kComparison, typename V::Number>(V::number(a), V::number(b));
}

/// Writes the comparisons' results, each joined with predicate c; dst2 only when it is there.
const Lowered* write_joined(const Lowered* in, Warp& warp, std::uint32_t first,
                            std::uint32_t second) {
  const auto how = static_cast<PredicateJoin>(in->option & 0xFFU);
  const std::uint32_t other = how == PredicateJoin::none ? 0 : predicate(warp, in->c);
  write_predicate(warp, in->dst, arith::join_masks(how, first, other));
  if (in->option & 0x100U) write_predicate(warp, in->dst2, arith::join_masks(how, second, other));
  return in + 1;
}

/// dst is the result, dst2 its complement (setp p|q).
template <class V, Comparison kComparison>
const Lowered* setp(const Lowered* in, Warp& warp) {
  using Word = typename V::Word;
  const std::uint32_t compared = evaluate_bits<&compare_lane<V, kComparison>>(
      Source<Word>(warp, in->a), Source<Word>(warp, in->b));
  return write_joined(in, warp, compared, ~compared);
}

/// f16x2 and bf16x2: the lower halves decide dst, the upper ones dst2.
template <class V, Comparison kComparison>
const Lowered* setp_packed(const Lowered* in, Warp& warp) {
  const Word32* const a = words(warp, in->a);
  const Word32* const b = words(warp, in->b);
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const bool lower = compare_lane<V, kComparison>(static_cast<std::uint16_t>(a[lane]),
                                                    static_cast<std::uint16_t>(b[lane]));
    const bool upper = compare_lane<V, kComparison>(static_cast<std::uint16_t>(a[lane] >> 16),
                                                    static_cast<std::uint16_t>(b[lane] >> 16));
    low |= static_cast<std::uint32_t>(lower) << lane;
    high |= static_cast<std::uint32_t>(upper) << lane;
  }
  return write_joined(in, warp, low, high);
}

template <class V>
Handler pick_packed(Comparison comparison) {
  using enum Comparison;
  switch (comparison) {
    case eq:
      return &setp_packed<V, eq>;
    case ne:
      return &setp_packed<V, ne>;
    case lt:
      return &setp_packed<V, lt>;
    case le:
      return &setp_packed<V, le>;
    case gt:
      return &setp_packed<V, gt>;
    case ge:
      return &setp_packed<V, ge>;
    case equ:
      return &setp_packed<V, equ>;
    case neu:
      return &setp_packed<V, neu>;
    case ltu:
      return &setp_packed<V, ltu>;
    case leu:
      return &setp_packed<V, leu>;
    case gtu:
      return &setp_packed<V, gtu>;
    case geu:
      return &setp_packed<V, geu>;
    case num:
      return &setp_packed<V, num>;
    case nan:
      return &setp_packed<V, nan>;
  }
  return nullptr;
}

template <class V>
Handler pick(Comparison comparison) {
  using enum Comparison;
  switch (comparison) {
    case eq:
      return &setp<V, eq>;
    case ne:
      return &setp<V, ne>;
    case lt:
      return &setp<V, lt>;
    case le:
      return &setp<V, le>;
    case gt:
      return &setp<V, gt>;
    case ge:
      return &setp<V, ge>;
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<typename V::Number>) {
    switch (comparison) {
      case equ:
        return &setp<V, equ>;
      case neu:
        return &setp<V, neu>;
      case ltu:
        return &setp<V, ltu>;
      case leu:
        return &setp<V, leu>;
      case gtu:
        return &setp<V, gtu>;
      case geu:
        return &setp<V, geu>;
      case num:
        return &setp<V, num>;
      case nan:
        return &setp<V, nan>;
      default:
        break;
    }
  }
  return nullptr;
}

struct CompareType {
  char kind = 'i';
  Cost cost;
  Handler (*pick)(Comparison) = nullptr;
  bool packed = false;
};

const CompareType* find_type(const std::string& name) {
  static const std::map<std::string, CompareType> kTypes{
      {"s16", {'i', kInteger, &pick<PlainValue<std::int16_t>>}},
      {"u16", {'i', kInteger, &pick<PlainValue<std::uint16_t>>}},
      {"b16", {'i', kInteger, &pick<PlainValue<std::uint16_t>>}},
      {"s32", {'i', kInteger, &pick<PlainValue<std::int32_t>>}},
      {"u32", {'i', kInteger, &pick<PlainValue<std::uint32_t>>}},
      {"b32", {'i', kInteger, &pick<PlainValue<std::uint32_t>>}},
      {"s64", {'l', kInteger, &pick<PlainValue<std::int64_t>>}},
      {"u64", {'l', kInteger, &pick<PlainValue<std::uint64_t>>}},
      {"b64", {'l', kInteger, &pick<PlainValue<std::uint64_t>>}},
      {"f32", {'f', kFloat, &pick<PlainValue<float>>}},
      {"f64", {'d', kDouble, &pick<PlainValue<double>>}},
      {"f16", {'i', kHalf, &pick<HalfValue<arith::F16>>}},
      {"bf16", {'i', kHalf, &pick<HalfValue<arith::Bf16>>}},
      {"f16x2", {'i', kHalf, &pick_packed<HalfValue<arith::F16>>, true}},
      {"bf16x2", {'i', kHalf, &pick_packed<HalfValue<arith::Bf16>>, true}}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? nullptr : &found->second;
}

struct CompareForm {
  Comparison comparison = Comparison::eq;
  PredicateJoin join = PredicateJoin::none;
  std::vector<std::string> types;  ///< as written
  const CompareType* type = nullptr;
  bool flush = false;
};

/// Types keep their order, the comparison's being the last one; that of all else does not matter.
CompareForm parse_form(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  CompareForm form;
  bool compares = false;
  for (const std::string& modifier : instruction.modifiers) {
    const auto comparison = arith::comparison_of(modifier);
    if (comparison && !compares) {
      form.comparison = *comparison;
      compares = true;
    } else if (modifier == "and") {
      form.join = PredicateJoin::conjunction;
    } else if (modifier == "or") {
      form.join = PredicateJoin::disjunction;
    } else if (modifier == "xor") {
      form.join = PredicateJoin::exclusive;
    } else if (modifier == "ftz") {
      form.flush = true;
    } else {
      form.types.push_back(modifier);
    }
  }
  const std::size_t types = instruction.opcode == "set" ? 2 : 1;
  if (!compares || form.types.size() != types) builder.refuse(instruction.spelling());
  form.type = find_type(form.types.back());
  if (form.type == nullptr) builder.refuse(instruction.spelling());
  return form;
}

/// Both halves of a register; a scalar's upper half is zero and stays so.
std::uint32_t flush_f16(std::uint32_t halves) {
  constexpr std::uint16_t kExponent = arith::F16::kExponent;
  return arith::pack_halves(arith::flush_half(arith::low_half(halves), kExponent),
                            arith::flush_half(arith::high_half(halves), kExponent));
}

/// .ftz: subnormal operands count as zero. A hidden instruction flushes each.
Ref flushed(KernelBuilder& builder, Ref value, const CompareForm& form) {
  const std::string& type = form.types.back();
  if (!form.flush || (type != "f32" && type != "f16" && type != "f16x2")) return value;
  const Ref result = builder.new_register(SlotKind::word);
  Pending& pending = builder.emit_hidden(
      type == "f32" ? lanes<[](float x) { return arith::flush_subnormal(x); }>().handler
                    : lanes<&flush_f16>().handler);
  pending.a = value;
  pending.dst = result;
  return result;
}

void emit_setp(KernelBuilder& builder, const CompareForm& form, Ref dst, Ref dst2) {
  const Handler handler = form.type->pick(form.comparison);
  const bool joins = form.join != PredicateJoin::none;
  if (handler == nullptr) builder.refuse(builder.instruction().spelling());
  const char kind = form.type->kind;
  const Ref a = flushed(builder, builder.source(std::size_t{1}, kind), form);
  const Ref b = flushed(builder, builder.source(std::size_t{2}, kind), form);
  const Ref c = joins ? builder.source(std::size_t{3}, 'p') : Ref{};
  Pending& pending = builder.emit(handler, form.type->cost);
  pending.dst = dst;
  pending.dst2 = dst2;
  pending.a = a;
  pending.b = b;
  pending.c = c;
  pending.option =
      static_cast<std::uint32_t>(form.join) | (dst2.kind == Ref::Kind::none ? 0U : 0x100U);
}

void build_setp(KernelBuilder& builder) {
  const CompareForm form = parse_form(builder);
  const auto& elements = builder.instruction().operands.at(0).elements;
  const Ref dst = builder.destination(elements.at(0), 'p');
  const Ref dst2 = elements.size() > 1 ? builder.destination(elements[1], 'p') : Ref{};
  emit_setp(builder, form, dst, dst2);
}

template <std::uint32_t kTrue>
std::uint32_t chosen(bool p) {
  return p ? kTrue : 0U;
}
template <std::uint32_t kTrue>
std::uint32_t chosen_by_halves(bool low, bool high) {
  return (low ? kTrue : 0U) | (high ? kTrue << 16 : 0U);
}

/// What writes one predicate as a number of `type`, or two (packed) as its halves: 1.0 for floats,
/// all ones for integers. nullptr when there is no such form of set.
Handler result_of_set(const std::string& type, bool packed) {
  constexpr std::uint32_t kOneF16 = arith::F16::kOne;
  constexpr std::uint32_t kOneBf16 = arith::Bf16::kOne;
  static const std::map<std::string, Handler> kScalar{
      {"f32", lanes<&chosen<0x3F800000U>>().handler},
      {"f16", lanes<&chosen<kOneF16>>().handler},
      {"bf16", lanes<&chosen<kOneBf16>>().handler},
      {"u16", lanes<&chosen<0xFFFFU>>().handler},
      {"s16", lanes<&chosen<0xFFFFU>>().handler},
      {"u32", lanes<&chosen<0xFFFFFFFFU>>().handler},
      {"s32", lanes<&chosen<0xFFFFFFFFU>>().handler}};
  static const std::map<std::string, Handler> kPacked{
      {"f16x2", lanes<&chosen_by_halves<kOneF16>>().handler},
      {"bf16x2", lanes<&chosen_by_halves<kOneBf16>>().handler},
      {"u32", lanes<&chosen_by_halves<0xFFFFU>>().handler},
      {"s32", lanes<&chosen_by_halves<0xFFFFU>>().handler}};
  const auto& all = packed ? kPacked : kScalar;
  const auto found = all.find(type);
  return found == all.end() ? nullptr : found->second;
}

/// set: setp, and then the predicate as a number.
void build_set(KernelBuilder& builder) {
  const CompareForm form = parse_form(builder);
  const Handler number = result_of_set(form.types.front(), form.type->packed);
  if (number == nullptr) builder.refuse(builder.instruction().spelling());
  const Ref result = builder.destination(std::size_t{0}, 'i');
  const Ref flag = builder.new_register(SlotKind::predicate);
  const Ref upper = form.type->packed ? builder.new_register(SlotKind::predicate) : Ref{};
  emit_setp(builder, form, flag, upper);
  Pending& pending = builder.emit_hidden(number, true);
  pending.a = flag;
  pending.b = upper;
  pending.dst = result;
}

template <class T>
void add_slct(std::vector<OpcodeRow>& rows, const std::string& type) {
  rows.push_back({"slct." + type + ".s32",
                  lanes<[](T a, T b, std::int32_t c) { return arith::slct(a, b, c); }>(),
                  kInteger});
  rows.push_back({"slct." + type + ".f32",
                  lanes<[](T a, T b, float c) { return arith::slct(a, b, c); }>(), kInteger});
  rows.push_back(
      {"slct.ftz." + type + ".f32",
       lanes<[](T a, T b, float c) { return arith::slct(a, b, arith::flush_subnormal(c)); }>(),
       kInteger});
}

}  // namespace

OpcodeFile compare_opcodes() {
  std::vector<OpcodeRow> rows;
  add_slct<std::uint16_t>(rows, "{b16|u16|s16}");
  add_slct<std::uint32_t>(rows, "{b32|u32|s32}");
  add_slct<std::uint64_t>(rows, "{b64|u64|s64}");
  add_slct<float>(rows, "f32");
  add_slct<double>(rows, "f64");
  const std::string how =
      "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan [and|or|xor] ";
  const std::string flushed = "[ftz] f32|f16|f16x2";
  const std::string others = "s16|u16|b16|s32|u32|b32|s64|u64|b64|f64|bf16|bf16x2";
  const std::string words = "u32|s32";
  return {.rows = std::move(rows),
          .built = {{"setp", build_setp, {how + flushed, how + others}},
                    {"set",
                     build_set,
                     {how + words + "|f32|f16|bf16 s16|u16|b16|s32|u32|b32|s64|u64|b64|f64",
                      how + words + "|f32|f16 [ftz] f32", how + words + "|u16|s16|f16 [ftz] f16",
                      how + "bf16 f32|f16", how + words + "|u16|s16|bf16 bf16",
                      how + words + "|f16x2 [ftz] f16x2", how + words + "|bf16x2 bf16x2"}}}};
}

}  // namespace simgpu
