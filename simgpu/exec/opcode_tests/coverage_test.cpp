#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/form.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"
#include "simgpu/exec/opcodes/opcode.h"

namespace simgpu::opcode_tests::coverage_test {
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

std::set<std::string> spellings_of_forms() {
  std::set<std::string> spellings;
  for (const FormFile& file : FormFile::all()) spellings.merge(spellings_of(file.forms()));
  return spellings;
}

/// Every instruction of the tests, with the operands that its test gives it.
std::vector<std::string> tested_instructions() {
  std::vector<std::string> all = TestedInstructions::all();
  for (const std::string& spelling : spellings_of_forms()) all.push_back(spelling);
  return all;
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

TEST(InstructionSet, HasNoRowWithoutAForm) {
  const std::set<std::string> covered = spellings_of_forms();
  const std::vector<std::string> rows = instruction_set().spellings();
  ASSERT_GT(rows.size(), 500u);
  for (const std::string& spelling : rows) {
    if (is_no_form_of_its_own(spelling)) continue;
    EXPECT_TRUE(covered.contains(spelling))
        << spelling << " has a row in exec/opcodes, but no form in exec/opcode_tests";
  }
}

TEST(InstructionSet, HasNoOpcodeWithItsOwnCodeWithoutATest) {
  std::set<std::string> tested;
  const auto add = [&](const std::string& instruction) {
    tested.insert(instruction.substr(0, instruction.find_first_of(". ;")));
  };
  for (const std::string& instruction : tested_instructions()) add(instruction);
  const std::vector<std::string> roots = instruction_set().built_roots();
  ASSERT_GT(roots.size(), 30u);
  for (const std::string& root : roots) {
    EXPECT_TRUE(tested.contains(root))
        << root << " builds itself, but no form and no TestedInstructions has it";
  }
}

/// A made-up modifier, at every place of every spelling that the tests know.
TEST(InstructionSet, RefusesAnUnknownModifierByName) {
  std::set<std::string> spellings;
  for (const std::string& instruction : tested_instructions()) {
    spellings.insert(instruction.substr(0, instruction.find_first_of(" ;")));
  }
  ASSERT_GT(spellings.size(), 1000u);
  std::vector<std::string> changed;
  for (const std::string& spelling : spellings) {
    changed.push_back(spelling + ".bogus");
    for (std::size_t dot = spelling.find('.'); dot != std::string::npos;
         dot = spelling.find('.', dot + 1)) {
      changed.push_back(spelling.substr(0, dot) + ".bogus" + spelling.substr(dot));
    }
  }
  // A kernel ends at its 1000th refusal.
  constexpr std::size_t kSpellingsOfAKernel = 500;
  std::string kernels;
  for (std::size_t first = 0; first < changed.size(); first += kSpellingsOfAKernel) {
    std::string body;
    for (std::size_t i = first; i < std::min(first + kSpellingsOfAKernel, changed.size()); ++i) {
      body += "  " + changed[i] + ";\n";
    }
    kernels += bench_kernel("bogus_" + std::to_string(first), body);
  }
  const testing::Device device(bench_module(kernels));
  std::set<std::string> refused;
  for (const std::string& name : kernel_names(device.program())) {
    for (const std::string& refusal : find_kernel(device.program(), name)->unsupported) {
      refused.insert(refusal.substr(0, refusal.find(" (PTX line ")));
    }
  }
  for (const std::string& spelling : changed) {
    EXPECT_TRUE(refused.contains(spelling)) << spelling << " is taken, or refused without its name";
  }
}

/// Legal or not for the assembler, these would mean something else than what would run.
TEST(InstructionSet, RefusesModifiersThatDoNotGoTogether) {
  for (const std::string instruction : {"ld.volatile.global.ca.u32 %r0, [%p0]",
                                        "ld.relaxed.global.u32 %r0, [%p0]",
                                        "ld.gpu.global.u32 %r0, [%p0]",
                                        "ld.global.global.u32 %r0, [%p0]",
                                        "ld.global.u32.u64 %d0, [%p0]",
                                        "ld.acquire.gpu.global.nc.u32 %r0, [%p0]",
                                        "ld.shared.L2::128B.u32 %r0, [%d0]",
                                        "ld.global.L1::evict_last.ca.u32 %r0, [%p0]",
                                        "ld.global.L2::512B.u32 %r0, [%p0]",
                                        "st.global.nc.u32 [%p0], %r0",
                                        "st.acquire.gpu.u32 [%p0], %r0",
                                        "st.global.L2::128B.u32 [%p0], %r0",
                                        "ldu.shared.u32 %r0, [%d0]",
                                        "prefetch.L1.L2 [%p0]",
                                        "prefetch.shared.L1 [%p0]",
                                        "prefetchu.L2 [%p0]",
                                        "discard.L2::evict_last [%p0], 128",
                                        "bar.sync.aligned 0",
                                        "bar.sync.popc 0",
                                        "bar.red.popc.pred %q1, 0, %q2",
                                        "barrier.cluster.arrive",
                                        "membar.gpu",
                                        "membar.cta.gl",
                                        "fence.sc",
                                        "nanosleep.s32 20",
                                        "exit.uni",
                                        "vote.sync.ballot.pred %q1, %q2, -1",
                                        "shfl.sync.up.down.b32 %r0, %r1, 1, 0, -1",
                                        "activemask.u32 %r0",
                                        "setp.lt.ftz.s32 %q1, %r0, %r1",
                                        "cvta.to.to.global.u64 %d0, %d1",
                                        "isspacep.global.shared %q1, %d0",
                                        "red.acquire.gpu.global.add.u32 [%p0], %r0",
                                        "atom.global.shared.add.u32 %r0, [%p0], %r1"}) {
    const testing::Device device(bench_module(bench_kernel("refused", "  " + instruction + ";\n")));
    const std::string spelling = instruction.substr(0, instruction.find(' '));
    EXPECT_TRUE(refusal_of(device, "refused").starts_with(spelling + " (PTX line "))
        << instruction << " gives: " << refusal_of(device, "refused");
  }
}

/// Modifiers may come in any order, as for the assembler.
TEST(InstructionSet, TakesModifiersInAnyOrder) {
  for (const std::string instruction :
       {"ld.global.relaxed.gpu.u32 %r0, [%p0]",
        "ld.u32.global %r0, [%p0]",
        "ld.global.nc.ca.u32 %r0, [%p0]",
        "ld.global.L2::cache_hint.L1::no_allocate.u32 %r0, [%p0], %d0",
        "vote.ballot.sync.b32 %r0, %q1, -1",
        "fence.gpu.sc",
        "atom.add.global.u32 %r0, [%p0], 5",
        "atom.global.add.gpu.u32 %r0, [%p0], 5",
        "div.ftz.rn.f32 %r0, %r1, %r2",
        "add.sat.ftz.rn.f32 %r0, %r1, %r2",
        "add.f32.rn %r0, %r1, %r2",
        "fma.sat.rn.ftz.f32 %r0, %r1, %r2, %r3",
        "prmt.f4e.b32 %r0, %r1, %r2, %r3",
        "bfind.s32.shiftamt %r0, %r1",
        "min.NaN.ftz.f32 %r0, %r1, %r2",
        "setp.s32.lt %q1, %r0, %r1",
        "setp.and.lt.s32 %q1, %r0, %r1, %q2",
        "setp.lt.ftz.f32 %q1, %r0, %r1",
        "set.ftz.lt.u32.f32 %r0, %r1, %r2",
        "cvt.u32.rni.f32 %r0, %r1",
        "cvt.sat.rni.u32.f32 %r0, %r1",
        "vadd.sat.u32.u32.u32 %r0, %r1, %r2"}) {
    const testing::Device device(bench_module(bench_kernel("taken", "  " + instruction + ";\n")));
    EXPECT_EQ(refusal_of(device, "taken"), "") << instruction;
  }
}

/// Types are an exception: set.u32.f32 and set.f32.u32 are two instructions.
TEST(InstructionSet, KeepsTheOrderOfTypes) {
  const InstructionSet& table = instruction_set();
  EXPECT_NE(table.find_row("dp4a.u32.s32"), table.find_row("dp4a.s32.u32"));
  EXPECT_EQ(table.find_row("div.ftz.rn.f32"), table.find_row("div.rn.ftz.f32"));
  EXPECT_EQ(table.find_row("add.f32.f32"), nullptr);
}

}  // namespace
}  // namespace simgpu::opcode_tests::coverage_test
