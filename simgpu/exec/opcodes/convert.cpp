#include "simgpu/arith/convert.h"

#include <map>

#include "simgpu/exec/lanes.h"

/// cvt.
namespace simgpu {
namespace {

using arith::Bf16;
using arith::Clamp;
using arith::F16;
using arith::Round;

constexpr Cost kConversion{.cls = InstructionClass::conversion};
constexpr Cost kInteger{.cls = InstructionClass::integer};

/// A negative .s8 or .s16 result fills the register it goes to: 16 or 32 bits.
struct NarrowConversion {
  Implementation to_16_bits;
  Implementation to_32_bits;
  Cost cost;
};

struct Conversions {
  std::vector<OpcodeRow> rows;
  std::map<std::string, NarrowConversion> narrow;
};

template <auto F, class Register, class Source>
Register extended(Source value) {
  return static_cast<Register>(F(value));
}

/// One form, F from Source to Dst; both are what a register holds of the type.
template <class Dst, class Source, auto F>
void add(Conversions& all, const std::string& spelling, const Cost& cost) {
  if constexpr (std::is_same_v<Dst, std::int8_t> || std::is_same_v<Dst, std::int16_t>) {
    all.narrow[spelling] = {lanes<&extended<F, std::int16_t, Source>>(),
                            lanes<&extended<F, std::int32_t, Source>>(), cost};
  } else {
    all.rows.push_back({spelling, lanes<F>(), cost});
  }
}

template <class Int>
std::string name() {
  return (std::is_signed_v<Int> ? "s" : "u") + std::to_string(8 * sizeof(Int));
}

template <class... Ints>
struct IntegerTypes {};
using AllIntegers = IntegerTypes<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                 std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

/// The four modes with their names: .rn of "cvt.rn", and with an "i" behind it the integral
/// rounding.
template <class Visitor>
void for_each_mode(Visitor visit) {
  visit.template operator()<Round::nearest_even>(".rn");
  visit.template operator()<Round::zero>(".rz");
  visit.template operator()<Round::down>(".rm");
  visit.template operator()<Round::up>(".rp");
}

template <class Dst, class Src>
Dst cut_integer(Src x) {
  return static_cast<Dst>(x);
}

template <class Dst, class Src>
void add_integer_pair(Conversions& all) {
  const std::string types = "." + name<Dst>() + "." + name<Src>();
  add<Dst, Src, &cut_integer<Dst, Src>>(all, "cvt" + types, kInteger);
  add<Dst, Src, &arith::saturate_integer<Dst, Src>>(all, "cvt.sat" + types, kInteger);
}

template <class Int, Round kRound, bool kFtz, class Float>
Int from_float(Float x) {
  return arith::float_to_integer<Int, kRound, kFtz>(x);
}
template <class Int, Round kRound, class H>
Int from_half(std::uint16_t x) {
  return arith::float_to_integer<Int, kRound>(H::widen(x));
}

/// Everything between one integer type and the floating-point types.
template <class Int>
void add_integer_and_floats(Conversions& all) {
  const std::string type = "." + name<Int>();
  for_each_mode([&]<Round kRound>(const std::string& mode) {
    const std::string to = "cvt" + mode + "i";
    add<Int, float, &from_float<Int, kRound, false, float>>(all, to + type + ".f32", kConversion);
    add<Int, float, &from_float<Int, kRound, true, float>>(all, to + ".ftz" + type + ".f32",
                                                           kConversion);
    add<Int, double, &from_float<Int, kRound, false, double>>(all, to + type + ".f64", kConversion);
    add<Int, std::uint16_t, &from_half<Int, kRound, F16>>(all, to + type + ".f16", kConversion);
    add<Int, std::uint16_t, &from_half<Int, kRound, Bf16>>(all, to + type + ".bf16", kConversion);
    const std::string from = "cvt" + mode;
    add<float, Int, &arith::integer_to_float<float, kRound, Int>>(all, from + ".f32" + type,
                                                                  kConversion);
    add<double, Int, &arith::integer_to_float<double, kRound, Int>>(all, from + ".f64" + type,
                                                                    kConversion);
    add<std::uint16_t, Int, &arith::integer_to_f16<kRound, Int>>(all, from + ".f16" + type,
                                                                 kConversion);
    add<std::uint16_t, Int, &arith::integer_to_bf16<kRound, Int>>(all, from + ".bf16" + type,
                                                                  kConversion);
  });
}

template <class Dst, class... Sources>
void add_integer_sources(Conversions& all, IntegerTypes<Sources...> /*sources*/) {
  (add_integer_pair<Dst, Sources>(all), ...);
}

template <class... Ints>
void add_integers(Conversions& all, IntegerTypes<Ints...> types) {
  (add_integer_sources<Ints>(all, types), ...);
  (add_integer_and_floats<Ints>(all), ...);
}

void add_row(Conversions& all, const std::string& spelling, const Implementation& code) {
  all.rows.push_back({spelling, code, kConversion});
}

template <class H, Round kRound, Clamp kClamp>
std::uint16_t integral_half(std::uint16_t x) {
  return arith::narrow_to_half<H, Round::nearest_even, false, kClamp>(
      arith::round_integral<kRound>(H::widen(x)));
}

/// f32 and f64 to narrower types, and to integral values of the same type.
template <bool kSat>
void add_narrowing(Conversions& all) {
  const std::string sat = kSat ? ".sat" : "";
  constexpr Clamp kClamp = kSat ? Clamp::sat : Clamp::none;
  for_each_mode([&]<Round kRound>(const std::string& mode) {
    const std::string cvt = "cvt" + mode;
    add_row(all, cvt + sat + ".f32.f64", lanes<&arith::f64_to_f32<kRound, false, kSat>>());
    add_row(all, cvt + ".ftz" + sat + ".f32.f64", lanes<&arith::f64_to_f32<kRound, true, kSat>>());
    add_row(all, cvt + sat + ".f16.f32",
            lanes<&arith::narrow_to_half<F16, kRound, false, kClamp, float>>());
    add_row(all, cvt + ".ftz" + sat + ".f16.f32",
            lanes<&arith::narrow_to_half<F16, kRound, true, kClamp, float>>());
    add_row(all, cvt + sat + ".f16.f64",
            lanes<&arith::narrow_to_half<F16, kRound, false, kClamp, double>>());
    add_row(all, cvt + sat + ".bf16.f32",
            lanes<&arith::narrow_to_half<Bf16, kRound, false, kClamp, float>>());
    add_row(all, cvt + sat + ".bf16.f64",
            lanes<&arith::narrow_to_half<Bf16, kRound, false, kClamp, double>>());
    const std::string whole = cvt + "i";
    add_row(all, whole + sat + ".f32.f32", lanes<&arith::integral_f32<kRound, false, kSat>>());
    add_row(all, whole + ".ftz" + sat + ".f32.f32",
            lanes<&arith::integral_f32<kRound, true, kSat>>());
    add_row(all, whole + sat + ".f64.f64", lanes<&arith::integral_f64<kRound, kSat>>());
    add_row(all, whole + sat + ".f16.f16", lanes<&integral_half<F16, kRound, kClamp>>());
    add_row(all, whole + sat + ".bf16.bf16", lanes<&integral_half<Bf16, kRound, kClamp>>());
  });
}

template <class H, bool kSat>
double half_to_f64(std::uint16_t x) {
  return arith::f32_to_f64<false, kSat>(H::widen(x));
}

template <bool kSat>
void add_widening(Conversions& all) {
  const std::string sat = kSat ? ".sat" : "";
  add_row(all, "cvt" + sat + ".f64.f32", lanes<&arith::f32_to_f64<false, kSat>>());
  add_row(all, "cvt.ftz" + sat + ".f64.f32", lanes<&arith::f32_to_f64<true, kSat>>());
  // A subnormal f16 is a normal f32, so .ftz changes nothing.
  add_row(all, "cvt[.ftz]" + sat + ".f32.f16", lanes<&arith::widen_half<F16, kSat>>());
  add_row(all, "cvt" + sat + ".f32.bf16", lanes<&arith::widen_half<Bf16, kSat>>());
  add_row(all, "cvt" + sat + ".f64.f16", lanes<&half_to_f64<F16, kSat>>());
  add_row(all, "cvt" + sat + ".f64.bf16", lanes<&half_to_f64<Bf16, kSat>>());
  add_row(all, "cvt" + sat + ".f32.f32", lanes<&arith::result_f32<false, kSat>>());
  add_row(all, "cvt.ftz" + sat + ".f32.f32", lanes<&arith::result_f32<true, kSat>>());
}

template <class H, Round kRound>
void add_packed(Conversions& all, const std::string& mode, const std::string& type) {
  add_row(all, "cvt" + mode + "." + type + "x2.f32",
          lanes<&arith::narrow_to_packed<H, kRound, Clamp::none>>());
  add_row(all, "cvt" + mode + ".relu." + type + "x2.f32",
          lanes<&arith::narrow_to_packed<H, kRound, Clamp::relu>>());
  add_row(all, "cvt" + mode + ".relu." + type + ".f32",
          lanes<&arith::narrow_to_half<H, kRound, false, Clamp::relu, float>>());
}

const Conversions& conversions() {
  static const Conversions kAll = [] {
    Conversions all;
    add_integers(all, AllIntegers{});
    add_narrowing<false>(all);
    add_narrowing<true>(all);
    add_widening<false>(all);
    add_widening<true>(all);
    add_packed<F16, Round::nearest_even>(all, ".rn", "f16");
    add_packed<F16, Round::zero>(all, ".rz", "f16");
    add_packed<Bf16, Round::nearest_even>(all, ".rn", "bf16");
    add_packed<Bf16, Round::zero>(all, ".rz", "bf16");
    add_row(all, "cvt.rna.tf32.f32", lanes<&arith::f32_to_tf32_rna>());
    add_row(all, "cvt.rn.tf32.f32", lanes<&arith::f32_to_tf32_rn>());
    return all;
  }();
  return kAll;
}

/// What has no row: results of .s8 and .s16, whose sign fills the register.
void build_cvt(KernelBuilder& builder) {
  const std::string spelling = builder.instruction().spelling();
  const auto found = conversions().narrow.find(spelling);
  if (found == conversions().narrow.end() || builder.operand_count() != 2) {
    builder.refuse(spelling);
  }
  const bool fills_32 =
      builder.register_bits(builder.instruction().operands[0].elements.at(0)) == 32;
  const Implementation& code = fills_32 ? found->second.to_32_bits : found->second.to_16_bits;
  const Ref value = builder.source(std::size_t{1}, code.signature.back());
  const Ref result = builder.destination(std::size_t{0}, 'i');
  Pending& pending = builder.emit(code.handler, found->second.cost);
  pending.a = value;
  pending.dst = result;
}

}  // namespace

std::vector<OpcodeRow> convert_rows() { return conversions().rows; }

std::vector<BuiltOpcode> built_convert() { return {{"cvt", build_cvt}}; }

}  // namespace simgpu
