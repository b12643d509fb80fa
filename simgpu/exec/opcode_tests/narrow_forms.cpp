#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// 8-bit floats, judged by a search through all their values; packed integers, one part at a time.
namespace simgpu::opcode_tests::of_narrow_forms {
namespace {

struct Fp8 {
  std::string name;
  int fraction_bits;
  int bias;
  unsigned largest;  ///< finite, without the sign

  double decode(unsigned code) const {
    const unsigned magnitude = code & 0x7f;
    const unsigned field = magnitude >> fraction_bits;
    const double fraction = std::ldexp(magnitude & ((1U << fraction_bits) - 1), -fraction_bits);
    const double value = field == 0 ? std::ldexp(fraction, 1 - bias)
                                    : std::ldexp(1 + fraction, static_cast<int>(field) - bias);
    return (code & 0x80) != 0 ? -value : value;
  }
  /// To the nearest, of two the even one; beyond the largest, the largest.
  unsigned round(double x, bool relu) const {
    if (std::isnan(x)) return 0x7f;
    if (relu && std::signbit(x)) return 0;
    unsigned best = 0;
    for (unsigned code = 1; code <= largest; ++code) {
      const double distance = std::fabs(std::fabs(x) - decode(code));
      const double before = std::fabs(std::fabs(x) - decode(best));
      if (distance < before || (distance == before && code % 2 == 0)) best = code;
    }
    if (std::fabs(x) > decode(largest)) best = largest;
    return best | (std::signbit(x) ? 0x80 : 0);
  }
};

const Fp8 kFp8[] = {{"e4m3x2", 3, 7, 0x7e}, {"e5m2x2", 2, 15, 0x7b}};

std::uint64_t widened(const Fp8& format, unsigned code, bool relu) {
  const bool infinite = format.name == "e5m2x2" && (code & 0x7f) == 0x7c;
  if ((code & 0x7f) > format.largest && !infinite) return 0x7fff;
  if (relu && (code & 0x80) != 0) return 0;
  if (infinite) return (code & 0x80) != 0 ? 0xfc00 : 0x7c00;
  return HalfFormat::f16().round(format.decode(code), "rn", (code & 0x80) != 0);
}

/// Parts of `bits` bits of a register, signed or not.
Wide part_of(std::uint64_t x, unsigned at, unsigned bits, bool with_sign) {
  return integer_of(x >> at, (with_sign ? "s" : "u") + std::to_string(bits));
}

using PartOperation = std::function<Wide(Wide, Wide)>;

void add_halves(Forms& forms, const std::string& opcode, bool with_sign,
                const PartOperation& operation) {
  forms.push_back({opcode + " $d, $a, $b;", "u32", {"u32", "u32"}, [=](const Lane& x) {
                     std::uint64_t result = 0;
                     for (unsigned at = 0; at < 32; at += 16) {
                       result |= cut(operation(part_of(x[0], at, 16, with_sign),
                                               part_of(x[1], at, 16, with_sign)),
                                     16)
                                 << at;
                     }
                     return result;
                   }});
}

void add_differences(Forms& forms, unsigned bits, bool signed_a, bool signed_b) {
  const auto letter = [](bool is_signed) { return std::string(is_signed ? "s32" : "u32"); };
  const auto difference = [=](const Lane& x, unsigned at) {
    const Wide distance = part_of(x[0], at, bits, signed_a) - part_of(x[1], at, bits, signed_b);
    return distance < 0 ? -distance : distance;
  };
  for (const std::string to : {"u32", "s32"}) {
    const std::string name = "vabsdiff" + std::to_string(32 / bits) + "." + to + "." +
                             letter(signed_a) + "." + letter(signed_b);
    forms.push_back({name + " $d, $a, $b, $c;", "u32", {"u32", "u32", "u32"}, [=](const Lane& x) {
                       std::uint64_t result = 0;
                       for (unsigned at = 0; at < 32; at += bits)
                         result |= cut(difference(x, at), bits) << at;
                       return result;
                     }});
    forms.push_back(
        {name + ".add $d, $a, $b, $c;", "u32", {"u32", "u32", "u32"}, [=](const Lane& x) {
           Wide sum = static_cast<Wide>(x[2]);
           for (unsigned at = 0; at < 32; at += bits) sum += difference(x, at);
           return cut(sum, 32);
         }});
  }
}

void add_fp8(Forms& forms) {
  for (const Fp8& format : kFp8) {
    for (const bool relu : {false, true}) {
      const std::string mode = relu ? ".relu." : ".";
      forms.push_back({"cvt.rn.satfinite" + mode + format.name + ".f32 $d, $a, $b;",
                       "u16",
                       {"f32", "f32"},
                       [=](const Lane& x) {
                         return std::uint64_t{format.round(f32_of(x[0]), relu)} << 8 |
                                format.round(f32_of(x[1]), relu);
                       }});
      forms.push_back({"cvt.rn.satfinite" + mode + format.name + ".f16x2 $d, $a;",
                       "u16",
                       {"f16x2"},
                       [=](const Lane& x) {
                         const auto rounded = [&](std::uint64_t half) {
                           const bool is_nan = HalfFormat::f16().is_nan(half);
                           return std::uint64_t{
                               format.round(is_nan ? NAN : HalfFormat::f16().decode(half), relu)};
                         };
                         return rounded(x[0] >> 16 & 0xffff) << 8 | rounded(x[0] & 0xffff);
                       }});
      forms.push_back({"cvt.rn" + mode + "f16x2." + format.name + " $d, $a;",
                       "u32",
                       {"u16"},
                       [=](const Lane& x) {
                         const auto high = static_cast<unsigned>(x[0] >> 8 & 0xff);
                         const auto low = static_cast<unsigned>(x[0] & 0xff);
                         return widened(format, high, relu) << 16 | widened(format, low, relu);
                       }});
    }
  }
}

void add_packed_integers(Forms& forms) {
  const auto smaller = [](Wide a, Wide b) { return std::min(a, b); };
  const auto larger = [](Wide a, Wide b) { return std::max(a, b); };
  const auto positive = [](const PartOperation& operation) {
    return [=](Wide a, Wide b) { return std::max<Wide>(operation(a, b), 0); };
  };
  for (const bool with_sign : {false, true}) {
    const std::string type = with_sign ? ".s16x2" : ".u16x2";
    add_halves(forms, "add" + type, with_sign, [](Wide a, Wide b) { return a + b; });
    add_halves(forms, "min" + type, with_sign, smaller);
    add_halves(forms, "max" + type, with_sign, larger);
  }
  for (const std::string type : {".s16x2.relu", ".relu.s16x2"}) {
    add_halves(forms, "min" + type, true, positive(smaller));
    add_halves(forms, "max" + type, true, positive(larger));
  }
  for (const unsigned bits : {8U, 16U}) {
    for (const bool signed_a : {false, true}) {
      for (const bool signed_b : {false, true}) add_differences(forms, bits, signed_a, signed_b);
    }
  }
}

Forms narrow_forms() {
  Forms forms;
  add_fp8(forms);
  add_packed_integers(forms);
  return forms;
}
const FormFile kForms{"narrow", narrow_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_narrow_forms
