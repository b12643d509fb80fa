#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "simgpu/exec/opcode_tests/built_cases.h"
#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu::opcode_tests {
namespace {

std::set<std::string> spellings_of(const Forms& forms) {
  std::set<std::string> spellings;
  for (const Form& form : forms) {
    std::istringstream instructions(form.text);
    std::string instruction;
    while (std::getline(instructions, instruction, ';')) {
      std::istringstream words(instruction);
      std::string spelling;
      if (words >> spelling) spellings.insert(spelling);
    }
  }
  return spellings;
}

/// Rows that a pattern or a loop over types makes beside the real ones: ptxas assembles none of
/// them for sm_90, or has them mean what another row tests.
bool is_no_form_of_its_own(const std::string& spelling) {
  static const std::set<std::string> kOthers = {
      "min.relu.s16",    "max.relu.s16",    "min.relu.s64", "max.relu.s64",     "fma.f32",
      "mad.f32",         "fma.sat.f32",     "mad.sat.f32",  "fma.ftz.f32",      "mad.ftz.f32",
      "fma.ftz.sat.f32", "mad.ftz.sat.f32", "fma.f64",      "mad.f64",          "div.f64",
      "rcp.f64",         "sqrt.f64",        "cvt.f32.f32",  "cvt.sat.f64.bf16", "cvt.sat.f32.bf16"};
  if (kOthers.contains(spelling)) return true;
  if (spelling.find(".relu.") != std::string::npos && spelling.find("16") != std::string::npos &&
      !spelling.starts_with("fma.") && !spelling.starts_with("cvt.")) {
    return true;  // of the 16-bit floats' operations, fma alone has .relu
  }
  // Between integers: to the same type, or .sat where nothing can be cut off.
  std::istringstream parts(spelling);
  std::vector<std::string> words;
  for (std::string word; std::getline(parts, word, '.');) words.push_back(word);
  if (words[0] != "cvt" || words.size() < 3) return false;
  const std::string& to = words[words.size() - 2];
  const std::string& from = words.back();
  const auto is_integer = [](const std::string& type) { return type[0] == 's' || type[0] == 'u'; };
  if (is_integer(to) && is_integer(from)) return to == from || words[1] == "sat";
  // bf16 and 8-bit integers do not convert, nor does bf16 saturate.
  const bool eight_bits = to.ends_with("8") || from.ends_with("8");
  const bool bf16 = to == "bf16" || from == "bf16";
  return bf16 && (eight_bits || words[words.size() - 3] == "sat");
}

TEST(OpcodeTable, HasNoRowWithoutAForm) {
  std::set<std::string> covered;
  for (const auto& forms : {integer_forms(), bit_forms(), compare_forms(), float_forms(),
                            half_forms(), convert_forms()}) {
    covered.merge(spellings_of(forms));
  }
  const std::vector<std::string> rows = OpcodeTable::instance().spellings();
  ASSERT_GT(rows.size(), 500u);
  for (const std::string& spelling : rows) {
    if (is_no_form_of_its_own(spelling)) continue;
    EXPECT_TRUE(covered.contains(spelling))
        << spelling << " has a row in exec/opcodes, but no form in exec/opcode_tests";
  }
}

TEST(OpcodeTable, HasNoOpcodeWithItsOwnCodeWithoutATest) {
  std::set<std::string> tested;
  const auto add = [&](const std::string& instruction) {
    tested.insert(instruction.substr(0, instruction.find_first_of(". ;")));
  };
  for (const auto& forms : {integer_forms(), bit_forms(), compare_forms(), float_forms(),
                            half_forms(), convert_forms()}) {
    for (const std::string& spelling : spellings_of(forms)) add(spelling);
  }
  for (const auto& instructions :
       {memory_instructions(), atomic_instructions(), warp_instructions(), control_instructions(),
        tile_instructions()}) {
    for (const std::string& instruction : instructions) add(instruction);
  }
  const std::vector<std::string> roots = OpcodeTable::instance().built_roots();
  ASSERT_GT(roots.size(), 30u);
  for (const std::string& root : roots) {
    EXPECT_TRUE(tested.contains(root)) << root << " builds itself, but is in no test";
  }
}

}  // namespace
}  // namespace simgpu::opcode_tests
