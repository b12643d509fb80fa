#include <cmath>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// f16 and bf16 arithmetic, scalar and packed, judged by binary128 and a search over all 16-bit
/// values.
namespace simgpu::opcode_tests::of_half_forms {
namespace {

struct Modifiers {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
};

/// The value of one half, and its sign even if it is zero.
struct Operand {
  Quad value;
  bool negative;
};

/// One lane of one half: exact value and the sign it has as a zero.
using Exact = std::function<Operand(const Operand&, const Operand&, const Operand&)>;

Operand exact_sum(const Operand& a, const Operand& b) {
  Quad sum = a.value + b.value;
  // A term below the other's 113 bits only breaks ties: a nudge in its direction does the same.
  const Quad larger = a.value * a.value > b.value * b.value ? a.value : b.value;
  const Quad smaller = a.value * a.value > b.value * b.value ? b.value : a.value;
  if (smaller != 0 && sum == larger && larger - larger == 0) {
    sum = larger * (1 + ((smaller < 0) == (larger < 0) ? 1 : -1) * Quad{0x1p-80});
  }
  return {sum, a.negative && b.negative};
}

Operand exact_product(const Operand& a, const Operand& b) {
  return {a.value * b.value, a.negative != b.negative};
}

std::uint64_t one_half(const HalfFormat& format, const Lane& x, std::size_t operands,
                       const Modifiers& modifiers, const Exact& exact) {
  Operand values[3] = {};
  for (std::size_t i = 0; i < operands; ++i) {
    const std::uint64_t bits = modifiers.ftz ? format.flush(x[i]) : x[i] & 0xffff;
    values[i] = {format.decode(bits), (bits & 0x8000) != 0};
  }
  const Operand result = exact(values[0], values[1], values[2]);
  std::uint64_t bits = format.round(result.value, "rn", result.negative);
  if (modifiers.ftz) bits = format.is_nan(bits) ? bits : format.flush(bits);
  const bool nan = format.is_nan(bits);
  if (modifiers.sat) return nan || (bits & 0x8000) != 0 ? 0 : std::min(bits, format.one());
  if (modifiers.relu && !nan && (bits & 0x8000) != 0) return 0;
  return bits;
}

/// Both halves of packed operands, or one.
std::uint64_t by_halves(const std::string& type, const Lane& x,
                        const std::function<std::uint64_t(const Lane&)>& half) {
  if (!type.ends_with("x2")) return half(x);
  const Lane high = {x[0] >> 16, x[1] >> 16, x[2] >> 16, 0};
  return (half(x) & 0xffff) | half(high) << 16;
}

const HalfFormat& format_of(const std::string& type) {
  return HalfFormat::named(type.ends_with("x2") ? type.substr(0, type.size() - 2) : type);
}

Form half_form(const std::string& opcode, const std::string& type, std::size_t operands,
               const Modifiers& modifiers, const Exact& exact) {
  const std::string text = opcode + (modifiers.ftz ? ".ftz" : "") + (modifiers.sat ? ".sat" : "") +
                           (modifiers.relu ? ".relu" : "") + "." + type +
                           std::string(" $d, $a, $b, $c").substr(0, 3 + 4 * operands) + ";";
  return {text, type, std::vector<std::string>(operands, type), [=](const Lane& x) {
            return by_halves(type, x, [&](const Lane& half) {
              return one_half(format_of(type), half, operands, modifiers, exact);
            });
          }};
}

void add_arithmetic(Forms& forms, const std::string& type) {
  const bool f16 = type[0] == 'f';
  const Exact sum = [](auto& a, auto& b, auto&) { return exact_sum(a, b); };
  const Exact difference = [](auto& a, auto& b, auto&) {
    return exact_sum(a, Operand{-b.value, !b.negative});
  };
  const Exact product = [](auto& a, auto& b, auto&) { return exact_product(a, b); };
  const Exact fused = [](auto& a, auto& b, auto& c) { return exact_sum(exact_product(a, b), c); };
  std::vector<Modifiers> modifiers = {{}};
  if (f16) modifiers = {{}, {.ftz = true}, {.sat = true}, {.ftz = true, .sat = true}};
  for (const Modifiers& m : modifiers) {
    forms.push_back(half_form("add", type, 2, m, sum));
    forms.push_back(half_form("add.rn", type, 2, m, sum));
    forms.push_back(half_form("sub", type, 2, m, difference));
    forms.push_back(half_form("sub.rn", type, 2, m, difference));
    forms.push_back(half_form("mul", type, 2, m, product));
    forms.push_back(half_form("mul.rn", type, 2, m, product));
    forms.push_back(half_form("fma.rn", type, 3, m, fused));
  }
  forms.push_back(half_form("fma.rn", type, 3, {.relu = true}, fused));
  if (f16) forms.push_back(half_form("fma.rn", type, 3, {.ftz = true, .relu = true}, fused));
}

std::uint64_t extreme(const HalfFormat& format, const Lane& x, bool greatest, bool nan,
                      bool xorsign) {
  std::uint64_t a = x[0] & 0xffff;
  std::uint64_t b = x[1] & 0xffff;
  if (format.is_nan(a) || format.is_nan(b)) {
    if (nan || (format.is_nan(a) && format.is_nan(b))) return 0x7fff;
    const std::uint64_t number = format.is_nan(a) ? b : a;
    return xorsign ? (number & 0x7fff) | ((a ^ b) & 0x8000) : number;
  }
  const std::uint64_t sign = (a ^ b) & 0x8000;
  if (xorsign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  const double p = format.decode(a);
  const double q = format.decode(b);
  const bool first = p == q ? std::signbit(p) != greatest : (p > q) == greatest;
  return (first ? a : b) ^ (xorsign ? sign : 0);
}

void add_extremes(Forms& forms, const std::string& type) {
  for (const bool greatest : {false, true}) {
    for (const bool nan : {false, true}) {
      for (const bool xorsign : {false, true}) {
        for (const bool ftz : {false, true}) {
          if (ftz && type[0] == 'b') continue;
          forms.push_back({std::string(greatest ? "max" : "min") + (ftz ? ".ftz" : "") +
                               (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "") + "." + type +
                               " $d, $a, $b;",
                           type,
                           {type, type},
                           [=](const Lane& x) {
                             const HalfFormat& format = format_of(type);
                             return by_halves(type, x, [&](const Lane& half) {
                               Lane operands = half;
                               if (ftz)
                                 operands = {format.flush(half[0]), format.flush(half[1]), 0, 0};
                               return extreme(format, operands, greatest, nan, xorsign);
                             });
                           }});
        }
      }
    }
  }
}

void add_signs(Forms& forms, const std::string& type) {
  const std::uint64_t sign = type.ends_with("x2") ? 0x80008000 : 0x8000;
  const std::uint64_t all = type.ends_with("x2") ? 0xffffffff : 0xffff;
  const auto flush = [=](const Lane& x) {
    return by_halves(type, x, [&](const Lane& half) { return format_of(type).flush(half[0]); });
  };
  const auto one_nan = [=](std::uint64_t bits) {
    return by_halves(type, Lane{bits}, [&](const Lane& half) -> std::uint64_t {
      return format_of(type).is_nan(half[0] & 0xffff) ? 0x7fff : half[0] & 0xffff;
    });
  };
  if (type[0] == 'f') {
    forms.push_back({"neg.ftz." + type + " $d, $a;", type, {type}, [=](const Lane& x) {
                       return one_nan(flush(x) ^ sign);
                     }});
    forms.push_back({"abs.ftz." + type + " $d, $a;", type, {type}, [=](const Lane& x) {
                       return one_nan(flush(x) & ~sign);
                     }});
  }
  forms.push_back({"neg." + type + " $d, $a;", type, {type}, [=](const Lane& x) {
                     return one_nan((x[0] ^ sign) & all);
                   }});
  forms.push_back({"abs." + type + " $d, $a;", type, {type}, [=](const Lane& x) {
                     return one_nan(x[0] & all & ~sign);
                   }});
}

void add_approximations(Forms& forms) {
  const auto add = [&](const std::string& text, const std::string& type, bool ftz, auto function) {
    const bool packed = type.ends_with("x2");
    const Match match = type[0] == 'b' ? Match::near_bf16 : Match::near_f16;
    forms.push_back({text + "." + type + " $d, $a;",
                     type,
                     {type},
                     [=](const Lane& x) {
                       const HalfFormat& format = format_of(type);
                       return by_halves(type, x, [&](const Lane& half) {
                         const std::uint64_t a = ftz ? format.flush(half[0]) : half[0] & 0xffff;
                         const long double value = format.decode(a);
                         const long double y = function(value);
                         // An f32 that is cut off, unless it is too large.
                         const auto wide = static_cast<float>(y);
                         const bool fits = type[0] == 'b' || std::fabs(wide) < 0x1p16f;
                         const std::uint64_t bits =
                             format.round(wide, fits ? "rz" : "rn", std::signbit(y));
                         return ftz && !format.is_nan(bits) ? format.flush(bits) : bits;
                       });
                     },
                     packed ? Match::bits : match});
  };
  const auto ex2 = [](long double x) { return std::exp2(x); };
  const auto tanh = [](long double x) { return std::tanh(x); };
  for (const std::string pair : {"", "x2"}) {
    add("ex2.approx", "f16" + pair, false, ex2);
    add("ex2.approx.ftz", "bf16" + pair, true, ex2);
    add("tanh.approx", "f16" + pair, false, tanh);
    add("tanh.approx", "bf16" + pair, false, tanh);
  }
}

Forms half_forms() {
  Forms forms;
  for (const std::string type : {"f16", "f16x2", "bf16", "bf16x2"}) {
    add_arithmetic(forms, type);
    add_extremes(forms, type);
    add_signs(forms, type);
  }
  add_approximations(forms);
  return forms;
}
const FormFile kForms{"half", half_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_half_forms
