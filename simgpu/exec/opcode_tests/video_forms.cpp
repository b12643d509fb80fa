#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// Video instructions and cvt.pack, as the PTX ISA's pseudocode has them, in numbers of 128 bits.
namespace simgpu::opcode_tests::of_video_forms {
namespace {

using Operation = std::function<Wide(Wide, Wide)>;

/// "u32" or "s32": the part's type is as signed as the operand's.
Wide part(std::uint64_t x, unsigned first, unsigned bits, const std::string& type) {
  return integer_of(x >> first, std::string(1, type[0]) + std::to_string(bits));
}

/// A part of a register as PTX writes it: "", ".b2", ".h1".
struct Selected {
  std::string text;
  unsigned first, bits;
};
const Selected kWhole{"", 0, 32};
const Selected kByte1{".b1", 8, 8}, kByte3{".b3", 24, 8}, kHalf0{".h0", 0, 16},
    kHalf1{".h1", 16, 16};

Wide within(Wide x, unsigned bits, const std::string& type) {
  const std::string narrow = std::string(1, type[0]) + std::to_string(bits);
  return std::min(std::max(x, lowest(narrow)), highest(narrow));
}

/// What follows the operation itself.
struct Ending {
  bool saturates = false;
  std::string second;  ///< "", "add", "min", "max"
  Selected to = kWhole;
};

std::uint64_t ended(Wide x, const Ending& ending, const std::string& type, std::uint64_t c) {
  if (ending.saturates) x = within(x, ending.to.bits, type);
  const Wide addend = integer_of(c, type);
  if (ending.second == "add") return cut(x + addend, 32);
  if (ending.second == "min") return cut(std::min(x, addend), 32);
  if (ending.second == "max") return cut(std::max(x, addend), 32);
  const std::uint64_t mask = ((std::uint64_t{1} << ending.to.bits) - 1) << ending.to.first;
  return (cut(c, 32) & ~mask) | ((cut(x, 32) << ending.to.first) & mask);
}

/// Names are in the order in which the PTX ISA has them.
struct Scalar {
  std::string opcode, result, a, b, mode;
  Ending ending;
  Selected from_a = kWhole, from_b = kWhole;
};

void add_scalar(Forms& forms, const Scalar& form, const Operation& operation) {
  std::string text = form.opcode;
  for (const std::string& type : {form.result, form.a, form.b}) {
    if (!type.empty()) text += "." + type;
  }
  if (form.ending.saturates) text += ".sat";
  text += form.mode + (form.ending.second.empty() ? "" : "." + form.ending.second);
  text += " $d" + form.ending.to.text + ", $a" + form.from_a.text + ", $b" + form.from_b.text;
  const bool has_c = !form.ending.second.empty() || !form.ending.to.text.empty();
  std::vector<std::string> sources{"u32", "u32"};
  if (has_c) sources.emplace_back("u32");
  const std::string type = form.result.empty() ? "u32" : form.result;
  forms.push_back({text + (has_c ? ", $c;" : ";"), "u32", sources, [=](const Lane& x) {
                     const Wide a = part(x[0], form.from_a.first, form.from_a.bits, form.a);
                     const Wide b = part(x[1], form.from_b.first, form.from_b.bits, form.b);
                     return ended(operation(a, b), form.ending, type, has_c ? x[2] : 0);
                   }});
}

const std::vector<std::array<std::string, 3>> kTypes{
    {"u32", "u32", "u32"}, {"s32", "s32", "s32"}, {"s32", "u32", "s32"}, {"u32", "s32", "u32"}};

const std::vector<Ending> kEndings{{},
                                   {true, "", kWhole},
                                   {false, "add", kWhole},
                                   {true, "min", kWhole},
                                   {false, "max", kWhole},
                                   {true, "", kByte1},
                                   {false, "", kHalf1}};

void add_scalars(Forms& forms) {
  const std::vector<std::pair<std::string, Operation>> operations{
      {"vadd", [](Wide a, Wide b) { return a + b; }},
      {"vsub", [](Wide a, Wide b) { return a - b; }},
      {"vabsdiff", [](Wide a, Wide b) { return a < b ? b - a : a - b; }},
      {"vmin", [](Wide a, Wide b) { return a < b ? a : b; }},
      {"vmax", [](Wide a, Wide b) { return a < b ? b : a; }}};
  for (const auto& [opcode, operation] : operations) {
    for (const auto& [result, a, b] : kTypes) {
      for (const Ending& ending : kEndings) {
        const bool parts = !ending.to.text.empty();
        add_scalar(
            forms,
            {opcode, result, a, b, "", ending, parts ? kByte3 : kWhole, parts ? kHalf0 : kWhole},
            operation);
      }
    }
  }
}

void add_shifts(Forms& forms) {
  for (const bool left : {true, false}) {
    for (const std::string mode : {".clamp", ".wrap"}) {
      const auto shift = [=](Wide a, Wide b) {
        const Wide by = mode == ".wrap" ? b % 32 : std::min<Wide>(b, 32);
        Wide power = 1;
        for (Wide i = 0; i < by; ++i) power *= 2;
        if (left) return a * power;
        return a >= 0 ? a / power : (a - power + 1) / power;  // downwards
      };
      for (const std::string result : {"u32", "s32"}) {
        for (const std::string a : {"u32", "s32"}) {
          for (const Ending& ending : kEndings) {
            const bool parts = !ending.to.text.empty();
            add_scalar(forms,
                       {left ? "vshl" : "vshr", result, a, "u32", mode, ending,
                        parts ? kHalf1 : kWhole, parts ? kByte1 : kWhole},
                       shift);
          }
        }
      }
    }
  }
}

const std::vector<std::pair<std::string, std::function<bool(Wide, Wide)>>> kRelations{
    {"eq", [](Wide a, Wide b) { return a == b; }}, {"ne", [](Wide a, Wide b) { return a != b; }},
    {"lt", [](Wide a, Wide b) { return a < b; }},  {"le", [](Wide a, Wide b) { return a <= b; }},
    {"gt", [](Wide a, Wide b) { return a > b; }},  {"ge", [](Wide a, Wide b) { return a >= b; }}};

void add_sets(Forms& forms) {
  const std::vector<Ending> endings{
      {}, {false, "add", kWhole}, {false, "min", kWhole}, {false, "", kByte3}};
  for (const auto& [name, holds] : kRelations) {
    for (const auto& [unused, a, b] : kTypes) {
      for (const Ending& ending : endings) {
        const bool parts = !ending.to.text.empty();
        const auto compare = [holds = holds](Wide x, Wide y) { return Wide{holds(x, y) ? 1 : 0}; };
        add_scalar(forms,
                   {"vset", "", a, b, "." + name, ending, parts ? kHalf0 : kWhole,
                    parts ? kByte1 : kWhole},
                   compare);
      }
    }
  }
}

struct Mad {
  std::string modifiers;
  bool negates_a = false, negates_b = false, negates_c = false;
};

void add_mads(Forms& forms) {
  const std::vector<Mad> all{{""},
                             {".sat"},
                             {".shr7"},
                             {".sat.shr15"},
                             {".po"},
                             {".po.sat.shr7"},
                             {".sat", true},
                             {".shr7", false, true},
                             {"", false, false, true},
                             {".sat.shr15", true, true}};
  for (const std::string result : {"u32", "s32"}) {
    for (const auto& [unused, a, b] : kTypes) {
      for (const Mad& mad : all) {
        const auto has = [&](const char* part) {
          return mad.modifiers.find(part) != std::string::npos;
        };
        const unsigned shift = has("shr15") ? 15 : has("shr7") ? 7 : 0;
        const bool saturates = has("sat"), plus_one = has("po");
        const bool negates = mad.negates_a != mad.negates_b;
        const auto minus = [](bool is) { return std::string(is ? "-" : ""); };
        const bool is_signed = a == "s32" || b == "s32" || negates || mad.negates_c;
        const std::string of = is_signed ? "s32" : "u32";
        forms.push_back(
            {"vmad." + result + "." + a + "." + b + mad.modifiers + " $d, " + minus(mad.negates_a) +
                 "$a, " + minus(mad.negates_b) + "$b, " + minus(mad.negates_c) + "$c;",
             "u32",
             {"u32", "u32", "u32"},
             [=, a = a, b = b](const Lane& x) {
               const Wide product = integer_of(x[0], a) * integer_of(x[1], b);
               // What is negated is inverted in 32 bits, and 1 is added in more.
               const Wide addend = mad.negates_c ? integer_of(~x[2], of) + 1 : integer_of(x[2], of);
               Wide sum = (negates ? -product : product) + addend + (plus_one ? 1 : 0);
               Wide power = 1;
               for (unsigned i = 0; i < shift; ++i) power *= 2;
               sum = sum >= 0 ? sum / power : (sum - power + 1) / power;
               return cut(saturates ? within(sum, 32, of) : sum, 32);
             }});
      }
    }
  }
}

/// An instruction on several parts at once; `a` and `b` number those of both operands together.
struct Parallel {
  std::string text;
  unsigned bits;
  std::string result, type_a, type_b;
  std::vector<unsigned> a, b;
  std::vector<bool> writes;
  bool saturates = false, adds = false;
};

std::uint64_t parallel(const Parallel& form, const Operation& operation, const Lane& x) {
  std::uint64_t merged = 0;
  Wide sum = static_cast<Wide>(x[2]);
  const unsigned parts = 32 / form.bits;
  const auto value = [&](unsigned number, const std::string& type) {
    return part(x[number / parts], number % parts * form.bits, form.bits, type);
  };
  for (unsigned i = 0; i < parts; ++i) {
    Wide result = operation(value(form.a[i], form.type_a), value(form.b[i], form.type_b));
    if (form.saturates) result = within(result, form.bits, form.result);
    if (form.writes[i]) sum += result;
    const Wide chosen = form.writes[i] ? result : part(x[2], form.bits * i, form.bits, "u32");
    merged |= cut(chosen, form.bits) << (form.bits * i);
  }
  return form.adds ? cut(sum, 32) : merged;
}

void add_parallel(Forms& forms, const std::string& opcode, const std::string& types,
                  const std::array<std::string, 3>& type, unsigned bits, bool can_saturate,
                  const Operation& operation) {
  const bool halves = bits == 16;
  const std::vector<unsigned> first =
      halves ? std::vector<unsigned>{0, 1} : std::vector<unsigned>{0, 1, 2, 3};
  const std::vector<unsigned> second =
      halves ? std::vector<unsigned>{2, 3} : std::vector<unsigned>{4, 5, 6, 7};
  const std::vector<bool> all(32 / bits, true);
  const std::vector<bool> some =
      halves ? std::vector<bool>{false, true} : std::vector<bool>{true, false, true, false};
  const std::string to = halves ? ".h1" : ".b20";
  const std::string from_a = halves ? ".h21" : ".b0572", from_b = halves ? ".h03" : ".b7744";
  const std::vector<unsigned> mixed_a =
      halves ? std::vector<unsigned>{1, 2} : std::vector<unsigned>{2, 7, 5, 0};
  const std::vector<unsigned> mixed_b =
      halves ? std::vector<unsigned>{3, 0} : std::vector<unsigned>{4, 4, 7, 7};
  const auto& [result, a, b] = type;
  std::vector<Parallel> several{
      {opcode + types + " $d, $a, $b, $c;", bits, result, a, b, first, second, all},
      {opcode + types + ".add $d, $a, $b, $c;", bits, result, a, b, first, second, all, false,
       true},
      {opcode + types + " $d" + to + ", $a" + from_a + ", $b" + from_b + ", $c;", bits, result, a,
       b, mixed_a, mixed_b, some},
      {opcode + types + ".add $d" + to + ", $a, $b" + from_b + ", $c;", bits, result, a, b, first,
       mixed_b, some, false, true}};
  if (can_saturate) {
    several.push_back(
        {opcode + types + ".sat $d, $a, $b, $c;", bits, result, a, b, first, second, all, true});
  }
  for (const Parallel& form : several) {
    forms.push_back({form.text, "u32", {"u32", "u32", "u32"}, [=](const Lane& x) {
                       return parallel(form, operation, x);
                     }});
  }
}

void add_parallels(Forms& forms) {
  const std::vector<std::pair<std::string, Operation>> operations{
      {"vadd", [](Wide a, Wide b) { return a + b; }},
      {"vsub", [](Wide a, Wide b) { return a - b; }},
      {"vabsdiff", [](Wide a, Wide b) { return a < b ? b - a : a - b; }},
      {"vmin", [](Wide a, Wide b) { return a < b ? a : b; }},
      {"vmax", [](Wide a, Wide b) { return a < b ? b : a; }},
      // Halves away from zero where the sum is positive, towards minus infinity where it is not.
      {"vavrg", [](Wide a, Wide b) {
         const Wide sum = a + b;
         return sum >= 0 ? (sum + 1) / 2 : (sum - 1) / 2;
       }}};
  for (const unsigned bits : {16U, 8U}) {
    const std::string parts = std::to_string(32 / bits);
    for (const auto& type : kTypes) {
      const auto& [result, a, b] = type;
      for (const auto& [opcode, operation] : operations) {
        add_parallel(forms, opcode + parts, "." + result + "." + a + "." + b, type, bits, true,
                     operation);
      }
      for (const auto& [name, holds] : kRelations) {
        const auto compare = [holds = holds](Wide x, Wide y) { return Wide{holds(x, y) ? 1 : 0}; };
        add_parallel(forms, "vset" + parts, "." + a + "." + b + "." + name, {"u32", a, b}, bits,
                     false, compare);
      }
    }
  }
}

void add_packs(Forms& forms) {
  for (const unsigned bits : {2U, 4U, 8U, 16U}) {
    for (const std::string sign : {"u", "s"}) {
      const std::string type = sign + std::to_string(bits);
      const bool has_c = bits < 16;
      const Wide most = sign == "u" ? (Wide{1} << bits) - 1 : (Wide{1} << (bits - 1)) - 1;
      const Wide least = sign == "u" ? 0 : -most - 1;
      std::vector<std::string> sources{"s32", "s32"};
      if (has_c) sources.emplace_back("b32");
      forms.push_back(
          {"cvt.pack.sat." + type + (has_c ? ".s32.b32 $d, $a, $b, $c;" : ".s32 $d, $a, $b;"),
           "u32", sources, [=](const Lane& x) {
             std::uint64_t packed = has_c ? cut(Wide(x[2]), 32 - 2 * bits) : 0;
             for (const std::uint64_t value : {x[0], x[1]}) {
               const Wide kept = std::min(std::max(integer_of(value, "s32"), least), most);
               packed = packed << bits | cut(kept, bits);
             }
             return packed;
           }});
    }
  }
}

Forms video_forms() {
  Forms forms;
  add_scalars(forms);
  add_shifts(forms);
  add_sets(forms);
  add_mads(forms);
  add_parallels(forms);
  add_packs(forms);
  return forms;
}
const FormFile kForms{"video", video_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_video_forms
