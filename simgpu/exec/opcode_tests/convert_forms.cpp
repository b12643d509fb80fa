#include <algorithm>
#include <cmath>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// cvt between all types, judged by long double (which holds every 64-bit integer) and the host's
/// modes.
namespace simgpu::opcode_tests::of_convert_forms {
namespace {

const std::string kIntegers[] = {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};
const std::string kModes[] = {"rn", "rz", "rm", "rp"};

/// The register of an integer result: 8-bit ones are read back from 16 bits.
std::uint64_t in_register(Wide value, const std::string& type) {
  return cut(value, register_bits(type));
}

void add_integers(Forms& forms) {
  for (const std::string& to : kIntegers) {
    for (const std::string& from : kIntegers) {
      if (to == from) continue;
      forms.push_back({"cvt." + to + "." + from + " $d, $a;", to, {from}, [=](const Lane& x) {
                         const Wide value = integer_of(x[0], from);
                         return in_register(integer_of(static_cast<std::uint64_t>(value), to), to);
                       }});
      if (lowest(to) <= lowest(from) && highest(to) >= highest(from)) continue;  // nothing to clamp
      forms.push_back({"cvt.sat." + to + "." + from + " $d, $a;", to, {from}, [=](const Lane& x) {
                         return in_register(
                             std::clamp(integer_of(x[0], from), lowest(to), highest(to)), to);
                       }});
    }
  }
  // Registers wider than the type: the result is extended into them, the source's upper part
  // ignored.
  forms.push_back({"cvt.s32.s8 $d, $a;", "s32", {"s32"}, [](const Lane& x) {
                     return in_register(integer_of(x[0], "s8"), "s32");
                   }});
  forms.push_back(
      {"cvt.u32.u8 $d, $a;", "u32", {"u32"}, [](const Lane& x) { return x[0] & 0xff; }});
  forms.push_back({"cvt.s8.s32 $d, $a;", "s32", {"s32"}, [](const Lane& x) {
                     return in_register(integer_of(x[0], "s8"), "s32");
                   }});
  forms.push_back(
      {"cvt.u16.u32 $d, $a;", "u32", {"u32"}, [](const Lane& x) { return x[0] & 0xffff; }});
}

long double decoded(std::uint64_t bits, const std::string& type, bool ftz) {
  if (type == "f64") return f64_of(bits);
  if (type == "f32") return ftz ? flushed(f32_of(bits)) : f32_of(bits);
  return HalfFormat::named(type).decode(bits);
}

long double integral(long double x, const std::string& mode) {
  if (mode == "rz") return std::trunc(x);
  if (mode == "rm") return std::floor(x);
  if (mode == "rp") return std::ceil(x);
  const long double below = std::floor(x);
  const long double rest = x - below;
  if (rest != 0.5L) return rest < 0.5L ? below : below + 1;
  return std::fmod(below, 2.0L) == 0 ? below : below + 1;
}

std::uint64_t to_integer(long double x, const std::string& mode, const std::string& from,
                         const std::string& to) {
  if (std::isnan(x)) {
    const bool top_bit = from == "f64" || width_of(to) == 64;
    return in_register(top_bit ? integer_of(1ull << (width_of(to) - 1), to) : Wide{0}, to);
  }
  const long double r = integral(x, mode);
  if (r < static_cast<long double>(lowest(to))) return in_register(lowest(to), to);
  if (r > static_cast<long double>(highest(to))) return in_register(highest(to), to);
  return in_register(static_cast<Wide>(r), to);
}

void add_floats_to_integers(Forms& forms) {
  for (const std::string from : {"f16", "bf16", "f32", "f64"}) {
    for (const std::string& to : kIntegers) {
      if (from == "bf16" && width_of(to) == 8) continue;
      for (const std::string& mode : kModes) {
        for (const bool ftz : {false, true}) {
          if (ftz && from != "f32") continue;
          forms.push_back(
              {"cvt." + mode + "i" + (ftz ? ".ftz" : "") + "." + to + "." + from + " $d, $a;",
               to,
               {from},
               [=](const Lane& x) {
                 return to_integer(decoded(x[0], from, ftz), mode, from, to);
               }});
        }
      }
    }
  }
}

/// From an exact value to a float type in a mode.
std::uint64_t encoded(long double x, const std::string& mode, const std::string& to, bool ftz,
                      bool sat) {
  if (to == "f16" || to == "bf16") {
    const HalfFormat& half = HalfFormat::named(to);
    const std::uint64_t bits = half.round(x, mode, std::signbit(x));
    if (!sat) return bits;
    return half.is_nan(bits) || (bits & 0x8000) != 0 ? 0 : std::min(bits, half.one());
  }
  const HostRounding rounding(mode);
  volatile long double value = x;
  if (to == "f32") {
    volatile float narrow = static_cast<float>(value);
    return delivered(narrow, ftz, sat);
  }
  volatile double narrow = static_cast<double>(value);
  const double result = narrow;
  if (sat) return std::isnan(result) || result <= 0 ? 0 : raw(std::fmin(result, 1.0));
  return raw(result);
}

void add_integers_to_floats(Forms& forms) {
  for (const std::string to : {"f16", "bf16", "f32", "f64"}) {
    for (const std::string& from : kIntegers) {
      if (to == "bf16" && width_of(from) == 8) continue;  // not in PTX
      for (const std::string& mode : kModes) {
        forms.push_back(
            {"cvt." + mode + "." + to + "." + from + " $d, $a;", to, {from}, [=](const Lane& x) {
               const auto value = static_cast<long double>(integer_of(x[0], from));
               return encoded(value, mode, to, false, false);
             }});
      }
    }
  }
}

/// cvt to an integral value of the same type. A result of zero keeps the operand's sign.
void add_integral(Forms& forms, const std::string& type, const std::string& mode, bool ftz,
                  bool sat) {
  forms.push_back({"cvt." + mode + "i" + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + "." + type +
                       "." + type + " $d, $a;",
                   type,
                   {type},
                   [=](const Lane& x) {
                     const long double value = decoded(x[0], type, ftz);
                     const long double r = std::isfinite(value) ? integral(value, mode) : value;
                     return encoded(std::copysign(r, value), "rn", type, ftz, sat);
                   },
                   type == "f64" ? Match::any_nan : Match::bits});
}

/// From f64 and to it a NaN keeps its sign and the upper bits of its payload, and is quiet. What
/// .ftz flushes is the one NaN of f32.
std::uint64_t kept_nan(std::uint64_t bits, const std::string& from, const std::string& to,
                       bool ftz) {
  const auto fraction_bits = [](const std::string& type) {
    return type == "f64" ? 52 : type == "f32" ? 23 : type == "f16" ? 10 : 7;
  };
  if (ftz && from == "f32") bits = 0x7fffffff;
  const unsigned width = width_of(to);
  const std::uint64_t negative = bits >> (width_of(from) - 1) & 1;
  const int wider = fraction_bits(to) - fraction_bits(from);
  const std::uint64_t payload = bits & ((std::uint64_t{1} << fraction_bits(from)) - 1);
  const std::uint64_t kept = wider >= 0 ? payload << wider : payload >> -wider;
  const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits(to) - 1);
  const std::uint64_t exponent =
      ((std::uint64_t{1} << (width - 1)) - 1) >> fraction_bits(to) << fraction_bits(to);
  return negative << (width - 1) | exponent | quiet | kept;
}

void add_floats_to_floats(Forms& forms) {
  const auto add = [&](const std::string& modifiers, const std::string& to, const std::string& from,
                       const std::string& mode, bool ftz, bool sat) {
    forms.push_back(
        {"cvt" + modifiers + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + "." + to + "." + from +
             " $d, $a;",
         to,
         {from},
         [=](const Lane& x) {
           const long double value = decoded(x[0], from, ftz);
           if (from == "bf16" && to == "f32") return x[0] << 16 & 0xffffffff;
           const bool keeps = std::isnan(value) && !sat && (from == "f64" || to == "f64");
           return keeps ? kept_nan(x[0], from, to, ftz) : encoded(value, mode, to, ftz, sat);
         },
         to == "f64" && sat ? Match::any_nan : Match::bits});
  };
  for (const std::string& mode : kModes) {
    for (const bool sat : {false, true}) {
      add("." + mode, "f32", "f64", mode, false, sat);
      add("." + mode, "f32", "f64", mode, true, sat);
      add("." + mode, "f16", "f64", mode, false, sat);
      add("." + mode, "f16", "f32", mode, false, sat);
    }
    add("." + mode, "f16", "f32", mode, true, false);
    add("." + mode, "bf16", "f32", mode, false, false);
  }
  for (const bool sat : {false, true}) {
    add("", "f64", "f32", "rn", false, sat);
    add("", "f64", "f32", "rn", true, sat);
    add("", "f64", "f16", "rn", false, sat);
    add("", "f32", "f16", "rn", false, sat);
  }
  add("", "f32", "f16", "rn", true, false);
  add("", "f32", "bf16", "rn", false, false);
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    for (const std::string& mode : kModes) {
      for (const bool sat : {false, true}) {
        if (type == "bf16" && sat) continue;
        add_integral(forms, type, mode, false, sat);
        if (type == "f32") add_integral(forms, type, mode, true, sat);
      }
    }
  }
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      if (ftz || sat) add("", "f32", "f32", "rn", ftz, sat);
    }
  }
  for (const std::string& mode : kModes) add("." + mode, "bf16", "f64", mode, false, false);
  add("", "f64", "bf16", "rn", false, false);
  add("", "f32", "f16", "rn", true, true);
  for (const std::string& mode : kModes) add("." + mode, "f16", "f32", mode, true, true);
}

std::uint64_t relu(std::uint64_t bits, const HalfFormat& half) {
  return !half.is_nan(bits) && (bits & 0x8000) != 0 ? 0 : bits;
}

/// Ten fraction bits, by scaling to an integer; ties to even or away from zero.
std::uint64_t tf32(float value, bool even) {
  if (std::isnan(value)) return even ? 0x7fffe000 : raw(value) >> 13 << 13;
  if (std::isinf(value)) return raw(value);
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -136));
  const double scaled = std::fabs(double{value}) / unit;
  const double rounded = even ? std::nearbyint(scaled) : std::floor(scaled + 0.5);
  return raw(std::copysign(static_cast<float>(rounded * unit), value));
}

/// .satfinite stops at the largest number, and .rz.tf32 is the number with ten bits below it.
void add_finite(Forms& forms) {
  for (const std::string type : {"f16", "bf16"}) {
    for (const std::string mode : {"rn", "rz"}) {
      for (const bool clamp : {false, true}) {
        const HalfFormat& half = HalfFormat::named(type);
        const auto narrow = [=, &half](std::uint64_t x) {
          std::uint64_t bits = encoded(f32_of(x), mode, type, false, false);
          if (clamp) bits = relu(bits, half);
          return (bits & 0x7fff) == half.infinity() ? bits - 1 : bits;
        };
        const std::string modifiers = "cvt." + mode + (clamp ? ".relu" : "") + ".satfinite.";
        forms.push_back({modifiers + type + ".f32 $d, $a;", type, {"f32"}, [=](const Lane& x) {
                           return narrow(x[0]);
                         }});
        forms.push_back({modifiers + type + "x2.f32 $d, $a, $b;",
                         type + "x2",
                         {"f32", "f32"},
                         [=](const Lane& x) { return narrow(x[0]) << 16 | narrow(x[1]); }});
      }
    }
  }
  const auto towards_zero = [](float x) -> std::uint64_t {
    if (std::isnan(x)) return 0x7fffe000;
    return raw(x) >> 13 << 13;
  };
  const auto positive = [](std::uint64_t bits) {
    return f32_of(bits) < 0 || raw(-0.0f) == bits ? 0 : bits;
  };
  forms.push_back({"cvt.rz.tf32.f32 $d, $a;", "u32", {"f32"}, [=](const Lane& x) {
                     return towards_zero(f32_of(x[0]));
                   }});
  forms.push_back({"cvt.rz.relu.tf32.f32 $d, $a;", "u32", {"f32"}, [=](const Lane& x) {
                     return positive(towards_zero(f32_of(x[0])));
                   }});
  forms.push_back({"cvt.rn.relu.tf32.f32 $d, $a;", "u32", {"f32"}, [=](const Lane& x) {
                     return positive(tf32(f32_of(x[0]), true));
                   }});
}

void add_packed(Forms& forms) {
  for (const std::string type : {"f16", "bf16"}) {
    for (const std::string mode : {"rn", "rz"}) {
      for (const bool clamp : {false, true}) {
        const auto narrow = [=](std::uint64_t x) {
          const std::uint64_t bits = encoded(f32_of(x), mode, type, false, false);
          return clamp ? relu(bits, HalfFormat::named(type)) : bits;
        };
        const std::string modifiers = "cvt." + mode + (clamp ? ".relu." : ".");
        forms.push_back({modifiers + type + "x2.f32 $d, $a, $b;",
                         type + "x2",
                         {"f32", "f32"},
                         [=](const Lane& x) { return narrow(x[0]) << 16 | narrow(x[1]); }});
        if (clamp) {
          forms.push_back({modifiers + type + ".f32 $d, $a;", type, {"f32"}, [=](const Lane& x) {
                             return narrow(x[0]);
                           }});
        }
      }
    }
  }
  add_finite(forms);
  for (const bool even : {false, true}) {
    forms.push_back({std::string("cvt.") + (even ? "rn" : "rna") + ".tf32.f32 $d, $a;",
                     "u32",
                     {"f32"},
                     [=](const Lane& x) { return tf32(f32_of(x[0]), even); }});
  }
}

Forms convert_forms() {
  Forms forms;
  add_integers(forms);
  add_floats_to_integers(forms);
  add_integers_to_floats(forms);
  add_floats_to_floats(forms);
  add_packed(forms);
  return forms;
}
const FormFile kForms{"convert", convert_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_convert_forms
