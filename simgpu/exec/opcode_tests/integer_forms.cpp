#include <algorithm>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// Integer arithmetic, judged by 128-bit integers cut to the register.
namespace simgpu::opcode_tests::of_integer_forms {
namespace {

using Operation = std::function<Wide(Wide, Wide, Wide)>;

std::string wider(const std::string& type) {
  return type.substr(0, 1) + std::to_string(2 * width_of(type));
}

Wide magnitude(Wide x) { return x < 0 ? -x : x; }

Wide clamped(Wide x, const std::string& type) { return std::clamp(x, lowest(type), highest(type)); }

/// A form whose operands are `sources` and whose exact result is cut to `result`.
Form exact_form(const std::string& text, const std::string& result,
                const std::vector<std::string>& sources, const Operation& operation) {
  const auto expected = [=](const Lane& lane) {
    Wide values[3] = {0, 0, 0};
    for (std::size_t i = 0; i < sources.size(); ++i) values[i] = integer_of(lane[i], sources[i]);
    return cut(operation(values[0], values[1], values[2]), register_bits(result));
  };
  return {text, result, sources, expected};
}

/// Product of 64-bit operands: the bits that a signed 128-bit integer holds are those of the
/// product.
Wide product(Wide a, Wide b) {
  __extension__ using Bits = unsigned __int128;
  return static_cast<Wide>(static_cast<Bits>(a) * static_cast<Bits>(b));
}

Wide high_half(Wide a, Wide b, const std::string& type) {
  const unsigned width = width_of(type);
  if (is_signed(type)) return product(a, b) >> width;
  __extension__ using Bits = unsigned __int128;
  return static_cast<Wide>(static_cast<Bits>(product(a, b)) >> width);
}

void add_arithmetic(Forms& forms, const std::string& type) {
  const auto binary = [&](const std::string& opcode, const Operation& operation) {
    forms.push_back(
        exact_form(opcode + "." + type + " $d, $a, $b;", type, {type, type}, operation));
  };
  const auto ternary = [&](const std::string& opcode, const Operation& operation) {
    forms.push_back(
        exact_form(opcode + "." + type + " $d, $a, $b, $c;", type, {type, type, type}, operation));
  };
  binary("add", [](Wide a, Wide b, Wide) { return a + b; });
  binary("sub", [](Wide a, Wide b, Wide) { return a - b; });
  binary("mul.lo", [](Wide a, Wide b, Wide) { return product(a, b); });
  binary("mul.hi", [=](Wide a, Wide b, Wide) { return high_half(a, b, type); });
  binary("min", [](Wide a, Wide b, Wide) { return std::min(a, b); });
  binary("max", [](Wide a, Wide b, Wide) { return std::max(a, b); });
  // By zero: all ones.
  binary("div", [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; });
  binary("rem", [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a % b; });
  ternary("mad.lo", [](Wide a, Wide b, Wide c) { return product(a, b) + c; });
  ternary("mad.hi", [=](Wide a, Wide b, Wide c) { return high_half(a, b, type) + c; });
  ternary("sad", [](Wide a, Wide b, Wide c) { return c + magnitude(a - b); });
  if (is_signed(type)) {
    forms.push_back(exact_form("abs." + type + " $d, $a;", type, {type},
                               [](Wide a, Wide, Wide) { return magnitude(a); }));
    forms.push_back(exact_form("neg." + type + " $d, $a;", type, {type},
                               [](Wide a, Wide, Wide) { return -a; }));
  }
  if (width_of(type) == 64) return;
  const std::string wide = wider(type);
  forms.push_back(exact_form("mul.wide." + type + " $d, $a, $b;", wide, {type, type},
                             [](Wide a, Wide b, Wide) { return a * b; }));
  forms.push_back(exact_form("mad.wide." + type + " $d, $a, $b, $c;", wide, {type, type, wide},
                             [](Wide a, Wide b, Wide c) { return a * b + c; }));
}

void add_shifts(Forms& forms, const std::string& type) {
  const std::string bits = "b" + type.substr(1);
  const unsigned width = width_of(type);
  const auto shifted_right = [=](Wide a, Wide n, Wide) { return a >> std::min<Wide>(n, 100); };
  forms.push_back(exact_form("shr." + type + " $d, $a, $b;", type, {type, "u32"}, shifted_right));
  if (is_signed(type)) return;
  forms.push_back(exact_form("shr." + bits + " $d, $a, $b;", type, {type, "u32"}, shifted_right));
  forms.push_back(exact_form(
      "shl." + bits + " $d, $a, $b;", type, {type, "u32"},
      [=](Wide a, Wide n, Wide) { return n >= width ? Wide{0} : product(a, Wide{1} << n); }));
}

void add_immediates(Forms& forms) {
  forms.push_back(
      exact_form("add.s32 $d, $a, -7;", "s32", {"s32"}, [](Wide a, Wide, Wide) { return a - 7; }));
  forms.push_back(exact_form("add.s64 $d, $a, -4294967297;", "s64", {"s64"},
                             [](Wide a, Wide, Wide) { return a - 4294967297; }));
  forms.push_back(exact_form("mul.wide.s32 $d, $a, -4;", "s64", {"s32"},
                             [](Wide a, Wide, Wide) { return a * -4; }));
  forms.push_back(exact_form("mul.wide.u32 $d, $a, -4;", "u64", {"u32"},
                             [](Wide a, Wide, Wide) { return a * 4294967292; }));
  forms.push_back(
      exact_form("sub.s16 $d, 5, $a;", "s16", {"s16"}, [](Wide a, Wide, Wide) { return 5 - a; }));
  forms.push_back(
      exact_form("div.s16 $d, $a, -3;", "s16", {"s16"}, [](Wide a, Wide, Wide) { return a / -3; }));
  forms.push_back(exact_form("max.u32 $d, $a, -1;", "u32", {"u32"},
                             [](Wide, Wide, Wide) { return Wide{0xffffffff}; }));
  forms.push_back(exact_form("shr.s32 $d, $a, 31;", "s32", {"s32"},
                             [](Wide a, Wide, Wide) { return a >> 31; }));
}

void add_carries(Forms& forms, const std::string& type) {
  const unsigned width = width_of(type);
  const auto carry_of = [=](Wide sum) { return sum >> width & 1; };
  // The second instruction's result shows the carry that the first one left.
  forms.push_back(exact_form("add.cc." + type + " $d, $a, $b; addc." + type + " $d, $a, $c;", type,
                             {type, type, type},
                             [=](Wide a, Wide b, Wide c) { return a + c + carry_of(a + b); }));
  forms.push_back(exact_form("sub.cc." + type + " $d, $a, $b; subc." + type + " $d, $a, $c;", type,
                             {type, type, type},
                             [=](Wide a, Wide b, Wide c) { return a - c - (a < b ? 1 : 0); }));
  forms.push_back(exact_form("add.cc." + type + " $d, $a, $b; addc.cc." + type +
                                 " $d, $b, $c; addc." + type + " $d, $a, 0;",
                             type, {type, type, type}, [=](Wide a, Wide b, Wide c) {
                               return a + carry_of(b + c + carry_of(a + b));
                             }));
  forms.push_back(exact_form("sub.cc." + type + " $d, $a, $b; subc.cc." + type +
                                 " $d, $b, $c; subc." + type + " $d, $a, 0;",
                             type, {type, type, type}, [=](Wide a, Wide b, Wide c) {
                               return a - (b - c - (a < b ? 1 : 0) < 0 ? 1 : 0);
                             }));
  // As in nvcc's division of 128-bit integers: a difference carries where it does not borrow.
  forms.push_back(exact_form("sub.cc." + type + " $d, $a, $b; addc." + type + " $d, $c, 0;", type,
                             {type, type, type},
                             [=](Wide a, Wide b, Wide c) { return c + (a < b ? 0 : 1); }));
  const Wide mask = (Wide{1} << width) - 1;
  forms.push_back(
      exact_form("mad.lo.cc." + type + " $d, $a, $b, $c; madc.hi." + type + " $d, $a, $b, $c;",
                 type, {type, type, type}, [=](Wide a, Wide b, Wide c) {
                   const Wide carry = carry_of((product(a, b) & mask) + c);
                   return high_half(a, b, type) + c + carry;
                 }));
}

/// Products with a carry in and out; signed carries are those of the same bits. subc borrows where
/// there was no carry: it is a + ~b + CC.CF.
void add_product_carries(Forms& forms, unsigned width) {
  const std::string u = "u" + std::to_string(width);
  const std::string s = "s" + std::to_string(width);
  const Wide mask = (Wide{1} << width) - 1;
  forms.push_back(exact_form("mad.hi.cc." + u + " $d, $a, $b, $c; madc.lo.cc." + u +
                                 " $d, $b, $c, $a; addc." + u + " $d, $a, 0;",
                             u, {u, u, u}, [=](Wide a, Wide b, Wide c) {
                               const Wide first = (high_half(a, b, u) + c) >> width;
                               return a + (((product(b, c) & mask) + a + first) >> width);
                             }));
  forms.push_back(exact_form(
      "add.cc." + s + " $d, $a, $b; madc.hi.cc." + u + " $d, $a, $b, $c; subc." + s + " $d, $a, 0;",
      u, {u, u, u}, [=](Wide a, Wide b, Wide c) {
        const Wide first = (a + b) >> width;
        return a - 1 + ((high_half(a, b, u) + c + first) >> width);
      }));
}

void add_narrow_products(Forms& forms) {
  for (const std::string type : {"s32", "u32"}) {
    const auto low = [=](Wide x) {
      const Wide bits = x & 0xffffff;
      return is_signed(type) && bits >= 0x800000 ? bits - 0x1000000 : bits;
    };
    forms.push_back(exact_form("mul24.lo." + type + " $d, $a, $b;", type, {type, type},
                               [=](Wide a, Wide b, Wide) { return low(a) * low(b); }));
    forms.push_back(exact_form("mul24.hi." + type + " $d, $a, $b;", type, {type, type},
                               [=](Wide a, Wide b, Wide) { return low(a) * low(b) >> 16; }));
    forms.push_back(exact_form("mad24.lo." + type + " $d, $a, $b, $c;", type, {type, type, type},
                               [=](Wide a, Wide b, Wide c) { return low(a) * low(b) + c; }));
    forms.push_back(
        exact_form("mad24.hi." + type + " $d, $a, $b, $c;", type, {type, type, type},
                   [=](Wide a, Wide b, Wide c) { return (low(a) * low(b) >> 16) + c; }));
  }
}

void add_dot_products(Forms& forms) {
  for (const std::string a_type : {"s32", "u32"}) {
    for (const std::string b_type : {"s32", "u32"}) {
      const std::string types = a_type + "." + b_type;
      const std::string sum = a_type == "s32" || b_type == "s32" ? "s32" : "u32";
      const std::string a8 = a_type.substr(0, 1) + "8";
      const std::string b8 = b_type.substr(0, 1) + "8";
      const std::string a16 = a_type.substr(0, 1) + "16";
      const auto field = [](Wide x, int shift, const std::string& type) {
        return integer_of(static_cast<std::uint64_t>(x >> shift), type);
      };
      forms.push_back(exact_form("dp4a." + types + " $d, $a, $b, $c;", sum, {a_type, b_type, sum},
                                 [=](Wide a, Wide b, Wide c) {
                                   for (int i = 0; i < 32; i += 8) {
                                     c += field(a, i, a8) * field(b, i, b8);
                                   }
                                   return c;
                                 }));
      for (const int high : {0, 16}) {
        forms.push_back(exact_form(
            std::string("dp2a.") + (high != 0 ? "hi." : "lo.") + types + " $d, $a, $b, $c;", sum,
            {a_type, b_type, sum}, [=](Wide a, Wide b, Wide c) {
              return c + field(a, 0, a16) * field(b, high, b8) +
                     field(a, 16, a16) * field(b, high + 8, b8);
            }));
      }
    }
  }
}

Forms integer_forms() {
  Forms forms;
  for (const std::string type : {"s16", "u16", "s32", "u32", "s64", "u64"}) {
    add_arithmetic(forms, type);
    add_shifts(forms, type);
  }
  add_immediates(forms);
  add_carries(forms, "u32");
  add_carries(forms, "u64");
  add_product_carries(forms, 32);
  add_product_carries(forms, 64);
  add_narrow_products(forms);
  add_dot_products(forms);
  const auto saturated = [](const std::string& opcode, const Operation& operation, bool ternary) {
    const std::vector<std::string> sources(ternary ? 3 : 2, "s32");
    return exact_form(opcode + (ternary ? " $d, $a, $b, $c;" : " $d, $a, $b;"), "s32", sources,
                      [=](Wide a, Wide b, Wide c) { return clamped(operation(a, b, c), "s32"); });
  };
  forms.push_back(saturated(
      "add.sat.s32", [](Wide a, Wide b, Wide) { return a + b; }, false));
  forms.push_back(saturated(
      "sub.sat.s32", [](Wide a, Wide b, Wide) { return a - b; }, false));
  forms.push_back(exact_form(
      "mad24.hi.sat.s32 $d, $a, $b, $c;", "s32", {"s32", "s32", "s32"}, [](Wide a, Wide b, Wide c) {
        const auto low = [](Wide x) { return integer_of(static_cast<std::uint64_t>(x), "s24"); };
        return clamped((low(a) * low(b) >> 16) + c, "s32");
      }));
  for (const std::string type : {"relu.s32", "s32.relu"}) {
    forms.push_back(
        exact_form("min." + type + " $d, $a, $b;", "s32", {"s32", "s32"},
                   [](Wide a, Wide b, Wide) { return std::max<Wide>(std::min(a, b), 0); }));
    forms.push_back(
        exact_form("max." + type + " $d, $a, $b;", "s32", {"s32", "s32"},
                   [](Wide a, Wide b, Wide) { return std::max<Wide>(std::max(a, b), 0); }));
  }
  forms.push_back(saturated(
      "mad.hi.sat.s32", [](Wide a, Wide b, Wide c) { return (a * b >> 32) + c; }, true));
  return forms;
}
const FormFile kForms{"integer", integer_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_integer_forms
