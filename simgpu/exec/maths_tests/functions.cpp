#include "simgpu/exec/maths_tests/functions.h"

#include <algorithm>
#include <cmath>

namespace simgpu::maths_tests {
namespace {

using Functions = std::vector<Function>;

Limit ulps(double count) {
  return [=](const Arguments&) { return Allowed{count, 0}; };
}

bool within(Quad x, Quad low, Quad high) { return x >= low && x <= high; }

/// A function with one limit for each type, in ulps.
Function plain(const std::string& name, unsigned arguments, Oracle value, double f32, double f64,
               Intervals intervals) {
  return {name, arguments, std::move(value), ulps(f32), ulps(f64), std::move(intervals)};
}
Function unary(const std::string& name, Quad (*value)(Quad), double f32, double f64,
               Intervals intervals = {{-10, 10}}) {
  return plain(
      name, 1, [=](const Arguments& x) { return value(x.a); }, f32, f64, std::move(intervals));
}
Function binary(const std::string& name, Quad (*value)(Quad, Quad), double f32, double f64,
                Intervals intervals = {{-10, 10}, {-1e4, 1e4}}) {
  return plain(
      name, 2, [=](const Arguments& x) { return value(x.a, x.b); }, f32, f64, std::move(intervals));
}

Quad norm_of(const Arguments& x, int elements) {
  return length({x.a, x.b, elements > 2 ? x.c : 0, elements > 3 ? x.d : 0});
}

void add_roots(Functions& all) {
  all.push_back(unary("sqrt", sqrtf128, 0, 0, {{0, 4}}));
  all.push_back(unary("rsqrt", [](Quad x) { return 1 / sqrtf128(x); }, 2, 1, {{0, 4}}));
  all.push_back(unary("cbrt", cbrtf128, 1, 1));
  all.push_back(unary(
      "rcbrt", [](Quad x) { return 1 / cbrtf128(x); }, 1, 1));
  const auto add = [&](const std::string& name, unsigned elements, double f32, double f64) {
    all.push_back(plain(name, elements, [=](const Arguments& x) { return norm_of(x, elements); },
                        f32, f64, {{-10, 10}, {-1e4, 1e4}}));
  };
  const auto add_inverse = [&](const std::string& name, unsigned elements, double f32, double f64) {
    all.push_back(plain(name, elements,
                        [=](const Arguments& x) { return 1 / norm_of(x, elements); }, f32, f64,
                        {{-10, 10}, {-1e4, 1e4}}));
  };
  add("hypot", 2, 3, 2);
  add("norm3d", 3, 3, 2);
  add("norm4d", 4, 3, 2);
  add_inverse("rhypot", 2, 2, 1);
  add_inverse("rnorm3d", 3, 2, 1);
  add_inverse("rnorm4d", 4, 2, 1);
  // The guide gives no bound, for squares are summed as they are: where none over- or underflows,
  // four roundings and a root's are to be expected.
  const Limit sum_of_squares = [](const Arguments& x) {
    for (const Quad element : {x.a, x.b, x.c, x.d}) {
      if (!within(fabsf128(element), 1e-9L, 1e9L)) return kAnything;
    }
    return Allowed{6, 0};
  };
  add("norm", 4, 0, 0);
  all.back().f32 = all.back().f64 = sum_of_squares;
  add_inverse("rnorm", 4, 0, 0);
  all.back().f32 = all.back().f64 = sum_of_squares;
}

void add_exponentials(Functions& all) {
  const Intervals powers{{-1, 1}, {-110, 110}, {-760, 720}};
  all.push_back(unary("exp", expf128, 2, 1, powers));
  all.push_back(unary("exp2", exp2f128, 2, 1, {{-1, 1}, {-150, 130}, {-1080, 1030}}));
  all.push_back(unary("exp10", exp10, 2, 1, {{-1, 1}, {-46, 39}, {-325, 310}}));
  all.push_back(unary("expm1", expm1f128, 1, 1, powers));
  const Intervals positive{{0.5, 2}, {0, 1000}};
  all.push_back(unary("log", logf128, 1, 1, positive));
  all.push_back(unary("log2", log2f128, 1, 1, positive));
  all.push_back(unary("log10", log10f128, 2, 1, positive));
  all.push_back(unary("log1p", log1pf128, 1, 1, {{-1, 1}, {-0.01, 0.01}, {0, 1000}}));
  all.push_back(binary("pow", powf128, 4, 2, {{0.5, 2}, {-50, 50}, {-1000, 1000}}));
}

void add_circular(Functions& all) {
  const Intervals turns{{-M_PI, M_PI}, {-100, 100}, {-1e6, 1e6}};
  const Intervals unit{{-1, 1}, {0.9, 1}, {-0.01, 0.01}};
  for (const char* const name : {"sin", "sincos_sin"}) {
    all.push_back(unary(name, sinf128, 2, 2, turns));
  }
  for (const char* const name : {"cos", "sincos_cos"}) {
    all.push_back(unary(name, cosf128, 2, 2, turns));
  }
  all.push_back(unary("tan", tanf128, 4, 2, turns));
  for (const char* const name : {"sinpi", "sincospi_sin"}) {
    all.push_back(unary(name, sin_pi, 1, 2, {{-2, 2}, {-100, 100}}));
    all.back().either_zero = true;
  }
  for (const char* const name : {"cospi", "sincospi_cos"}) {
    all.push_back(unary(name, cos_pi, 1, 2, {{-2, 2}, {-100, 100}}));
    all.back().either_zero = true;
  }
  all.push_back(unary("asin", asinf128, 2, 2, unit));
  all.push_back(unary("acos", acosf128, 2, 2, unit));
  all.push_back(unary("atan", atanf128, 2, 2));
  all.push_back(binary("atan2", atan2f128, 3, 2));
  const Intervals powers{{-1, 1}, {-90, 90}, {-712, 712}};
  all.push_back(unary("sinh", sinhf128, 3, 2, powers));
  all.push_back(unary("cosh", coshf128, 2, 1, powers));
  all.push_back(unary("tanh", tanhf128, 2, 1, {{-1, 1}, {-20, 20}}));
  all.push_back(unary("asinh", asinhf128, 3, 3));
  all.push_back(unary("acosh", acoshf128, 4, 3, {{1, 1.1}, {1, 100}}));
  all.push_back(unary("atanh", atanhf128, 3, 2, unit));
}

/// `ulps` below `bound`, `absolute` from there on.
Limit first_ulps(double bound, double ulps, double absolute) {
  return [=](const Arguments& x) {
    return fabsf128(x.a) < bound ? Allowed{ulps, 0} : Allowed{0, absolute};
  };
}

void add_bessel(Functions& all) {
  const auto add = [&](const std::string& name, Quad (*value)(Quad)) {
    all.push_back(unary(name, value, 0, 0, {{0, 8}, {-100, 100}}));
    all.back().f32 = first_ulps(8, 9, 2.2e-6);
    all.back().f64 = first_ulps(8, 7, 5e-12);
  };
  add("j0", j0f128);
  add("j1", j1f128);
  all.back().either_zero = true;  // at infinity
  add("y0", y0f128);
  add("y1", y1f128);
  const auto add_order = [&](const std::string& name, int order, Quad (*value)(int, Quad)) {
    all.push_back(plain(name, 1, [=](const Arguments& x) { return value(order, x.a); }, 0, 0,
                        {{0, 2.0 * order}, {-1000, 1000}}));
  };
  add_order("j128", 128, jnf128);
  // The library divides by the argument, and its results are NaN where that overflows.
  const auto not_tiny = [](double absolute) -> Limit {
    return [=](const Arguments& x) {
      return fabsf128(x.a) < 1e-10 ? kAnything : Allowed{0, absolute};
    };
  };
  all.back().f32 = not_tiny(2.2e-6);
  all.back().f64 = not_tiny(5e-12);
  for (const int order : {3, 128}) {
    add_order("y" + std::to_string(order), order, ynf128);
    all.back().f32 = first_ulps(order, std::ceil(2 + 2.5 * order), 2.2e-6);
    all.back().f64 = [=](const Arguments& x) {
      return x.a > 1.5 * order ? Allowed{0, 5e-12} : kAnything;
    };
  }
  all.push_back(
      unary("cyl_bessel_i0", [](Quad x) { return bessel_i(0, x); }, 6, 6, {{-10, 10}, {-90, 90}}));
  all.push_back(
      unary("cyl_bessel_i1", [](Quad x) { return bessel_i(1, x); }, 6, 6, {{-10, 10}, {-90, 90}}));
}

void add_special(Functions& all) {
  const Intervals tails{{-1, 1}, {-10, 10}, {-27, 27}};
  all.push_back(unary("erf", erff128, 2, 2, {{-1, 1}, {-6, 6}}));
  all.push_back(unary("erfc", erfcf128, 4, 5, tails));
  all.push_back(unary("erfcx", erfc_scaled, 4, 4, {{-1, 1}, {-10, 10}, {-27, 100}}));
  all.push_back(unary("erfinv", erf_inverse, 2, 5, {{-1, 1}, {0.999, 1}}));
  all.push_back(unary("erfcinv", erfc_inverse, 4, 6, {{0, 2}, {0, 0.001}}));
  all.push_back(unary("normcdf", normal_distribution, 5, 5, {{-1, 1}, {-14, 10}, {-38, 10}}));
  all.push_back(unary("normcdfinv", normal_quantile, 5, 8, {{0, 1}, {0, 0.001}}));
  all.back().either_zero = true;
  all.push_back(unary("lgamma", lgammaf128, 0, 0, {{-30, 30}, {0, 4}, {0, 1000}}));
  all.back().f32 = [](const Arguments& x) {
    return within(x.a, -10.001L, -2.264L) ? kAnything : Allowed{6, 0};
  };
  all.back().f64 = [](const Arguments& x) {
    return within(x.a, -23.0001L, -2.2637L) ? kAnything : Allowed{4, 0};
  };
  all.push_back(unary("tgamma", tgammaf128, 5, 10, {{0, 5}, {-42, 36}, {-180, 172}}));
  add_bessel(all);
}

/// A host's function for each type, for results that depend on it.
template <class Single, class Double>
Oracle by_type(Single single, Double full) {
  return [=](const Arguments& x) -> Quad {
    return x.single ? Quad{single(static_cast<float>(x.a), static_cast<float>(x.b))}
                    : Quad{full(static_cast<double>(x.a), static_cast<double>(x.b))};
  };
}

/// By the host's library: binary128 would round twice.
Quad fused(const Arguments& x) {
  if (x.single) {
    return std::fma(static_cast<float>(x.a), static_cast<float>(x.b), static_cast<float>(x.c));
  }
  return std::fma(static_cast<double>(x.a), static_cast<double>(x.b), static_cast<double>(x.c));
}

bool is_exponent(Quad x) { return fabsf128(x) < 0x1p31; }

Quad scaled(const Arguments& x) {
  if (!is_exponent(x.b)) return 0;
  const int exponent = static_cast<int>(x.b);
  // Twice the range of double, and no more: nothing may round on the way.
  return scalbnf128(x.a, std::clamp(exponent, -4400, 4400));
}

void add_exact(Functions& all) {
  all.push_back(plain("fma", 3, fused, 0, 0, {{-10, 10}}));
  all.push_back(binary("fmod", fmodf128, 0, 0));
  all.push_back(binary("remainder", remainderf128, 0, 0));
  all.push_back(binary(
      "remquo", [](Quad x, Quad y) { return remainderf128(x, y); }, 0, 0));
  all.push_back(binary("fdim", fdimf128, 0, 0));
  all.push_back(binary("copysign", copysignf128, 0, 0));
  all.push_back(binary("fmax", fmaxf128, 0, 0));
  all.back().either_zero = true;
  all.push_back(binary("fmin", fminf128, 0, 0));
  all.back().either_zero = true;
  all.push_back(plain("nextafter", 2,
                      by_type([](float x, float y) { return std::nextafter(x, y); },
                              [](double x, double y) { return std::nextafter(x, y); }),
                      0, 0, {{-10, 10}}));
  for (const char* const name : {"ldexp", "scalbn", "scalbln"}) {
    all.push_back(plain(name, 2, scaled, 0, 0, {{-10, 10}, {-160, 130}, {-1100, 1030}}));
    all.back().f32 = all.back().f64 = [](const Arguments& x) {
      return is_exponent(x.b) ? Allowed{} : kAnything;
    };
  }
  const Intervals halves{{-4, 4}, {-1e7, 1e7}};
  all.push_back(unary("fabs", fabsf128, 0, 0));
  all.push_back(unary("trunc", truncf128, 0, 0, halves));
  all.push_back(unary("round", roundf128, 0, 0, halves));
  all.push_back(unary("rint", rintf128, 0, 0, halves));
  all.push_back(unary("nearbyint", nearbyintf128, 0, 0, halves));
  all.push_back(unary("ceil", ceilf128, 0, 0, halves));
  all.push_back(unary("floor", floorf128, 0, 0, halves));
  all.push_back(unary("logb", logbf128, 0, 0));
}

void add_parts(Functions& all) {
  all.push_back(unary(
      "modf",
      [](Quad x) {
        Quad whole;
        return modff128(x, &whole);
      },
      0, 0));
  all.push_back(unary("modf_whole", truncf128, 0, 0));
  all.push_back(unary(
      "frexp",
      [](Quad x) {
        int exponent;
        return frexpf128(x, &exponent);
      },
      0, 0));
  // What the exponent of an infinity or a NaN is, nobody says.
  all.push_back(unary(
      "frexp_exponent",
      [](Quad x) {
        int exponent = 0;
        if (is_finite(x)) frexpf128(x, &exponent);
        return Quad{1} * exponent;
      },
      0, 0));
  all.back().f32 =
      all.back().f64 = [](const Arguments& x) { return is_finite(x.a) ? Allowed{} : kAnything; };
  // The quotient's sign and its last three bits.
  all.push_back(binary(
      "remquo_quotient",
      [](Quad x, Quad y) {
        int quotient = 0;
        if (is_finite(x) && y != 0 && y == y) remquof128(x, y, &quotient);
        return Quad{1} * (quotient % 8);
      },
      0, 0));
  all.back().f32 = all.back().f64 = [](const Arguments& x) {
    return is_finite(x.a) && x.b != 0 && x.b == x.b ? Allowed{} : kAnything;
  };
  all.back().either_zero = true;
}

void add_whole(Functions& all) {
  const auto add = [&](const std::string& name, Quad (*rounded)(Quad)) {
    all.push_back(unary(name, rounded, 0, 0, {{-4, 4}, {-1e7, 1e7}, {-1e18, 1e18}}));
    all.back().whole = true;
    // C leaves open what does not fit.
    all.back().f32 = all.back().f64 = [](const Arguments& x) {
      return fabsf128(x.a) < 0x1p63 ? Allowed{} : kAnything;
    };
  };
  for (const char* const name : {"lrint", "llrint"}) add(name, rintf128);
  for (const char* const name : {"lround", "llround"}) add(name, roundf128);
  all.push_back(unary(
      "ilogb", [](Quad x) { return Quad{1} * ilogbf128(x); }, 0, 0));
  all.back().whole = true;
}

/// For arguments from `low` to `high` (by magnitude) an absolute error, else one in ulps.
Limit absolute_within(double low, double high, double absolute, Allowed elsewhere) {
  return [=](const Arguments& x) {
    return within(fabsf128(x.a), low, high) ? Allowed{0, absolute} : elsewhere;
  };
}

/// __powf is exp2f(y * __log2f(x)): the errors of the logarithm and of the product, as powers.
Allowed fast_pow_limit(const Arguments& x) {
  const auto exponent = static_cast<double>(fabsf128(x.b * log2f128(x.a)));
  const double logarithm =
      within(x.a, 0.5L, 2) ? std::fabs(static_cast<double>(x.b)) * 0x1p-22 : exponent * 0x1p-22;
  return {3 + (logarithm + exponent * 0x1p-24) * M_LN2 * 0x1p24, 0};
}

/// __tanf is __sinf(x) * (1 / __cosf(x)).
Allowed fast_tan_limit(const Arguments& x) {
  const Quad cosine = fabsf128(cosf128(x.a));
  if (!(fabsf128(x.a) <= M_PIf128) || cosine < 1e-3L) return kAnything;
  const Quad relative = exp2f128(-21.19L) / cosine;
  const Quad error = (exp2f128(-21.41L) / cosine + fabsf128(tanf128(x.a)) * relative) * 1.01L;
  return {2, static_cast<double>(error)};
}

/// __fdividef gives a quotient by more than 2^126 as zero.
Quad fast_quotient(const Arguments& x) {
  const Quad divisor = fabsf128(x.b);
  return is_finite(divisor) && divisor > 0x1p126 ? x.a * copysignf128(0, x.b) : x.a / x.b;
}

void add_fast(Functions& all) {
  const auto add = [&](const std::string& name, Quad (*value)(Quad), Limit limit,
                       Intervals intervals) {
    all.push_back(unary("fast_" + name, value, 0, 0, std::move(intervals)));
    all.back().f32 = std::move(limit);
    all.back().f64.reset();
  };
  const Intervals turns{{-M_PI, M_PI}};
  add("sin", sinf128, absolute_within(0, M_PI, std::exp2(-21.41), kAnything), turns);
  add("cos", cosf128, absolute_within(0, M_PI, std::exp2(-21.19), kAnything), turns);
  add("tan", tanf128, fast_tan_limit, turns);
  add("tanh", tanhf128,
      [](const Arguments& x) {
        return Allowed{0, static_cast<double>(fabsf128(tanhf128(x.a))) * 0x1p-11};
      },
      {{-1, 1}, {-10, 10}});
  const auto grows = [](double factor) -> Limit {
    return [=](const Arguments& x) {
      return Allowed{2 + std::floor(std::fabs(factor * static_cast<double>(x.a))), 0};
    };
  };
  add("exp", expf128, grows(1.173), {{-1, 1}, {-110, 90}});
  add("exp10", exp10, grows(2.97), {{-1, 1}, {-46, 39}});
  const Intervals positive{{0.5, 2}, {0, 1000}};
  add("log", logf128, absolute_within(0.5, 2, std::exp2(-21.41), {3, 0}), positive);
  add("log2", log2f128, absolute_within(0.5, 2, std::exp2(-22.0), {2, 0}), positive);
  add("log10", log10f128, absolute_within(0.5, 2, std::exp2(-24.0), {3, 0}), positive);
  all.push_back({"fast_pow",
                 2,
                 [](const Arguments& x) { return exp2f128(x.b * log2f128(x.a)); },
                 fast_pow_limit,
                 {},
                 {{0.5, 2}, {0, 50}, {-20, 20}}});
  all.push_back({"fast_divide",
                 2,
                 fast_quotient,
                 [](const Arguments& x) {
                   return fabsf128(x.b) < 0x1p-126 ? kAnything : Allowed{2, 0};
                 },
                 {},
                 {{-10, 10}}});
  add("rsqrt_rn", [](Quad x) { return 1 / sqrtf128(x); }, ulps(0), {{0, 4}});
  all.back().name = "rsqrt_rn";
  add("saturate", [](Quad x) { return x >= 1  ? Quad{1}
                                      : x > 0 ? x
                                              : Quad{0}; }, ulps(0),
      {{-1, 2}});
  all.back().name = "saturate";
}

}  // namespace

std::vector<Function> all_functions() {
  Functions all;
  add_roots(all);
  add_exponentials(all);
  add_circular(all);
  add_special(all);
  add_exact(all);
  add_parts(all);
  add_whole(all);
  add_fast(all);
  return all;
}

}  // namespace simgpu::maths_tests
