#include <cmath>

#include "ops.cuh"

/// The approximations of the special function unit.
namespace {

using fidelity::Inputs;
using fidelity::u64;

void add_around(Inputs& inputs, float x) {
  for (const float sign : {1.0F, -1.0F}) {
    const u64 word = fidelity::bits(sign * x);
    for (const u64 near : {word - 1, word, word + 1}) inputs.push_back({near, 0, 0});
  }
}

Inputs many_f32(const std::string&) {
  Inputs inputs;
  for (const u64 x : fidelity::specials('f')) inputs.push_back({x, 0, 0});
  for (int e = -149; e <= 127; e += e < -10 || e > 10 ? 9 : 1) {
    inputs.push_back({fidelity::bits(std::ldexp(1.0F, e)), 0, 0});
  }
  // Where ranges are reduced: multiples of pi/4, halves, and the ends of ex2's and tanh's ranges.
  for (const float x : {0.78539816F, 1.57079633F, 2.35619449F, 3.14159265F, 6.28318531F, 0.5F, 2.5F,
                        25.1327412F, 100.530965F, 126.0F, 127.0F, 128.0F, 149.0F, 9.0F, 0.625F}) {
    add_around(inputs, x);
  }
  fidelity::Random random(11);
  for (int n = 0; n < 60; ++n) inputs.push_back({fidelity::random_value('f', random), 0, 0});
  for (int n = 0; n < 50; ++n) {  // One binade, where reciprocals and roots look up a table.
    inputs.push_back({0x3f800000U + (random.next() & 0xffffff), 0, 0});
  }
  for (int n = 0; n < 20; ++n) {
    inputs.push_back({random.next() & 0x807fffff, 0, 0});
  }
  return inputs;
}

Inputs many_16(const std::string& kinds) {
  Inputs inputs;
  for (const u64 x : fidelity::specials(kinds[1])) inputs.push_back({x, 0, 0});
  fidelity::Random random(12);
  for (int n = 0; n < 120; ++n) inputs.push_back({fidelity::random_value(kinds[1], random), 0, 0});
  return inputs;
}

PTX1_OF(f, f, "ex2.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "ex2.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "lg2.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "lg2.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "sin.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "sin.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "cos.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "cos.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "rcp.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "rcp.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "rcp.rn.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "rsqrt.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "rsqrt.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "sqrt.approx.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "sqrt.approx.ftz.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "sqrt.rn.f32 %0, %1;", many_f32);
PTX1_OF(f, f, "tanh.approx.f32 %0, %1;", many_f32);
PTX1_OF(h, h, "ex2.approx.f16 %0, %1;", many_16);
PTX1_OF(H, H, "ex2.approx.f16x2 %0, %1;", many_16);
PTX1_OF(h, h, "tanh.approx.f16 %0, %1;", many_16);
PTX1_OF(H, H, "tanh.approx.f16x2 %0, %1;", many_16);
PTX1_OF(d, d, "rcp.approx.ftz.f64 %0, %1;", many_16);
PTX1_OF(d, d, "rsqrt.approx.f64 %0, %1;", many_16);
PTX1_OF(d, d, "rsqrt.approx.ftz.f64 %0, %1;", many_16);
PTX2(f, f, f, "div.approx.f32 %0, %1, %2;");
PTX2(f, f, f, "div.approx.ftz.f32 %0, %1, %2;");
PTX2(f, f, f, "div.full.f32 %0, %1, %2;");
PTX2(f, f, f, "div.full.ftz.f32 %0, %1, %2;");
PTX2(f, f, f, "div.rn.f32 %0, %1, %2;");

void approx() { fidelity::run_ops("approx", fidelity::ops_here()); }
TOPIC("approx", approx);

}  // namespace
