#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/ptx/parser.h"
#include "simgpu/ptx/testing_commands.h"

namespace simgpu::ptx {
namespace {

using ::simgpu::testing::CommandResult;
using ::simgpu::testing::read_file;
using ::simgpu::testing::run_command;
using ::simgpu::testing::TemporaryDirectory;
using ::testing::HasSubstr;

std::filesystem::path source_directory() {
  return std::filesystem::path(ROOFLAB_SOURCE_DIR) / "simgpu/ptx/testdata";
}

std::string compile(const std::string& name, const std::string& options) {
  const TemporaryDirectory directory;
  const std::filesystem::path output = directory.path() / (name + ".ptx");
  const CommandResult compiled =
      run_command(std::string(ROOFLAB_NVCC) + " -std=c++20 -ptx " + options + " -o '" +
                  output.string() + "' '" + (source_directory() / (name + ".cu")).string() + "'");
  EXPECT_EQ(compiled.status, 0) << compiled.output;
  return read_file(output);
}

bool is_blank(char c) { return std::strchr(" \t\n\r", c) != nullptr; }

/// Directives that end with their line and not with ';', and comments: out of the way.
std::string without_line_directives(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("//"));
    const std::size_t word = line.find_first_not_of(" \t");
    const bool is_directive =
        word != std::string::npos &&
        std::ranges::any_of(
            std::vector{".loc", ".file", ".version", ".target", ".address_size"},
            [&](const char* name) { return line.compare(word, strlen(name), name) == 0; });
    if (!is_directive) kept += line + "\n";
  }
  return kept;
}

/// The opcodes of a text in order, by another way than the parser's: it is cut at ';', and what is
/// left of a statement before its first blank is the opcode.
std::vector<std::string> opcodes_by_text(const std::string& text) {
  std::vector<std::string> opcodes;
  std::string statement;
  for (const char c : without_line_directives(text)) {
    const bool is_directive =
        statement.starts_with('.') && statement.find('=') == std::string::npos;
    const bool is_label = c == ':' && statement.find_first_of(" \t(") >= statement.size() - 1;
    const bool is_scope = (c == '{' || c == '}') && (statement.empty() || is_directive);
    if (is_scope || is_label) {
      statement.clear();
    } else if (c == ';') {
      if (statement.starts_with('@')) {
        statement = statement.substr(statement.find_first_of(" \t"));
        statement = statement.substr(statement.find_first_not_of(" \t"));
      }
      if (!statement.empty() && !statement.starts_with('.')) {
        opcodes.push_back(statement.substr(0, statement.find_first_of(" \t\n")));
      }
      statement.clear();
    } else if (!statement.empty() || !is_blank(c)) {
      statement += c;
    }
  }
  return opcodes;
}

std::vector<std::string> opcodes_by_parser(const Module& module) {
  std::vector<std::string> opcodes;
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) opcodes.push_back(instruction.spelling());
  }
  return opcodes;
}

/// Every index of the function points at something.
void expect_consistent(const Module& module, const Function& function) {
  SCOPED_TRACE(function.name);
  for (const Instruction& instruction : function.body) {
    SCOPED_TRACE(instruction.ptx_line);
    ASSERT_LT(instruction.location, function.locations.size());
    if (instruction.guard) {
      ASSERT_EQ(function.registers.at(instruction.guard->reg).type, Type::pred);
    }
    if (instruction.opcode == "bra") {
      EXPECT_TRUE(std::holds_alternative<LabelRef>(instruction.operands.at(0).elements.at(0)));
    }
    for (const Operand& operand : instruction.operands) {
      for (const Scalar& element : operand.elements) {
        if (const auto* reference = std::get_if<RegisterRef>(&element)) {
          EXPECT_LT(reference->index, function.registers.size());
        } else if (const auto* special = std::get_if<SpecialRegister>(&element)) {
          EXPECT_THAT(special->name,
                      ::testing::Not(::testing::MatchesRegex("%(r|rd|f|fd|p|rs)[0-9]+")))
              << "a register of the program was not found";
        } else if (const auto* label = std::get_if<LabelRef>(&element)) {
          EXPECT_LE(label->target, function.body.size());
        }
      }
    }
  }
  for (const SourceLocation& location : function.locations) {
    EXPECT_LT(location.file, module.files.size());
    EXPECT_LT(location.inlined_at, static_cast<std::int32_t>(function.locations.size()));
  }
}

class NvccOutput : public ::testing::TestWithParam<std::string> {};

TEST_P(NvccOutput, ParsesInstructionByInstruction) {
  const std::string text = compile(GetParam(), "-O2 -lineinfo -arch=compute_80");
  const Module module = parse(text);
  EXPECT_EQ(module.target, "sm_80");
  EXPECT_EQ(opcodes_by_parser(module), opcodes_by_text(text));
  for (const Function& function : module.functions) expect_consistent(module, function);
  EXPECT_TRUE(std::ranges::any_of(
      module.files, [](const std::string& file) { return file.ends_with(GetParam() + ".cu"); }));
}

INSTANTIATE_TEST_SUITE_P(Sources, NvccOutput,
                         ::testing::Values("control_flow", "cooperative", "functions", "gemm_tiled",
                                           "half_bf16", "printf_assert", "wmma_async"),
                         [](const auto& info) { return info.param; });

TEST(NvccDebugOutput, ParsesWithItsDwarfSections) {
  const Module module = parse(compile("half_bf16", "-G -arch=compute_90"));
  EXPECT_GT(module.functions.size(), 10U) << "without optimisation nothing is inlined";
  for (const Function& function : module.functions) expect_consistent(module, function);
}

TEST(NvccLineInfo, NamesInlinedFunctionsAndTheirCallers) {
  const Module module = parse(compile("control_flow", "-O2 -lineinfo -arch=compute_80"));
  const Function& choose = *module.find_function("_Z6choosePKiPf");
  const auto inner = std::ranges::find_if(choose.locations, [](const SourceLocation& location) {
    return location.function.find("scale") != std::string::npos;
  });
  ASSERT_NE(inner, choose.locations.end());
  const SourceLocation& middle = choose.locations.at(inner->inlined_at);
  EXPECT_THAT(middle.function, HasSubstr("twice"));
  const SourceLocation& outer = choose.locations.at(middle.inlined_at);
  EXPECT_EQ(outer.function, "");
  EXPECT_LT(inner->line, middle.line) << "scale stands above twice, and twice above choose";
  EXPECT_LT(middle.line, outer.line);
}

TEST(NvccConstants, HaveTheBytesOfTheirSource) {
  const Module module = parse(compile("functions", "-O2 -arch=compute_80"));
  const auto variable = [&](const std::string& name) {
    const auto found = std::ranges::find_if(
        module.variables, [&](const Variable& candidate) { return candidate.name == name; });
    return found == module.variables.end() ? Variable{} : *found;
  };
  const Variable coefficients = variable("coefficients");
  const std::vector<float> expected = {1.0F, -2.5F, 0.0F, 0.0F, 0.125F, 3e10F};
  ASSERT_GE(coefficients.initial_bytes.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(coefficients.initial_bytes.data(), expected.data(),
                        expected.size() * sizeof(float)),
            0);
  EXPECT_EQ(coefficients.space, Space::constant);
  ASSERT_EQ(variable("counter_address").relocations.size(), 1U);
  EXPECT_EQ(variable("counter_address").relocations[0].symbol, "counter");
  EXPECT_EQ(variable("entry").relocations.at(0).byte_offset, 8U)
      << "behind the char and its padding";
  EXPECT_TRUE(variable("shared_with_host").managed);
  const Variable table = variable("table");
  ASSERT_EQ(table.relocations.size(), 2U);
  EXPECT_NE(module.find_function(table.relocations[1].symbol), nullptr);
}

/// Every kind of directive, constant and operand. That the assembler takes the same text shows that
/// it is PTX, and not only what this parser takes for it.
TEST(Grammar, IsTheAssemblers) {
  const TemporaryDirectory directory;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_directory() / "grammar")) {
    SCOPED_TRACE(entry.path().filename());
    ++files;
    Module module;
    EXPECT_NO_THROW(module = parse(read_file(entry.path())));
    const CommandResult assembled = run_command(
        std::string(ROOFLAB_NVCC) + " -cubin -arch=" + module.target + " -o '" +
        (directory.path() / "out.cubin").string() + "' '" + entry.path().string() + "'");
    EXPECT_EQ(assembled.status, 0) << assembled.output;
  }
  EXPECT_GE(files, 5U);
}

}  // namespace
}  // namespace simgpu::ptx
