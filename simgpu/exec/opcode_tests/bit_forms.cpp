#include <algorithm>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// Logic, fields, permutations and moves, judged bit by bit.
namespace simgpu::opcode_tests::of_bit_forms {
namespace {

std::uint64_t ones(unsigned width) { return cut(Wide{-1}, width); }
bool bit(std::uint64_t x, unsigned at) { return (x >> at & 1) != 0; }

/// selp and slct under each of a register's type names.
void add_selections(Forms& forms, const std::vector<std::string>& names, const std::string& type) {
  const unsigned width = register_bits(type);
  for (const std::string& name : names) {
    forms.push_back(
        {"selp." + name + " $d, $a, $b, $c;", type, {type, type, "pred"}, [=](const Lane& x) {
           return (x[2] != 0 ? x[0] : x[1]) & ones(width);
         }});
    forms.push_back(
        {"slct." + name + ".s32 $d, $a, $b, $c;", type, {type, type, "s32"}, [=](const Lane& x) {
           return (integer_of(x[2], "s32") >= 0 ? x[0] : x[1]) & ones(width);
         }});
    for (const std::string ftz : {"", ".ftz"}) {
      forms.push_back({"slct" + ftz + "." + name + ".f32 $d, $a, $b, $c;",
                       type,
                       {type, type, "f32"},
                       [=](const Lane& x) {
                         const float c = ftz.empty() ? f32_of(x[2]) : flushed(f32_of(x[2]));
                         return (c >= 0.0f ? x[0] : x[1]) & ones(width);
                       }});
    }
  }
}

/// mov between a register and a vector of its parts.
void add_parts(Forms& forms) {
  const auto low = [](std::uint64_t x, unsigned width) { return x & ones(width); };
  forms.push_back({"mov.b32 $d, {$a, $b};", "u32", {"u16", "u16"}, [=](const Lane& x) {
                     return low(x[1], 16) << 16 | low(x[0], 16);
                   }});
  forms.push_back({"mov.b64 $d, {$a, $b};", "u64", {"u32", "u32"}, [=](const Lane& x) {
                     return low(x[1], 32) << 32 | low(x[0], 32);
                   }});
  forms.push_back(
      {"mov.b64 $d, {$a, $b, $c, $e};", "u64", {"u16", "u16", "u16", "u16"}, [=](const Lane& x) {
         return low(x[3], 16) << 48 | low(x[2], 16) << 32 | low(x[1], 16) << 16 | low(x[0], 16);
       }});
  forms.push_back({"mov.b32 {$d, $b}, $a;", "u16", {"u32", "u16"}, [=](const Lane& x) {
                     return low(x[0], 16);
                   }});
  forms.push_back({"mov.b32 {$b, $d}, $a;", "u16", {"u32", "u16"}, [=](const Lane& x) {
                     return low(x[0] >> 16, 16);
                   }});
  forms.push_back(
      {"mov.b64 {$d, _}, $a;", "u32", {"u64"}, [=](const Lane& x) { return low(x[0], 32); }});
  forms.push_back(
      {"mov.b64 {_, $d}, $a;", "u32", {"u64"}, [=](const Lane& x) { return x[0] >> 32; }});
  forms.push_back(
      {"mov.b64 {$b, $c, $d, $e}, $a;", "u16", {"u64", "u16", "u16", "u16"}, [=](const Lane& x) {
         return low(x[0] >> 32, 16);
       }});
  // Vectors of registers; an element that is written may be one that is still to be read. Twice
  // exchanged, all are what they were.
  const auto twice = [](const std::string& exchange) { return exchange + exchange; };
  forms.push_back({twice("mov.v2.u32 {$a, $b}, {$b, $a};") + "mov.u32 $d, $b;",
                   "u32",
                   {"u32", "u32"},
                   [=](const Lane& x) { return low(x[1], 32); }});
  forms.push_back(
      {"mov.v2.u32 {$d, $c}, {$b, 7};", "u32", {"u32", "u32", "u32"}, [=](const Lane& x) {
         return low(x[1], 32);
       }});
  for (const std::string type : {"u16", "b32"}) {
    const unsigned width = type == "u16" ? 16 : 32;
    forms.push_back({twice("mov.v4." + type + " {$a, $b, $c, $e}, {$e, $c, $b, $a};") + "mov." +
                         type + " $d, $c;",
                     type,
                     {type, type, type, type},
                     [=](const Lane& x) { return low(x[2], width); }});
  }
  forms.push_back({"mov.v2.f64 {$d, $a}, {$b, $a};", "f64", {"f64", "f64"}, [=](const Lane& x) {
                     return x[1];
                   }});
  forms.push_back({"mov.pred $d, $a;", "pred", {"pred"}, [](const Lane& x) {
                     return std::uint64_t{x[0] != 0};
                   }});
}

void add_logic(Forms& forms) {
  for (const unsigned width : {16u, 32u, 64u}) {
    const std::string type = "b" + std::to_string(width);
    const std::string u = "u" + std::to_string(width);
    const auto add = [&](const std::string& opcode, auto operation) {
      forms.push_back({opcode + "." + type + " $d, $a, $b;", u, {u, u}, [=](const Lane& x) {
                         return cut(static_cast<Wide>(operation(x[0], x[1])), width);
                       }});
    };
    add("and", [](std::uint64_t a, std::uint64_t b) { return a & b; });
    add("or", [](std::uint64_t a, std::uint64_t b) { return a | b; });
    add("xor", [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
    forms.push_back(
        {"not." + type + " $d, $a;", u, {u}, [=](const Lane& x) { return ~x[0] & ones(width); }});
    forms.push_back({"cnot." + type + " $d, $a;", u, {u}, [=](const Lane& x) {
                       return std::uint64_t{(x[0] & ones(width)) == 0};
                     }});
    forms.push_back(
        {"mov." + type + " $d, $a;", u, {u}, [=](const Lane& x) { return x[0] & ones(width); }});
    add_selections(forms, {type, u, "s" + std::to_string(width)}, u);
  }
  add_selections(forms, {"f32"}, "f32");
  add_selections(forms, {"f64"}, "f64");
  const auto predicates = [&](const std::string& opcode, auto operation) {
    forms.push_back({opcode + ".pred $d, $a, $b;", "pred", {"pred", "pred"}, [=](const Lane& x) {
                       return std::uint64_t{operation(x[0] != 0, x[1] != 0)};
                     }});
  };
  predicates("and", [](bool a, bool b) { return a && b; });
  predicates("or", [](bool a, bool b) { return a || b; });
  predicates("xor", [](bool a, bool b) { return a != b; });
  forms.push_back({"not.pred $d, $a;", "pred", {"pred"}, [](const Lane& x) {
                     return std::uint64_t{x[0] == 0};
                   }});
}

void add_counts(Forms& forms) {
  for (const unsigned width : {32u, 64u}) {
    const std::string w = std::to_string(width);
    const auto add = [&](const std::string& text, const std::string& result,
                         const std::string& source, auto operation) {
      forms.push_back({text, result, {source}, [=](const Lane& x) {
                         return cut(static_cast<Wide>(operation(x[0] & ones(width))),
                                    register_bits(result));
                       }});
    };
    add("popc.b" + w + " $d, $a;", "u32", "u" + w, [=](std::uint64_t x) {
      std::uint64_t count = 0;
      for (unsigned i = 0; i < width; ++i) count += bit(x, i) ? 1 : 0;
      return count;
    });
    add("clz.b" + w + " $d, $a;", "u32", "u" + w, [=](std::uint64_t x) {
      std::uint64_t count = 0;
      while (count < width && !bit(x, width - 1 - static_cast<unsigned>(count))) ++count;
      return count;
    });
    add("brev.b" + w + " $d, $a;", "u" + w, "u" + w, [=](std::uint64_t x) {
      std::uint64_t reversed = 0;
      for (unsigned i = 0; i < width; ++i) {
        if (bit(x, i)) reversed |= std::uint64_t{1} << (width - 1 - i);
      }
      return reversed;
    });
    for (const std::string sign : {"s", "u"}) {
      for (const bool shift : {false, true}) {
        add(std::string("bfind") + (shift ? ".shiftamt." : ".") + sign + w + " $d, $a;", "u32",
            sign + w, [=](std::uint64_t x) -> std::uint64_t {
              const bool copy = sign == "s" && bit(x, width - 1);
              for (unsigned i = width; i-- > 0;) {
                if (bit(x, i) != copy) return shift ? width - 1 - i : i;
              }
              return 0xffffffff;
            });
      }
    }
  }
}

std::uint64_t extracted(std::uint64_t x, unsigned position, unsigned length, unsigned width,
                        bool sign) {
  position &= 0xff;
  length &= 0xff;
  const bool fill = sign && length > 0 && bit(x, std::min(position + length - 1, width - 1));
  std::uint64_t result = 0;
  for (unsigned i = 0; i < width; ++i) {
    const bool inside = i < length && position + i < width;
    if (inside ? bit(x, position + i) : fill) result |= std::uint64_t{1} << i;
  }
  return result;
}

void add_fields(Forms& forms) {
  for (const unsigned width : {32u, 64u}) {
    const std::string w = std::to_string(width);
    for (const std::string sign : {"s", "u"}) {
      forms.push_back({"bfe." + sign + w + " $d, $a, $b, $c;",
                       sign + w,
                       {sign + w, "u32", "u32"},
                       [=](const Lane& x) {
                         return extracted(x[0], static_cast<unsigned>(x[1]),
                                          static_cast<unsigned>(x[2]), width, sign == "s");
                       }});
    }
    forms.push_back({"bfi.b" + w + " $d, $a, $b, $c, $e;",
                     "u" + w,
                     {"u" + w, "u" + w, "u32", "u32"},
                     [=](const Lane& x) {
                       std::uint64_t result = x[1] & ones(width);
                       const std::uint64_t position = x[2] & 0xff;
                       for (unsigned i = 0; i < (x[3] & 0xff) && position + i < width; ++i) {
                         const std::uint64_t place = std::uint64_t{1} << (position + i);
                         result = i < 64 && bit(x[0], i) ? result | place : result & ~place;
                       }
                       return result;
                     }});
  }
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    const auto amount = [=](std::uint64_t n) {
      const auto word = static_cast<std::uint32_t>(n);
      return wrap ? word % 32 : std::min(word, 32u);
    };
    forms.push_back({"shf.l." + mode + ".b32 $d, $a, $b, $c;",
                     "u32",
                     {"u32", "u32", "u32"},
                     [=](const Lane& x) {
                       const Wide pair =
                           static_cast<Wide>(ones(32) & x[1]) << 32 | (x[0] & ones(32));
                       return cut(pair << amount(x[2]) >> 32, 32);
                     }});
    forms.push_back({"shf.r." + mode + ".b32 $d, $a, $b, $c;",
                     "u32",
                     {"u32", "u32", "u32"},
                     [=](const Lane& x) {
                       const Wide pair =
                           static_cast<Wide>(ones(32) & x[1]) << 32 | (x[0] & ones(32));
                       return cut(pair >> amount(x[2]), 32);
                     }});
    forms.push_back(
        {"bmsk." + mode + ".b32 $d, $a, $b;", "u32", {"u32", "u32"}, [=](const Lane& x) {
           return cut(((Wide{1} << amount(x[1])) - 1) << amount(x[0]), 32);
         }});
    for (const std::string type : {"s32", "u32"}) {
      forms.push_back({"szext." + mode + "." + type + " $d, $a, $b;",
                       type,
                       {type, "u32"},
                       [=](const Lane& x) -> std::uint64_t {
                         const unsigned length = amount(x[1]);
                         if (length == 0) return 0;
                         const std::string cut_type = type.substr(0, 1) + std::to_string(length);
                         return cut(integer_of(x[0], cut_type), 32);
                       }});
    }
  }
}

/// Byte numbers of prmt's special modes, lowest result byte first, by the low two bits of the
/// control.
const std::uint8_t* special_bytes(const std::string& mode, std::uint64_t control) {
  static const std::uint8_t f4e[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
  static const std::uint8_t b4e[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
  static const std::uint8_t rc8[4][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  static const std::uint8_t ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
  static const std::uint8_t ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
  static const std::uint8_t rc16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
  const auto* table = mode == "f4e"   ? f4e
                      : mode == "b4e" ? b4e
                      : mode == "rc8" ? rc8
                      : mode == "ecl" ? ecl
                      : mode == "ecr" ? ecr
                                      : rc16;
  return table[control & 3];
}

std::uint64_t permuted(const Lane& x, const std::string& mode) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto nibble = static_cast<unsigned>(x[2] >> (4 * i) & 0xf);
    const unsigned selector = mode.empty() ? nibble : special_bytes(mode, x[2])[i];
    const unsigned source = selector & 7;
    std::uint64_t byte = (source < 4 ? x[0] : x[1]) >> (8 * (source % 4)) & 0xff;
    if (selector >= 8) byte = byte >= 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

void add_permutations(Forms& forms) {
  for (const std::string mode : {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
    forms.push_back({"prmt.b32" + (mode.empty() ? "" : "." + mode) + " $d, $a, $b, $c;",
                     "u32",
                     {"u32", "u32", "u32"},
                     [=](const Lane& x) { return permuted(x, mode); }});
  }
  // With a predicate: whether a & b & c is not 0, or and what the other one says.
  const auto common = [](const Lane& x) { return (x[0] & x[1] & x[2] & 0xffffffff) != 0; };
  forms.push_back({"lop3.or.b32 $a|$d, $a, $b, $c, 0x80, $e;",
                   "pred",
                   {"u32", "u32", "u32", "pred"},
                   [=](const Lane& x) { return common(x) || x[3] != 0 ? 1 : 0; }});
  forms.push_back({"lop3.and.b32 _|$d, $a, $b, $c, 0x80, $e;",
                   "pred",
                   {"u32", "u32", "u32", "pred"},
                   [=](const Lane& x) { return common(x) && x[3] != 0 ? 1 : 0; }});
  forms.push_back({"lop3.and.b32 $d|$e, $a, $b, $c, 0x80, $e;",
                   "u32",
                   {"u32", "u32", "u32", "pred"},
                   [=](const Lane& x) { return x[0] & x[1] & x[2] & 0xffffffff; }});
  for (const unsigned table : {0x00u, 0x01u, 0x80u, 0x96u, 0xe8u, 0xcau, 0x3cu, 0xf8u, 0xffu}) {
    forms.push_back({"lop3.b32 $d, $a, $b, $c, " + std::to_string(table) + ";",
                     "u32",
                     {"u32", "u32", "u32"},
                     [=](const Lane& x) {
                       std::uint64_t result = 0;
                       for (unsigned i = 0; i < 32; ++i) {
                         const unsigned row = (bit(x[0], i) ? 4u : 0u) + (bit(x[1], i) ? 2u : 0u) +
                                              (bit(x[2], i) ? 1u : 0u);
                         if (bit(table, row)) result |= std::uint64_t{1} << i;
                       }
                       return result;
                     }});
  }
  forms.push_back(
      {"fns.b32 $d, $a, $b, $c;", "u32", {"u32", "u32", "s32"}, [](const Lane& x) -> std::uint64_t {
         const Wide base = integer_of(x[1], "u32");
         const Wide n = integer_of(x[2], "s32");
         if (base > 31) return 0xffffffff;
         Wide seen = 0;
         const int step = n < 0 ? -1 : 1;
         for (Wide i = base; i >= 0 && i < 32; i += step) {
           if (bit(x[0], static_cast<unsigned>(i)) && ++seen == (n == 0 ? 1 : n * step)) {
             return static_cast<std::uint64_t>(i);
           }
           if (n == 0) break;
         }
         return 0xffffffff;
       }});
}

Forms bit_forms() {
  Forms forms;
  add_logic(forms);
  add_parts(forms);
  add_counts(forms);
  add_fields(forms);
  add_permutations(forms);
  return forms;
}
const FormFile kForms{"bit", bit_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_bit_forms
