#include "simgpu/arith/half.h"

#include "simgpu/arith/approximate.h"
#include "simgpu/exec/lanes.h"

/// f16 and bf16 arithmetic, one value or two in a register.
namespace simgpu {
namespace {

using Half = std::uint16_t;
using Pair = std::uint32_t;
using Rows = std::vector<OpcodeRow>;
using arith::Clamp;

/// Packed forms from a function of one half.
template <Half (*F)(Half)>
Pair both1(Pair a) {
  return arith::packed(F, a);
}
template <Half (*F)(Half, Half)>
Pair both2(Pair a, Pair b) {
  return arith::packed(F, a, b);
}
template <Half (*F)(Half, Half, Half)>
Pair both3(Pair a, Pair b, Pair c) {
  return arith::packed(F, a, b, c);
}

Cost cost(ptx::Type type, std::uint32_t flops) {
  return {.cls = InstructionClass::fp16,
          .flop_type = flops == 0 ? ptx::Type::none : type,
          .flops = flops};
}

/// Rows of one format, scalar and packed.
template <class H>
class Format {
 public:
  Format(Rows& rows, std::string name, ptx::Type type)
      : rows_(rows), name_(std::move(name)), type_(type) {}

  template <bool kFtz, Clamp kClamp>
  void add_arithmetic(const std::string& modifiers) {
    binary<&arith::add_half<H, kFtz, kClamp>>("add[.rn]" + modifiers, 1);
    binary<&arith::sub_half<H, kFtz, kClamp>>("sub[.rn]" + modifiers, 1);
    binary<&arith::mul_half<H, kFtz, kClamp>>("mul[.rn]" + modifiers, 1);
    ternary<&arith::fma_half<H, kFtz, kClamp>>("fma.rn" + modifiers, 2);
  }

  template <bool kFtz>
  void add_simple(const std::string& ftz) {
    unary<&arith::abs_half<H, kFtz>>("abs" + ftz);
    unary<&arith::neg_half<H, kFtz>>("neg" + ftz);
    binary<&arith::min_half<H, kFtz>>("min" + ftz, 0);
    binary<&arith::max_half<H, kFtz>>("max" + ftz, 0);
    binary<&arith::min_half<H, kFtz, true>>("min" + ftz + ".NaN", 0);
    binary<&arith::max_half<H, kFtz, true>>("max" + ftz + ".NaN", 0);
    binary<&arith::min_half<H, kFtz, false, true>>("min" + ftz + ".xorsign.abs", 0);
    binary<&arith::max_half<H, kFtz, false, true>>("max" + ftz + ".xorsign.abs", 0);
    binary<&arith::min_half<H, kFtz, true, true>>("min" + ftz + ".NaN.xorsign.abs", 0);
    binary<&arith::max_half<H, kFtz, true, true>>("max" + ftz + ".NaN.xorsign.abs", 0);
  }

  void add_approximations(bool flushes) {
    const Cost special{.cls = InstructionClass::special, .flop_type = type_, .flops = 1};
    rows_.push_back({"tanh.approx." + name_, lanes<&arith::tanh_approx_half<H>>(), special});
    rows_.push_back(
        {"tanh.approx." + name_ + "x2", lanes<&both1<&arith::tanh_approx_half<H>>>(), special});
    const std::string ftz = flushes ? ".ftz." : ".";
    if (flushes) {
      rows_.push_back(
          {"ex2.approx" + ftz + name_, lanes<&arith::ex2_approx_half<H, true>>(), special});
      rows_.push_back({"ex2.approx" + ftz + name_ + "x2",
                       lanes<&both1<&arith::ex2_approx_half<H, true>>>(), special});
    } else {
      rows_.push_back({"ex2.approx" + ftz + name_, lanes<&arith::ex2_approx_half<H>>(), special});
      rows_.push_back({"ex2.approx" + ftz + name_ + "x2",
                       lanes<&both1<&arith::ex2_approx_half<H>>>(), special});
    }
  }

 private:
  template <Half (*F)(Half)>
  void unary(const std::string& opcode) {
    rows_.push_back({opcode + "." + name_, lanes<F>(), cost(type_, 0)});
    rows_.push_back({opcode + "." + name_ + "x2", lanes<&both1<F>>(), cost(type_, 0)});
  }
  template <Half (*F)(Half, Half)>
  void binary(const std::string& opcode, std::uint32_t flops) {
    rows_.push_back({opcode + "." + name_, lanes<F>(), cost(type_, flops)});
    rows_.push_back({opcode + "." + name_ + "x2", lanes<&both2<F>>(), cost(type_, 2 * flops)});
  }
  template <Half (*F)(Half, Half, Half)>
  void ternary(const std::string& opcode, std::uint32_t flops) {
    rows_.push_back({opcode + "." + name_, lanes<F>(), cost(type_, flops)});
    rows_.push_back({opcode + "." + name_ + "x2", lanes<&both3<F>>(), cost(type_, 2 * flops)});
  }

  Rows& rows_;
  std::string name_;
  ptx::Type type_;
};

}  // namespace

OpcodeFile half_opcodes() {
  Rows rows;
  Format<arith::F16> f16(rows, "f16", ptx::Type::f16);
  f16.add_arithmetic<false, Clamp::none>("");
  f16.add_arithmetic<true, Clamp::none>(".ftz");
  f16.add_arithmetic<false, Clamp::sat>(".sat");
  f16.add_arithmetic<true, Clamp::sat>(".ftz.sat");
  f16.add_arithmetic<false, Clamp::relu>(".relu");
  f16.add_arithmetic<true, Clamp::relu>(".ftz.relu");
  f16.add_simple<false>("");
  f16.add_simple<true>(".ftz");
  f16.add_approximations(false);
  Format<arith::Bf16> bf16(rows, "bf16", ptx::Type::bf16);
  bf16.add_arithmetic<false, Clamp::none>("");
  bf16.add_arithmetic<false, Clamp::relu>(".relu");
  bf16.add_simple<false>("");
  bf16.add_approximations(true);
  return {.rows = std::move(rows)};
}

}  // namespace simgpu
