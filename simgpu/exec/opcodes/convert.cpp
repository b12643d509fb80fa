#include "simgpu/arith/convert.h"

#include <cmath>
#include <optional>

#include "simgpu/exec/lanes.h"

/// cvt, in all directions between integers, f16, bf16, tf32, f32 and f64.
///
/// A conversion is one lane function from the source's value to the destination's; a destination
/// register that is wider than its type takes the value sign- or zero-extended, as PTX says.
namespace simgpu {
namespace {

using arith::Round;

struct ConvertForm {
  std::string to, from;
  Round round = Round::nearest_even;
  bool has_round = false, integral = false, flush = false, saturate = false, relu = false;
  bool finite = false;  ///< .satfinite: the largest number instead of infinity
};

std::optional<Round> round_of(const std::string& modifier) {
  if (modifier == "rn" || modifier == "rni") return Round::nearest_even;
  if (modifier == "rz" || modifier == "rzi") return Round::zero;
  if (modifier == "rm" || modifier == "rmi") return Round::down;
  if (modifier == "rp" || modifier == "rpi") return Round::up;
  if (modifier == "rna") return Round::nearest_away;
  return std::nullopt;
}

bool is_half(const std::string& type) { return type == "f16" || type == "bf16"; }

ConvertForm parse_form(KernelBuilder& builder) {
  const ptx::Instruction& instruction = builder.instruction();
  ConvertForm form;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto round = round_of(modifier)) {
      form.round = *round;
      form.has_round = true;
      form.integral = modifier.back() == 'i';
    } else if (modifier == "ftz") {
      form.flush = true;
    } else if (modifier == "sat") {
      form.saturate = true;
    } else if (modifier == "satfinite") {
      form.finite = true;
    } else if (modifier == "relu") {
      form.relu = true;
    } else if (form.to.empty()) {
      form.to = modifier;
    } else {
      form.from = modifier;
    }
  }
  const bool has_finite = form.from == "f32" && (form.to == "tf32" || is_half(form.to) ||
                                                 form.to == "f16x2" || form.to == "bf16x2");
  if (form.from.empty() || (form.finite && !has_finite)) builder.refuse(instruction.spelling());
  return form;
}

/// Calls `visit` with a value of the C++ type of an integer type name; false for other names.
template <class Visit>
bool with_integer(const std::string& name, Visit visit) {
  if (name == "u8" || name == "b8")
    visit(std::uint8_t{});
  else if (name == "s8")
    visit(std::int8_t{});
  else if (name == "u16" || name == "b16")
    visit(std::uint16_t{});
  else if (name == "s16")
    visit(std::int16_t{});
  else if (name == "u32" || name == "b32")
    visit(std::uint32_t{});
  else if (name == "s32")
    visit(std::int32_t{});
  else if (name == "u64" || name == "b64")
    visit(std::uint64_t{});
  else if (name == "s64")
    visit(std::int64_t{});
  else
    return false;
  return true;
}

/// Calls `visit` with an integral_constant of the rounding mode; nearest_away only exists for tf32.
template <class Visit>
void with_round(Round round, Visit visit) {
  switch (round) {
    case Round::nearest_even:
      return visit(std::integral_constant<Round, Round::nearest_even>{});
    case Round::zero:
      return visit(std::integral_constant<Round, Round::zero>{});
    case Round::down:
      return visit(std::integral_constant<Round, Round::down>{});
    case Round::up:
      return visit(std::integral_constant<Round, Round::up>{});
    case Round::nearest_away:
      return;
  }
}

template <class To, class From>
Implementation integer_to_integer(bool wide, bool saturate) {
  if (saturate)
    return wide ? lanes<&arith::saturated<To, From>>() : lanes<&arith::saturated32<To, From>>();
  return wide ? lanes<&arith::integer64<To, From>>() : lanes<&arith::integer32<To, From>>();
}

template <class Int, Round kRound>
Implementation float_to_integer(const ConvertForm& form, bool wide) {
  if (form.from == "f64") {
    return wide ? lanes<&arith::from_float64<Int, kRound, false, double>>()
                : lanes<&arith::from_float32<Int, kRound, false, double>>();
  }
  if (form.flush) {
    return wide ? lanes<&arith::from_float64<Int, kRound, true, float>>()
                : lanes<&arith::from_float32<Int, kRound, true, float>>();
  }
  return wide ? lanes<&arith::from_float64<Int, kRound, false, float>>()
              : lanes<&arith::from_float32<Int, kRound, false, float>>();
}

template <class Int, Round kRound>
Implementation integer_to_float(const std::string& to) {
  if (to == "f64") return lanes<&arith::integer_to_float<double, kRound, Int>>();
  if (to == "f16") return lanes<&arith::integer_to_f16<kRound, Int>>();
  if (to == "bf16") return lanes<&arith::integer_to_bf16<kRound, Int>>();
  return lanes<&arith::integer_to_float<float, kRound, Int>>();
}

template <bool kFtz, bool kSat>
Implementation float_to_float(const ConvertForm& form) {
  Implementation code;
  if (form.from == "f32" && form.to == "f64") return lanes<&arith::f32_to_f64<kFtz, kSat>>();
  with_round(form.round, [&](auto mode) {
    constexpr Round kRound = decltype(mode)::value;
    if (form.from == "f64" && form.to == "f32") {
      code = lanes<&arith::f64_to_f32<kRound, kFtz, kSat>>();
    } else if (form.from == "f32" && form.to == "f32") {
      code = form.integral ? lanes<&arith::integral_f32<kRound, kFtz, kSat>>()
                           : lanes<&arith::copied_f32<kFtz, kSat>>();
    } else if (form.from == "f64" && form.to == "f64") {
      code = form.integral ? lanes<&arith::integral_f64<kRound, kSat>>()
                           : lanes<&arith::copied_f64<kSat>>();
    }
  });
  return code;
}

template <class H, arith::Clamp kClamp>
Implementation narrow_half(const ConvertForm& form) {
  Implementation code;
  with_round(form.round, [&](auto mode) {
    constexpr Round kRound = decltype(mode)::value;
    if (form.integral) {  // between the same 16-bit type: what the rounding leaves is exact in it
      code = lanes<&arith::integral_half<H, kRound, kClamp>>();
    } else if (form.from == "f64") {
      code = lanes<&arith::narrow_to_half<H, kRound, false, kClamp, double>>();
    } else if (form.flush) {
      code = lanes<&arith::narrow_to_half<H, kRound, true, kClamp, float>>();
    } else {
      code = lanes<&arith::narrow_to_half<H, kRound, false, kClamp, float>>();
    }
  });
  return code;
}

template <class H>
Implementation to_half(const ConvertForm& form) {
  if (form.saturate) return narrow_half<H, arith::Clamp::sat>(form);
  if (form.relu) return narrow_half<H, arith::Clamp::relu>(form);
  return narrow_half<H, arith::Clamp::none>(form);
}

template <class H>
Implementation to_packed(const ConvertForm& form) {
  using arith::Clamp;
  if (form.round == Round::zero) {
    return form.relu ? lanes<&arith::narrow_to_packed<H, Round::zero, Clamp::relu>>()
                     : lanes<&arith::narrow_to_packed<H, Round::zero>>();
  }
  return form.relu ? lanes<&arith::narrow_to_packed<H, Round::nearest_even, Clamp::relu>>()
                   : lanes<&arith::narrow_to_packed<H, Round::nearest_even>>();
}

bool is_float(const std::string& type) { return type == "f32" || type == "f64"; }

/// cvt.rz.tf32.f32: the low 13 bits become zero.
std::uint32_t f32_to_tf32_rz(float x) {
  return std::isnan(x) ? arith::kNanTf32 : arith::bits_of(x) & 0xffffe000U;
}
/// .relu: 0 for what is negative, but for a NaN.
template <std::uint32_t (*F)(float)>
std::uint32_t positive_tf32(float x) {
  const std::uint32_t bits = F(x);
  return (bits & 0x80000000U) != 0 ? 0 : bits;
}

Implementation to_tf32(const ConvertForm& form) {
  if (form.round == Round::nearest_even) {
    return form.relu ? lanes<&positive_tf32<&arith::f32_to_tf32_rn>>()
                     : lanes<&arith::f32_to_tf32_rn>();
  }
  if (form.round != Round::zero) return {};
  return form.relu ? lanes<&positive_tf32<&f32_to_tf32_rz>>() : lanes<&f32_to_tf32_rz>();
}

/// The conversion from a float (f16 and bf16 already widened), or between integers.
Implementation find_conversion(const ConvertForm& form, bool wide) {
  Implementation code;
  if (is_float(form.from)) {
    if (is_float(form.to)) {
      if (form.flush)
        return form.saturate ? float_to_float<true, true>(form) : float_to_float<true, false>(form);
      return form.saturate ? float_to_float<false, true>(form) : float_to_float<false, false>(form);
    }
    if (form.to == "f16") return to_half<arith::F16>(form);
    if (form.to == "bf16") return to_half<arith::Bf16>(form);
    if (form.to == "tf32" && form.from == "f32") {
      if (form.round == Round::nearest_away) return lanes<&arith::f32_to_tf32_rna>();
      return to_tf32(form);
    }
    with_integer(form.to, [&](auto to) {
      with_round(form.round, [&](auto mode) {
        code = float_to_integer<decltype(to), decltype(mode)::value>(form, wide);
      });
    });
    return code;
  }
  with_integer(form.from, [&](auto from) {
    using From = decltype(from);
    const bool integers = with_integer(form.to, [&](auto to) {
      code = integer_to_integer<decltype(to), From>(wide, form.saturate);
    });
    if (integers || (!is_float(form.to) && !is_half(form.to))) return;
    with_round(form.round,
               [&](auto mode) { code = integer_to_float<From, decltype(mode)::value>(form.to); });
  });
  return code;
}

/// f16 and bf16 sources: widened exactly to f32 by an instruction of their own.
Ref widened(KernelBuilder& builder, const std::string& type, Ref half, bool keeps_nan) {
  const Ref wide = builder.new_register(SlotKind::word);
  const bool is_f16 = type == "f16";
  const Implementation plain =
      is_f16 ? lanes<&arith::widen_half<arith::F16>>() : lanes<&arith::widen_half<arith::Bf16>>();
  const Implementation keeping =
      is_f16 ? lanes<&arith::widen_half_keeping_nan<arith::F16>>() : lanes<&arith::shifted_bf16>();
  Pending& pending = builder.emit_hidden((keeps_nan ? keeping : plain).handler);
  pending.a = half;
  pending.dst = wide;
  return wide;
}

bool is_integer(const std::string& type) {
  return with_integer(type, [](auto) {});
}

/// Where a conversion runs: integers become wider or narrower ones, and bf16 its f32 by a shift, on
/// the integer pipe, as the throughput table of the CUDA programming guide has them.
Cost cost_of(const std::string& to, const std::string& from) {
  const bool shift = from == "bf16" && to == "f32";
  if (shift || (is_integer(from) && is_integer(to))) return {.cls = InstructionClass::integer};
  return {.cls = InstructionClass::conversion};
}

/// The largest number where a float of 16 bits, or two, is infinite.
template <std::uint32_t kInfinity>
std::uint32_t finite_halves(std::uint32_t halves) {
  const auto finite = [](std::uint32_t half) {
    return (half & 0x7fffU) == kInfinity ? half - 1 : half;
  };
  return finite(halves & 0xffffU) | finite(halves >> 16) << 16;
}
std::uint32_t finite_tf32(std::uint32_t bits) {
  return (bits & 0x7fffffffU) == 0x7f800000U ? (bits & 0x80000000U) | 0x7f7fe000U : bits;
}

/// .satfinite: what the conversion gives goes through another instruction.
Ref before_finite(KernelBuilder& builder, const ConvertForm& form, Ref dst) {
  return form.finite ? builder.new_register(SlotKind::word) : dst;
}
void make_finite(KernelBuilder& builder, const ConvertForm& form, Ref from, Ref dst) {
  if (!form.finite) return;
  const Handler handler = form.to == "tf32"   ? lanes<&finite_tf32>().handler
                          : form.to[0] == 'b' ? lanes<&finite_halves<0x7f80>>().handler
                                              : lanes<&finite_halves<0x7c00>>().handler;
  Pending& pending = builder.emit_hidden(handler, true);
  pending.a = from;
  pending.dst = dst;
}

void build_packed(KernelBuilder& builder, const ConvertForm& form) {
  if (form.from != "f32" || builder.operand_count() != 3 || form.saturate ||
      (form.round != Round::nearest_even && form.round != Round::zero)) {
    builder.refuse(builder.instruction().spelling());
  }
  const Implementation code =
      form.to == "f16x2" ? to_packed<arith::F16>(form) : to_packed<arith::Bf16>(form);
  const Ref a = builder.source(std::size_t{1}, 'f');
  const Ref b = builder.source(std::size_t{2}, 'f');
  const Ref dst = builder.destination(std::size_t{0}, 'i');
  const Ref first = before_finite(builder, form, dst);
  Pending& pending = builder.emit(code.handler, cost_of(form.to, form.from));
  pending.a = a;
  pending.b = b;
  pending.dst = first;
  make_finite(builder, form, first, dst);
}

void build_convert(KernelBuilder& builder) {
  ConvertForm form = parse_form(builder);
  const ptx::Instruction& instruction = builder.instruction();
  if (form.to == "f16x2" || form.to == "bf16x2") return build_packed(builder, form);
  const unsigned bits = builder.register_bits(instruction.operands.at(0).elements.at(0));
  const bool wide = bits == 64;
  const std::string from = form.from;
  if (is_half(from)) form.from = "f32";
  const bool is_shift = from == "bf16" && form.to == "f32" && !form.saturate && !form.flush;
  const Implementation code =
      is_shift ? Implementation(lanes<&arith::same_f32>()) : find_conversion(form, wide);
  if (code.handler == nullptr || builder.operand_count() != 2) {
    builder.refuse(instruction.spelling());
  }
  const char source_kind = code.signature.at(2);
  const char result_kind = code.signature.at(0);
  Ref source = builder.source(std::size_t{1}, is_half(from) ? 'i' : source_kind);
  if (is_half(from)) source = widened(builder, from, source, form.to == "f64" || is_shift);
  const Ref dst = builder.destination(std::size_t{0}, result_kind);
  const Ref first = before_finite(builder, form, dst);
  Pending& pending = builder.emit(code.handler, cost_of(form.to, from));
  pending.a = source;
  pending.dst = first;
  make_finite(builder, form, first, dst);
}

}  // namespace

OpcodeFile convert_opcodes() {
  const std::string type =
      " u8|s8|b8|u16|s16|b16|u32|s32|b32|u64|s64|b64|f16|bf16|f16x2|bf16x2|tf32|f32|f64";
  return {.built = {
              {"cvt",
               build_convert,
               {"[rn|rz|rm|rp|rna|rni|rzi|rmi|rpi] [ftz] [sat|satfinite] [relu]" + type + type}}}};
}

}  // namespace simgpu
