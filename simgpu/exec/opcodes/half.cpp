#include "simgpu/arith/half.h"
#include "simgpu/arith/approximate.h"
#include "simgpu/exec/lanes.h"

/// f16 and bf16 arithmetic, scalar and packed in pairs.
namespace simgpu {
namespace {

using arith::Bf16;
using arith::Clamp;
using arith::F16;
using Rows = std::vector<OpcodeRow>;

/// The packed form of an operation on one half.
template <auto F, class... A>
std::uint32_t both_halves(A... operands) {
  return arith::packed(F, operands...);
}
template <auto F>
std::uint32_t packed1(std::uint32_t a) {
  return both_halves<F>(a);
}
template <auto F>
std::uint32_t packed2(std::uint32_t a, std::uint32_t b) {
  return both_halves<F>(a, b);
}
template <auto F>
std::uint32_t packed3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return both_halves<F>(a, b, c);
}

/// "f16" or "bf16", with the costs of the scalar and the packed form.
template <class H>
struct Naming {
  static constexpr bool kIsF16 = std::is_same_v<H, F16>;
  static std::string scalar() { return kIsF16 ? ".f16" : ".bf16"; }
  static std::string packed() { return scalar() + "x2"; }
  static Cost cost(std::uint32_t flops) {
    return {.cls = InstructionClass::fp16,
            .flop_type = kIsF16 ? ptx::Type::f16 : ptx::Type::bf16,
            .flops = flops};
  }
};

template <class H, auto F>
void add_unary(Rows& rows, const std::string& opcode, const Cost& one, const Cost& two) {
  rows.push_back({opcode + Naming<H>::scalar(), lanes<F>(), one});
  rows.push_back({opcode + Naming<H>::packed(), lanes<&packed1<F>>(), two});
}

template <class H, auto F>
void add_binary(Rows& rows, const std::string& opcode, std::uint32_t flops) {
  rows.push_back({opcode + Naming<H>::scalar(), lanes<F>(), Naming<H>::cost(flops)});
  rows.push_back({opcode + Naming<H>::packed(), lanes<&packed2<F>>(), Naming<H>::cost(2 * flops)});
}

template <class H, bool kFtz, Clamp kClamp>
void add_fused(Rows& rows, const std::string& modifiers) {
  constexpr auto kFused = &arith::fma_half<H, kFtz, kClamp>;
  const std::string opcode = "fma.rn" + modifiers;
  rows.push_back({opcode + Naming<H>::scalar(), lanes<kFused>(), Naming<H>::cost(2)});
  rows.push_back({opcode + Naming<H>::packed(), lanes<&packed3<kFused>>(), Naming<H>::cost(4)});
}

template <class H, bool kFtz, Clamp kClamp>
void add_arithmetic(Rows& rows, const std::string& modifiers) {
  add_binary<H, &arith::add_half<H, kFtz, kClamp>>(rows, "add[.rn]" + modifiers, 1);
  add_binary<H, &arith::sub_half<H, kFtz, kClamp>>(rows, "sub[.rn]" + modifiers, 1);
  add_binary<H, &arith::mul_half<H, kFtz, kClamp>>(rows, "mul[.rn]" + modifiers, 1);
  add_fused<H, kFtz, kClamp>(rows, modifiers);
}

template <class H, bool kFtz>
void add_simple(Rows& rows, const std::string& ftz) {
  const Cost cost = Naming<H>::cost(0);
  add_unary<H, &arith::abs_half<H, kFtz>>(rows, "abs" + ftz, cost, cost);
  add_unary<H, &arith::neg_half<H, kFtz>>(rows, "neg" + ftz, cost, cost);
  add_binary<H, &arith::min_half<H, kFtz>>(rows, "min" + ftz, 0);
  add_binary<H, &arith::max_half<H, kFtz>>(rows, "max" + ftz, 0);
  add_binary<H, &arith::min_half<H, kFtz, true>>(rows, "min" + ftz + ".NaN", 0);
  add_binary<H, &arith::max_half<H, kFtz, true>>(rows, "max" + ftz + ".NaN", 0);
  const std::string signs = ftz + ".xorsign.abs";
  add_binary<H, &arith::min_half<H, kFtz, false, true>>(rows, "min" + signs, 0);
  add_binary<H, &arith::max_half<H, kFtz, false, true>>(rows, "max" + signs, 0);
  const std::string both = ftz + ".NaN.xorsign.abs";
  add_binary<H, &arith::min_half<H, kFtz, true, true>>(rows, "min" + both, 0);
  add_binary<H, &arith::max_half<H, kFtz, true, true>>(rows, "max" + both, 0);
}

template <class H, auto F>
void add_special(Rows& rows, const std::string& opcode) {
  Cost one = Naming<H>::cost(1);
  Cost two = Naming<H>::cost(2);
  one.cls = two.cls = InstructionClass::special;
  add_unary<H, F>(rows, opcode, one, two);
}

}  // namespace

std::vector<OpcodeRow> half_rows() {
  Rows rows;
  add_arithmetic<F16, false, Clamp::none>(rows, "");
  add_arithmetic<F16, false, Clamp::sat>(rows, ".sat");
  add_arithmetic<F16, true, Clamp::none>(rows, ".ftz");
  add_arithmetic<F16, true, Clamp::sat>(rows, ".ftz.sat");
  add_fused<F16, false, Clamp::relu>(rows, ".relu");
  add_fused<F16, true, Clamp::relu>(rows, ".ftz.relu");
  add_simple<F16, false>(rows, "");
  add_simple<F16, true>(rows, ".ftz");
  add_arithmetic<Bf16, false, Clamp::none>(rows, "");
  add_fused<Bf16, false, Clamp::relu>(rows, ".relu");
  add_simple<Bf16, false>(rows, "");
  add_special<F16, &arith::ex2_approx_half<F16>>(rows, "ex2.approx");
  add_special<Bf16, &arith::ex2_approx_half<Bf16, true>>(rows, "ex2.approx.ftz");
  add_special<F16, &arith::tanh_approx_half<F16>>(rows, "tanh.approx");
  add_special<Bf16, &arith::tanh_approx_half<Bf16>>(rows, "tanh.approx");
  return rows;
}

}  // namespace simgpu
