#include <cmath>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// f32 and f64 arithmetic, judged by the host's own under fesetround, and long double for
/// approximations.
namespace simgpu::opcode_tests::of_float_forms {
namespace {

const std::string kModes[] = {"rn", "rz", "rm", "rp"};

template <class Float>
using Operation = std::function<Float(Float, Float, Float)>;

/// Evaluated in the mode; volatile keeps the compiler from doing it earlier.
template <class Float>
Float in_mode(const std::string& mode, const Operation<Float>& operation, Float a, Float b,
              Float c) {
  const HostRounding rounding(mode);
  volatile Float x = a;
  volatile Float y = b;
  volatile Float z = c;
  volatile Float result = operation(x, y, z);
  return result;
}

std::string operand_list(std::size_t count) {
  return std::string(" $d, $a, $b, $c").substr(0, 3 + 4 * count) + ";";
}

Form f32_form(const std::string& opcode, std::size_t operands, const std::string& mode, bool ftz,
              bool sat, const Operation<float>& operation) {
  const auto expected = [=](const Lane& x) {
    float values[3] = {};
    for (std::size_t i = 0; i < operands; ++i) {
      values[i] = ftz ? flushed(f32_of(x[i])) : f32_of(x[i]);
    }
    return delivered(in_mode(mode, operation, values[0], values[1], values[2]), ftz, sat);
  };
  return {opcode + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32" + operand_list(operands),
          "f32", std::vector<std::string>(operands, "f32"), expected};
}

/// Of NaNs the last operand's comes out, quiet.
std::uint64_t f64_result(double result, const Lane& x, std::size_t operands) {
  for (std::size_t i = operands; i-- > 0;) {
    if (std::isnan(f64_of(x[i]))) return x[i] | 0x0008000000000000;
  }
  return std::isnan(result) ? 0xfff8000000000000 : raw(result);
}

Form f64_form(const std::string& opcode, std::size_t operands, const std::string& mode,
              const Operation<double>& operation) {
  const auto expected = [=](const Lane& x) {
    return f64_result(in_mode(mode, operation, f64_of(x[0]), f64_of(x[1]), f64_of(x[2])), x,
                      operands);
  };
  return {opcode + ".f64" + operand_list(operands), "f64",
          std::vector<std::string>(operands, "f64"), expected};
}

/// Of two NaNs the dividend.
Form f64_quotient(const std::string& opcode, const std::string& mode) {
  Form form = f64_form(opcode, 2, mode, [](double a, double b, double) { return a / b; });
  const auto plain = form.expected;
  form.expected = [=](const Lane& x) {
    return std::isnan(f64_of(x[0])) ? f64_result(0, x, 1) : plain(x);
  };
  return form;
}

template <class Float>
Operation<Float> sum() {
  return [](Float a, Float b, Float) { return a + b; };
}
template <class Float>
Operation<Float> difference() {
  return [](Float a, Float b, Float) { return a - b; };
}
template <class Float>
Operation<Float> product() {
  return [](Float a, Float b, Float) { return a * b; };
}
template <class Float>
Operation<Float> fused() {
  return [](Float a, Float b, Float c) { return std::fma(a, b, c); };
}
template <class Float>
Operation<Float> quotient() {
  return [](Float a, Float b, Float) { return a / b; };
}
template <class Float>
Operation<Float> reciprocal() {
  return [](Float a, Float, Float) { return 1 / a; };
}
template <class Float>
Operation<Float> root() {
  return [](Float a, Float, Float) { return std::sqrt(a); };
}

void add_f32_arithmetic(Forms& forms) {
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      forms.push_back(f32_form("add", 2, "rn", ftz, sat, sum<float>()));
      forms.push_back(f32_form("sub", 2, "rn", ftz, sat, difference<float>()));
      forms.push_back(f32_form("mul", 2, "rn", ftz, sat, product<float>()));
      for (const std::string& mode : kModes) {
        forms.push_back(f32_form("add." + mode, 2, mode, ftz, sat, sum<float>()));
        forms.push_back(f32_form("sub." + mode, 2, mode, ftz, sat, difference<float>()));
        forms.push_back(f32_form("mul." + mode, 2, mode, ftz, sat, product<float>()));
        forms.push_back(f32_form("fma." + mode, 3, mode, ftz, sat, fused<float>()));
        forms.push_back(f32_form("mad." + mode, 3, mode, ftz, sat, fused<float>()));
      }
    }
    for (const std::string& mode : kModes) {
      forms.push_back(f32_form("div." + mode, 2, mode, ftz, false, quotient<float>()));
      forms.push_back(f32_form("rcp." + mode, 1, mode, ftz, false, reciprocal<float>()));
      forms.push_back(f32_form("sqrt." + mode, 1, mode, ftz, false, root<float>()));
    }
  }
}

void add_f64_arithmetic(Forms& forms) {
  forms.push_back(f64_form("add", 2, "rn", sum<double>()));
  forms.push_back(f64_form("sub", 2, "rn", difference<double>()));
  forms.push_back(f64_form("mul", 2, "rn", product<double>()));
  for (const std::string& mode : kModes) {
    forms.push_back(f64_form("add." + mode, 2, mode, sum<double>()));
    forms.push_back(f64_form("sub." + mode, 2, mode, difference<double>()));
    forms.push_back(f64_form("mul." + mode, 2, mode, product<double>()));
    forms.push_back(f64_form("fma." + mode, 3, mode, fused<double>()));
    forms.push_back(f64_form("mad." + mode, 3, mode, fused<double>()));
    forms.push_back(f64_quotient("div." + mode, mode));
    forms.push_back(f64_form("rcp." + mode, 1, mode, reciprocal<double>()));
    forms.push_back(f64_form("sqrt." + mode, 1, mode, root<double>()));
  }
}

/// Approximations of a function of long double.
void add_approximation(Forms& forms, const std::string& opcode, bool ftz,
                       const std::function<long double(long double)>& function) {
  forms.push_back({opcode + (ftz ? ".ftz" : "") + ".f32 $d, $a;",
                   "f32",
                   {"f32"},
                   [=](const Lane& x) {
                     const float a = ftz ? flushed(f32_of(x[0])) : f32_of(x[0]);
                     return delivered(static_cast<float>(function(a)), ftz);
                   },
                   Match::near_f32});
}

/// Below zero, 2^-23 nearer to it.
long double fixed_point_logarithm(long double x) {
  const long double y = std::log2(x);
  return std::isfinite(y) && y < -0x1p-23L ? y + 0x1p-23L : y;
}

/// Of a number of turns in fixed point, 25 bits, `ahead` of x; quarters that run backwards begin at
/// the last place.
long double sine(long double x, long double ahead) {
  if (!std::isfinite(x)) return std::nanl("");
  const HostRounding rounding("rz");
  volatile float turns = std::fabs(static_cast<float>(x));
  turns = turns * 0.15915494f;
  const long double fraction = turns - std::floor(turns);
  const long double place = std::floor(fraction * 0x1p25L) / 0x1p25L + ahead;
  const long double quarters = (place - std::floor(place)) * 4;
  const auto quarter = static_cast<int>(quarters);
  long double rest = quarters - quarter;
  if (quarter % 2 != 0) rest = 1 - 0x1p-23L - rest;
  const long double size = std::sin(rest * 1.57079632679489661923L);
  return (quarter >= 2) != (ahead == 0 && std::signbit(x)) ? -size : size;
}

/// What a gross approximation reads: no subnormals.
double gross_operand(std::uint64_t bits) {
  const double x = f64_of(bits);
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
}

void add_approximations(Forms& forms) {
  for (const bool ftz : {false, true}) {
    add_approximation(forms, "rcp.approx", ftz, [](long double x) { return 1 / x; });
    add_approximation(forms, "sqrt.approx", ftz, [](long double x) { return std::sqrt(x); });
    add_approximation(forms, "rsqrt.approx", ftz, [](long double x) { return 1 / std::sqrt(x); });
    add_approximation(forms, "ex2.approx", ftz, [](long double x) { return std::exp2(x); });
    add_approximation(forms, "lg2.approx", ftz, fixed_point_logarithm);
    add_approximation(forms, "sin.approx", ftz, [](long double x) { return sine(x, 0); });
    add_approximation(forms, "cos.approx", ftz, [](long double x) { return sine(x, 0.25L); });
    const auto flush = [=](std::uint64_t x) { return ftz ? flushed(f32_of(x)) : f32_of(x); };
    const std::string tail = std::string(ftz ? ".ftz" : "") + ".f32 $d, $a, $b;";
    forms.push_back({"div.full" + tail,
                     "f32",
                     {"f32", "f32"},
                     [=](const Lane& x) { return delivered(flush(x[0]) / flush(x[1]), ftz); },
                     Match::near_f32});
    forms.push_back({"div.approx" + tail,
                     "f32",
                     {"f32", "f32"},
                     [=](const Lane& x) {
                       const float b = flush(x[1]);
                       if (!(std::fabs(b) > 0x1p126f)) return delivered(flush(x[0]) / b, ftz);
                       return delivered(flush(x[0]) * std::copysign(0.0f, b), ftz);
                     },
                     Match::near_f32});
  }
  add_approximation(forms, "tanh.approx", false, [](long double x) { return std::tanh(x); });
  forms.back().match = Match::tanh_f32;
  forms.push_back({"rcp.approx.ftz.f64 $d, $a;",
                   "f64",
                   {"f64"},
                   [](const Lane& x) { return raw(1.0 / gross_operand(x[0])); },
                   Match::gross_f64});
  forms.push_back({"rsqrt.approx.ftz.f64 $d, $a;",
                   "f64",
                   {"f64"},
                   [](const Lane& x) { return raw(1.0 / std::sqrt(gross_operand(x[0]))); },
                   Match::gross_f64});
  forms.push_back({"rsqrt.approx.f64 $d, $a;",
                   "f64",
                   {"f64"},
                   [](const Lane& x) { return raw(1.0 / std::sqrt(f64_of(x[0]))); },
                   Match::gross_f64});
}

/// min and max by cases: NaN first, then the order of values, then the order of zeros.
template <class Float>
Float extreme(Float a, Float b, bool greatest, bool nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan || (std::isnan(a) && std::isnan(b))) return std::nan("");
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) != greatest ? a : b;
  return (a > b) == greatest ? a : b;
}

void add_extremes(Forms& forms) {
  for (const bool greatest : {false, true}) {
    const std::string opcode = greatest ? "max" : "min";
    for (const bool ftz : {false, true}) {
      for (const bool nan : {false, true}) {
        for (const bool xorsign : {false, true}) {
          forms.push_back({opcode + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                               (xorsign ? ".xorsign.abs" : "") + ".f32 $d, $a, $b;",
                           "f32",
                           {"f32", "f32"},
                           [=](const Lane& x) {
                             float a = ftz ? flushed(f32_of(x[0])) : f32_of(x[0]);
                             float b = ftz ? flushed(f32_of(x[1])) : f32_of(x[1]);
                             const bool negative = std::signbit(a) != std::signbit(b);
                             if (xorsign) {
                               a = std::fabs(a);
                               b = std::fabs(b);
                             }
                             const float r = extreme(a, b, greatest, nan);
                             return delivered(xorsign && negative ? -r : r);
                           }});
        }
      }
    }
    forms.push_back({opcode + ".f64 $d, $a, $b;", "f64", {"f64", "f64"}, [=](const Lane& x) {
                       const double r = extreme(f64_of(x[0]), f64_of(x[1]), greatest, false);
                       return std::isnan(r) ? f64_result(r, x, 2) : raw(r);
                     }});
  }
}

void add_signs(Forms& forms) {
  const std::uint64_t sign32 = 0x80000000;
  const std::uint64_t sign64 = std::uint64_t{1} << 63;
  const auto one_nan = [](std::uint64_t bits) {
    return std::isnan(f32_of(bits)) ? std::uint64_t{0x7fffffff} : bits;
  };
  const auto kept_nan = [](std::uint64_t bits, const Lane& x) {
    return std::isnan(f64_of(bits)) ? f64_result(0, x, 1) : bits;
  };
  for (const bool ftz : {false, true}) {
    const auto flush = [=](std::uint64_t x) { return ftz ? raw(flushed(f32_of(x))) : cut(x, 32); };
    const std::string tail = std::string(ftz ? ".ftz" : "") + ".f32 $d, $a;";
    forms.push_back({"abs" + tail, "f32", {"f32"}, [=](const Lane& x) {
                       return one_nan(flush(x[0]) & ~sign32);
                     }});
    forms.push_back({"neg" + tail, "f32", {"f32"}, [=](const Lane& x) {
                       return one_nan(flush(x[0]) ^ sign32);
                     }});
  }
  forms.push_back({"abs.f64 $d, $a;", "f64", {"f64"}, [=](const Lane& x) {
                     return kept_nan(x[0] & ~sign64, x);
                   }});
  forms.push_back({"neg.f64 $d, $a;", "f64", {"f64"}, [=](const Lane& x) {
                     return kept_nan(x[0] ^ sign64, x);
                   }});
  forms.push_back({"copysign.f32 $d, $a, $b;", "f32", {"f32", "f32"}, [=](const Lane& x) {
                     return (x[0] & sign32) | (cut(x[1], 32) & ~sign32);
                   }});
  forms.push_back({"copysign.f64 $d, $a, $b;", "f64", {"f64", "f64"}, [=](const Lane& x) {
                     return (x[0] & sign64) | (x[1] & ~sign64);
                   }});
  forms.push_back({"mov.f32 $d, $a;", "f32", {"f32"}, [](const Lane& x) { return cut(x[0], 32); }});
  forms.push_back({"mov.f64 $d, $a;", "f64", {"f64"}, [](const Lane& x) { return x[0]; }});
  forms.push_back(
      {"selp.f64 $d, $a, 0d3FF0000000000000, $b;", "f64", {"f64", "pred"}, [](const Lane& x) {
         return x[1] != 0 ? x[0] : raw(1.0);
       }});
}

template <class Float>
bool in_class(const std::string& name, Float x) {
  const int kind = std::fpclassify(x);
  if (name == "finite") return kind != FP_INFINITE && kind != FP_NAN;
  if (name == "infinite") return kind == FP_INFINITE;
  if (name == "number") return kind != FP_NAN;
  if (name == "notanumber") return kind == FP_NAN;
  if (name == "normal") return kind == FP_NORMAL || kind == FP_ZERO;
  return kind == FP_SUBNORMAL;
}

void add_classes(Forms& forms) {
  for (const std::string name :
       {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    forms.push_back({"testp." + name + ".f32 $d, $a;", "pred", {"f32"}, [=](const Lane& x) {
                       return std::uint64_t{in_class(name, f32_of(x[0]))};
                     }});
    forms.push_back({"testp." + name + ".f64 $d, $a;", "pred", {"f64"}, [=](const Lane& x) {
                       return std::uint64_t{in_class(name, f64_of(x[0]))};
                     }});
  }
}

void add_literals(Forms& forms) {
  forms.push_back({"add.f32 $d, $a, 0f3F800000;", "f32", {"f32"}, [](const Lane& x) {
                     return delivered(f32_of(x[0]) + 1.0f);
                   }});
  forms.push_back({"fma.rn.f32 $d, $a, 0f40000000, 0fBF000000;", "f32", {"f32"}, [](const Lane& x) {
                     return delivered(std::fma(f32_of(x[0]), 2.0f, -0.5f));
                   }});
  forms.push_back({"mul.f64 $d, $a, 0d3FB999999999999A;",
                   "f64",
                   {"f64"},
                   [](const Lane& x) { return raw(f64_of(x[0]) * 0.1); },
                   Match::any_nan});
}

Forms float_forms() {
  Forms forms;
  add_f32_arithmetic(forms);
  add_f64_arithmetic(forms);
  add_approximations(forms);
  add_extremes(forms);
  add_signs(forms);
  add_classes(forms);
  add_literals(forms);
  return forms;
}
const FormFile kForms{"float", float_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_float_forms
