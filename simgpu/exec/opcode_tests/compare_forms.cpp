#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/oracle.h"

/// setp and set, judged by the sign of a difference and the truth table of each comparison.
namespace simgpu::opcode_tests::of_compare_forms {
namespace {

/// -1, 0, 1 as a is below, equal to or above b; 2 when one is NaN.
int order(std::uint64_t a, std::uint64_t b, const std::string& type, bool ftz) {
  if (type[0] == 's' || type[0] == 'u' || (type[0] == 'b' && type != "bf16")) {
    const std::string integer = type[0] == 'b' ? "u" + type.substr(1) : type;
    const Wide difference = integer_of(a, integer) - integer_of(b, integer);
    return difference < 0 ? -1 : difference > 0 ? 1 : 0;
  }
  const auto value = [&](std::uint64_t x) -> long double {
    if (type == "f64") return f64_of(x);
    if (type == "f32") return ftz ? flushed(f32_of(x)) : f32_of(x);
    const HalfFormat& half = HalfFormat::named(type);
    return half.decode(ftz ? half.flush(x) : x);
  };
  const long double x = value(a);
  const long double y = value(b);
  return std::isunordered(x, y) ? 2 : std::isless(x, y) ? -1 : std::isgreater(x, y) ? 1 : 0;
}

/// Which orders each comparison accepts: below, equal, above, unordered.
struct Comparison {
  const char* name;
  const char* accepted;
};
constexpr Comparison kOrdered[] = {{"eq", "="},  {"ne", "<>"}, {"lt", "<"},
                                   {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
constexpr Comparison kUnsigned[] = {{"lo", "<"}, {"ls", "<="}, {"hi", ">"}, {"hs", ">="}};
constexpr Comparison kUnordered[] = {{"equ", "=?"}, {"neu", "<>?"}, {"ltu", "<?"},  {"leu", "<=?"},
                                     {"gtu", ">?"}, {"geu", ">=?"}, {"num", "<=>"}, {"nan", "?"}};

bool accepts(const Comparison& comparison, int order) {
  return std::string(comparison.accepted).find("<=>?"[order + 1]) != std::string::npos;
}

void add_setp(Forms& forms, const Comparison& comparison, const std::string& type, bool ftz) {
  const auto compared = [=](const Lane& x) {
    return accepts(comparison, order(x[0], x[1], type, ftz));
  };
  const std::string name = comparison.name;
  const std::string tail = (ftz ? ".ftz." : ".") + type;
  forms.push_back(
      {"setp." + name + tail + " $d, $a, $b;", "pred", {type, type}, [=](const Lane& x) {
         return std::uint64_t{compared(x)};
       }});
  if (name != "lt" && name != "ge") return;
  forms.push_back({"setp." + name + ".and" + tail + " $d, $a, $b, $c;",
                   "pred",
                   {type, type, "pred"},
                   [=](const Lane& x) { return std::uint64_t{compared(x) && x[2] != 0}; }});
  forms.push_back({"setp." + name + ".or" + tail + " $d, $a, $b, !$c;",
                   "pred",
                   {type, type, "pred"},
                   [=](const Lane& x) { return std::uint64_t{compared(x) || x[2] == 0}; }});
  forms.push_back({"setp." + name + ".xor" + tail + " $d, $a, $b, $c;",
                   "pred",
                   {type, type, "pred"},
                   [=](const Lane& x) { return std::uint64_t{compared(x) != (x[2] != 0)}; }});
  if (type == "f16" || type == "bf16") return;  // PTX gives packed comparisons alone a pair there
  // The second destination of a pair takes the opposite.
  forms.push_back(
      {"setp." + name + tail + " $c|$d, $a, $b;", "pred", {type, type, "pred"}, [=](const Lane& x) {
         return std::uint64_t{!compared(x)};
       }});
}

/// Packed halves: the first destination is the lower half's, the second the upper half's.
void add_packed_setp(Forms& forms, const Comparison& comparison, const std::string& half,
                     bool ftz) {
  const std::string opcode =
      std::string("setp.") + comparison.name + (ftz ? ".ftz." : ".") + half + "x2";
  const auto compared = [=](const Lane& x, unsigned shift) {
    return accepts(comparison, order(x[0] >> shift & 0xffff, x[1] >> shift & 0xffff, half, ftz));
  };
  const std::vector<std::string> types{half + "x2", half + "x2", "pred"};
  forms.push_back({opcode + " $d|$c, $a, $b;", "pred", types,
                   [=](const Lane& x) { return std::uint64_t{compared(x, 0)}; }});
  forms.push_back({opcode + " $c|$d, $a, $b;", "pred", types,
                   [=](const Lane& x) { return std::uint64_t{compared(x, 16)}; }});
  const std::string joined = std::string("setp.") + comparison.name + ".";
  const std::string tail = (ftz ? ".ftz." : ".") + half + "x2";
  forms.push_back({joined + "and" + tail + " $d|_, $a, $b, $c;", "pred", types,
                   [=](const Lane& x) { return std::uint64_t{compared(x, 0) && x[2] != 0}; }});
  forms.push_back({joined + "xor" + tail + " $e|$d, $a, $b, !$c;",
                   "pred",
                   {half + "x2", half + "x2", "pred", "pred"},
                   [=](const Lane& x) { return std::uint64_t{compared(x, 16) != (x[2] == 0)}; }});
}

/// The types that set writes for a comparison of `type`, as ptxas takes them for sm_90.
std::vector<std::string> results_of_set(const std::string& type) {
  if (type == "f16x2" || type == "bf16x2") return {type, "u32", "s32"};
  if (type == "f16") return {"f16", "bf16", "u16", "s16", "u32", "s32"};
  if (type == "bf16") return {"bf16", "u16", "s16", "u32", "s32"};
  return {"f16", "bf16", "f32", "u32", "s32"};
}

/// What set writes where the comparison holds: 1.0, or all bits.
std::uint64_t true_of(const std::string& type) {
  if (type == "f16") return 0x3c00;
  if (type == "bf16") return 0x3f80;
  if (type == "f32") return raw(1.0f);
  return width_of(type) == 16 ? 0xffff : 0xffffffff;
}

/// Of packed operands, each half of the result tells of its own; the predicate joins both.
void add_set(Forms& forms, const Comparison& comparison, const std::string& type, bool ftz) {
  const bool packed = type.ends_with("x2");
  const std::string one = packed ? type.substr(0, type.size() - 2) : type;
  for (const std::string& result : results_of_set(type)) {
    if (ftz && result == "bf16") continue;
    const std::uint64_t half_true = result.ends_with("x2") ? true_of(one) : 0xffff;
    const auto value = [=](const Lane& x, auto join) -> std::uint64_t {
      if (!packed) return join(accepts(comparison, order(x[0], x[1], one, ftz))) * true_of(result);
      const auto half = [&](unsigned shift) {
        return accepts(comparison, order(x[0] >> shift & 0xffff, x[1] >> shift & 0xffff, one, ftz));
      };
      return (join(half(0)) * half_true) | (join(half(16)) * half_true) << 16;
    };
    const std::string name = std::string("set.") + comparison.name;
    const std::string tail = (ftz ? ".ftz." : ".") + result + "." + type;
    forms.push_back({name + tail + " $d, $a, $b;", result, {type, type}, [=](const Lane& x) {
                       return value(x, [](bool holds) { return std::uint64_t{holds}; });
                     }});
    if (name != "set.lt" && name != "set.ge" && name != "set.neu") continue;
    const std::vector<std::string> types{type, type, "pred"};
    forms.push_back({name + ".and" + tail + " $d, $a, $b, $c;", result, types, [=](const Lane& x) {
                       return value(x,
                                    [&](bool holds) { return std::uint64_t{holds && x[2] != 0}; });
                     }});
    forms.push_back({name + ".or" + tail + " $d, $a, $b, !$c;", result, types, [=](const Lane& x) {
                       return value(x,
                                    [&](bool holds) { return std::uint64_t{holds || x[2] == 0}; });
                     }});
    forms.push_back({name + ".xor" + tail + " $d, $a, $b, $c;", result, types, [=](const Lane& x) {
                       return value(
                           x, [&](bool holds) { return std::uint64_t{holds != (x[2] != 0)}; });
                     }});
  }
}

void add_sets(Forms& forms) {
  for (const std::string type : {"s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64"}) {
    add_set(forms, kOrdered[0], type, false);
    if (type[0] != 'b') add_set(forms, kOrdered[5], type, false);
    if (type[0] == 'u') add_set(forms, kUnsigned[2], type, false);
  }
  for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"}) {
    const bool is_half = type.find("16") != std::string::npos;
    for (const auto& comparison : kOrdered) {
      if (is_half || comparison.name[0] == 'l') add_set(forms, comparison, type, false);
    }
    for (const auto& comparison : kUnordered) {
      if (is_half || comparison.name[0] == 'l') add_set(forms, comparison, type, false);
    }
    if (type == "f16" || type == "f16x2" || type == "f32") {
      add_set(forms, kOrdered[0], type, true);
      add_set(forms, kUnordered[3], type, true);
    }
  }
}

Forms compare_forms() {
  Forms forms;
  for (const std::string half : {"f16", "bf16"}) {
    for (const auto& comparison : kOrdered) add_packed_setp(forms, comparison, half, false);
    for (const auto& comparison : kUnordered) add_packed_setp(forms, comparison, half, false);
  }
  add_packed_setp(forms, kOrdered[0], "f16", true);
  for (const std::string type : {"s16", "u16", "s32", "u32", "s64", "u64"}) {
    for (const auto& comparison : kOrdered) add_setp(forms, comparison, type, false);
    if (is_signed(type)) continue;
    for (const auto& comparison : kUnsigned) add_setp(forms, comparison, type, false);
  }
  for (const std::string type : {"b16", "b32", "b64"}) {
    add_setp(forms, kOrdered[0], type, false);
    add_setp(forms, kOrdered[1], type, false);
  }
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    for (const auto& comparison : kOrdered) add_setp(forms, comparison, type, false);
    for (const auto& comparison : kUnordered) add_setp(forms, comparison, type, false);
  }
  for (const std::string type : {"f16", "f32"}) {
    add_setp(forms, kOrdered[2], type, true);
    add_setp(forms, kUnordered[0], type, true);
  }
  add_sets(forms);
  return forms;
}
const FormFile kForms{"compare", compare_forms};

}  // namespace
}  // namespace simgpu::opcode_tests::of_compare_forms
