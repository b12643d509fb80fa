#include "simgpu/arith/approximate.h"
#include "simgpu/arith/compare.h"
#include "simgpu/arith/float32.h"
#include "simgpu/arith/float64.h"
#include "simgpu/exec/lanes.h"

/// f32 and f64 arithmetic.
namespace simgpu {
namespace {

using arith::Round;
using Rows = std::vector<OpcodeRow>;

constexpr Cost f32(std::uint32_t flops, FloatKind kind = FloatKind::none) {
  return {.cls = InstructionClass::fp32, .flop_type = ptx::Type::f32, .flops = flops, .kind = kind};
}
constexpr Cost f64(std::uint32_t flops) {
  return {.cls = InstructionClass::fp64, .flop_type = ptx::Type::f64, .flops = flops};
}
/// Moves of bits and comparisons: no floating-point operation is counted.
constexpr Cost kSimple32{.cls = InstructionClass::fp32};
constexpr Cost kSimple64{.cls = InstructionClass::fp64};
constexpr Cost kSpecial{.cls = InstructionClass::special, .flop_type = ptx::Type::f32, .flops = 1};

template <Round kRound, bool kFtz, bool kSat>
void add_rounded(Rows& rows, const std::string& modifiers) {
  rows.push_back({"add" + modifiers + ".f32", lanes<&arith::add_f32<kRound, kFtz, kSat>>(),
                  f32(1, FloatKind::add)});
  rows.push_back({"sub" + modifiers + ".f32", lanes<&arith::sub_f32<kRound, kFtz, kSat>>(),
                  f32(1, FloatKind::add)});
  rows.push_back({"mul" + modifiers + ".f32", lanes<&arith::mul_f32<kRound, kFtz, kSat>>(),
                  f32(1, FloatKind::multiply)});
  rows.push_back({"{fma|mad}" + modifiers + ".f32", lanes<&arith::fma_f32<kRound, kFtz, kSat>>(),
                  f32(2, FloatKind::fused)});
}

template <Round kRound, bool kFtz>
void add_divisions(Rows& rows, const std::string& modifiers) {
  rows.push_back({"div" + modifiers + ".f32", lanes<&arith::div_f32<kRound, kFtz>>(), kSpecial});
  rows.push_back({"rcp" + modifiers + ".f32", lanes<&arith::rcp_f32<kRound, kFtz>>(), kSpecial});
  rows.push_back({"sqrt" + modifiers + ".f32", lanes<&arith::sqrt_f32<kRound, kFtz>>(), kSpecial});
}

template <bool kFtz>
void add_with_flush(Rows& rows) {
  const std::string ftz = kFtz ? ".ftz" : "";
  add_rounded<Round::nearest_even, kFtz, false>(rows, "[.rn]" + ftz);
  add_rounded<Round::nearest_even, kFtz, true>(rows, "[.rn]" + ftz + ".sat");
  add_rounded<Round::zero, kFtz, false>(rows, ".rz" + ftz);
  add_rounded<Round::zero, kFtz, true>(rows, ".rz" + ftz + ".sat");
  add_rounded<Round::down, kFtz, false>(rows, ".rm" + ftz);
  add_rounded<Round::down, kFtz, true>(rows, ".rm" + ftz + ".sat");
  add_rounded<Round::up, kFtz, false>(rows, ".rp" + ftz);
  add_rounded<Round::up, kFtz, true>(rows, ".rp" + ftz + ".sat");
  add_divisions<Round::nearest_even, kFtz>(rows, ".rn" + ftz);
  add_divisions<Round::zero, kFtz>(rows, ".rz" + ftz);
  add_divisions<Round::down, kFtz>(rows, ".rm" + ftz);
  add_divisions<Round::up, kFtz>(rows, ".rp" + ftz);
  const auto row = [&](const std::string& spelling, const Implementation& code, const Cost& cost) {
    rows.push_back({spelling, code, cost});
  };
  row("div.full" + ftz + ".f32", lanes<&arith::div_f32<Round::nearest_even, kFtz>>(), kSpecial);
  row("div.approx" + ftz + ".f32", lanes<&arith::div_approx_f32<kFtz>>(), kSpecial);
  row("rcp.approx" + ftz + ".f32", lanes<&arith::rcp_approx_f32<kFtz>>(), kSpecial);
  row("sqrt.approx" + ftz + ".f32", lanes<&arith::sqrt_approx_f32<kFtz>>(), kSpecial);
  row("rsqrt.approx" + ftz + ".f32", lanes<&arith::rsqrt_approx_f32<kFtz>>(), kSpecial);
  row("ex2.approx" + ftz + ".f32", lanes<&arith::ex2_approx_f32<kFtz>>(), kSpecial);
  row("lg2.approx" + ftz + ".f32", lanes<&arith::lg2_approx_f32<kFtz>>(), kSpecial);
  row("sin.approx" + ftz + ".f32", lanes<&arith::sin_approx_f32<kFtz>>(), kSpecial);
  row("cos.approx" + ftz + ".f32", lanes<&arith::cos_approx_f32<kFtz>>(), kSpecial);
  row("abs" + ftz + ".f32", lanes<&arith::abs_f32<kFtz>>(), kSimple32);
  row("neg" + ftz + ".f32", lanes<&arith::neg_f32<kFtz>>(), kSimple32);
  row("min" + ftz + ".f32", lanes<&arith::min_f32<kFtz>>(), kSimple32);
  row("max" + ftz + ".f32", lanes<&arith::max_f32<kFtz>>(), kSimple32);
  row("min" + ftz + ".NaN.f32", lanes<&arith::min_f32<kFtz, true>>(), kSimple32);
  row("max" + ftz + ".NaN.f32", lanes<&arith::max_f32<kFtz, true>>(), kSimple32);
  row("min" + ftz + ".xorsign.abs.f32", lanes<&arith::min_f32<kFtz, false, true>>(), kSimple32);
  row("max" + ftz + ".xorsign.abs.f32", lanes<&arith::max_f32<kFtz, false, true>>(), kSimple32);
  const std::string both = ftz + ".NaN.xorsign.abs.f32";
  row("min" + both, lanes<&arith::min_f32<kFtz, true, true>>(), kSimple32);
  row("max" + both, lanes<&arith::max_f32<kFtz, true, true>>(), kSimple32);
}

template <Round kRound>
void add_f64(Rows& rows, const std::string& round) {
  rows.push_back({"add" + round + ".f64", lanes<&arith::add_f64<kRound>>(), f64(1)});
  rows.push_back({"sub" + round + ".f64", lanes<&arith::sub_f64<kRound>>(), f64(1)});
  rows.push_back({"mul" + round + ".f64", lanes<&arith::mul_f64<kRound>>(), f64(1)});
  rows.push_back({"{fma|mad}" + round + ".f64", lanes<&arith::fma_f64<kRound>>(), f64(2)});
  rows.push_back({"div" + round + ".f64", lanes<&arith::div_f64<kRound>>(), f64(1)});
  rows.push_back({"rcp" + round + ".f64", lanes<&arith::rcp_f64<kRound>>(), f64(1)});
  rows.push_back({"sqrt" + round + ".f64", lanes<&arith::sqrt_f64<kRound>>(), f64(1)});
}

template <arith::FloatTest kTest>
void add_test(Rows& rows, const std::string& name) {
  rows.push_back({"testp." + name + ".f32", lanes<[](float x) { return arith::testp(kTest, x); }>(),
                  kSimple32});
  rows.push_back({"testp." + name + ".f64",
                  lanes<[](double x) { return arith::testp(kTest, x); }>(), kSimple64});
}

}  // namespace

OpcodeFile float_opcodes() {
  Rows rows;
  add_with_flush<false>(rows);
  add_with_flush<true>(rows);
  rows.push_back({"tanh.approx.f32", lanes<&arith::tanh_approx_f32>(), kSpecial});
  rows.push_back({"copysign.f32", lanes<&arith::copysign_f32>(), kSimple32});
  add_f64<Round::nearest_even>(rows, "[.rn]");
  add_f64<Round::zero>(rows, ".rz");
  add_f64<Round::down>(rows, ".rm");
  add_f64<Round::up>(rows, ".rp");
  rows.push_back({"rcp.approx.ftz.f64", lanes<&arith::rcp_approx_ftz_f64>(), kSpecial});
  rows.push_back({"rsqrt.approx.ftz.f64", lanes<&arith::rsqrt_approx_ftz_f64>(), kSpecial});
  rows.push_back({"rsqrt.approx.f64", lanes<&arith::rsqrt_approx_f64>(), kSpecial});
  rows.push_back({"abs.f64", lanes<&arith::abs_f64>(), kSimple64});
  rows.push_back({"neg.f64", lanes<&arith::neg_f64>(), kSimple64});
  rows.push_back({"min.f64", lanes<&arith::min_f64>(), kSimple64});
  rows.push_back({"max.f64", lanes<&arith::max_f64>(), kSimple64});
  rows.push_back({"copysign.f64", lanes<&arith::copysign_f64>(), kSimple64});
  using Test = arith::FloatTest;
  add_test<Test::finite>(rows, "finite");
  add_test<Test::infinite>(rows, "infinite");
  add_test<Test::number>(rows, "number");
  add_test<Test::notanumber>(rows, "notanumber");
  add_test<Test::normal>(rows, "normal");
  add_test<Test::subnormal>(rows, "subnormal");
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
