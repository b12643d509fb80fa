#include "simgpu/replay/names.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "simgpu/replay/assignments.h"
#include "simgpu/replay/declarations.h"

namespace simgpu::replay {
namespace {

LineEffects effects(const std::string& body, std::uint32_t line) {
  return Assignments(tokens_of("__global__ void f(const float* a, float* out, int n) {\n" + body))
      .of_line(line);
}

std::string assigned(const std::string& body, std::uint32_t line) {
  return effects(body, line).assigned.value_or("");
}

TEST(Assigned, ADeclarationWithAValueNamesIt) {
  EXPECT_EQ(assigned("const float x = a[n] * 2.0f;\n}", 2), "x");
  EXPECT_EQ(assigned("int i = blockIdx.x * blockDim.x + threadIdx.x;\n}", 2), "i");
  EXPECT_EQ(effects("unsigned i = threadIdx.x;\n}", 2).type, "unsigned");
  EXPECT_EQ(assigned("float m = fmaxf(a[0], a[1]);\n}", 2), "m");
}

TEST(Assigned, ASumInALoopNamesItsVariable) {
  EXPECT_EQ(assigned("float sum = 0;\nfor (int k = 0; k < n; ++k) {\nsum += a[k];\n}\n}", 4),
            "sum");
}

TEST(Assigned, WhatOtherLanesMayComputeTooNamesNothing) {
  EXPECT_EQ(assigned("float s = 0;\nif (n > 2) {\ns += a[0];\n}\n}", 4), "");
  EXPECT_EQ(assigned("float s = 0;\nif (n > 2) s += a[0];\n}", 3), "");
  EXPECT_EQ(assigned("float s = n > 2 ? a[0] : a[1];\n}", 2), "");
  EXPECT_EQ(assigned("bool b = n > 2 && n < 5;\n}", 2), "");
  EXPECT_EQ(
      assigned(
          "float s = 0;\nfor (int k = 0; k < n; ++k) {\nif (k == 2) continue;\ns += a[k];\n}\n}",
          5),
      "");
}

TEST(Assigned, ACallOfAFunctionThatIsNotKnownNamesNothing) {
  EXPECT_EQ(assigned("float x = scaled(a[0]);\n}", 2), "");
  EXPECT_EQ(assigned("float x = __expf(a[0]);\n}", 2), "x");
}

TEST(Assigned, SeveralStatementsOfALineNameNothing) {
  EXPECT_EQ(assigned("float x = a[0]; float y = a[1];\n}", 2), "");
  EXPECT_EQ(assigned("for (int k = 0; k < n; ++k) out[k] = a[k];\n}", 2), "");
}

TEST(Assigned, AnElementOfAnArrayIsNoVariable) {
  EXPECT_EQ(assigned("float acc[4];\nacc[n] = a[0];\n}", 3), "");
  EXPECT_EQ(assigned("out[n] = a[0];\n}", 2), "");
}

TEST(Assigned, ANameThatIsDeclaredTwiceNamesNothing) {
  EXPECT_EQ(assigned("float x = a[0];\n{\nfloat x = a[1];\n}\n}", 2), "");
}

TEST(Assigned, WhatALineMayChangeIsUnknownBehindIt) {
  EXPECT_TRUE(effects("float s = 0;\nif (n) s += a[0];\n}", 3).changed.contains("s"));
  EXPECT_TRUE(effects("int k = 0;\n++k;\n}", 3).changed.contains("k"));
  EXPECT_TRUE(effects("int k = 0;\nset(k);\n}", 3).changed.contains("k"));
  EXPECT_TRUE(effects("int k = 0;\nset(&k);\n}", 3).changed.contains("k"));
  EXPECT_TRUE(effects("int k = 0;\nk <<= 2;\n}", 3).changed.contains("k"));
  EXPECT_FALSE(effects("int k = 0;\nout += static_cast<size_t>(k);\n}", 3).changed.contains("k"));
  EXPECT_FALSE(effects("int k = 0;\nif (k) return;\n}", 3).changed.contains("k"));
  EXPECT_FALSE(effects("int k = 0;\nif (k <= n) return;\n}", 3).changed.contains("k"));
}

TEST(Declared, ParametersOfAKernelHaveNamesAndTypes) {
  const auto parameters = parameters_of(
      tokens_of(
          "template <int kTile>\n__global__ void gemm(const float* __restrict__ a, Matrix m,\n"
          "  unsigned long n, std::size_t k) {}\n"),
      "gemm");
  ASSERT_EQ(parameters.size(), 4U);
  EXPECT_EQ(parameters[0].name, "a");
  EXPECT_EQ(parameters[0].type, "float*");
  EXPECT_EQ(parameters[1].type, "");
  EXPECT_EQ(parameters[2].type, "size_t");
  EXPECT_EQ(parameters[3].name, "k");
}

TEST(Declared, SharedArraysHaveTheirExtents) {
  const auto source = array_declarations("f.cu", [](const std::string&) {
    return "constexpr int kTile = 16;\n#define WIDTH 8\n"
           "__global__ void f() { __shared__ float As[kTile][kTile + 1]; __shared__ int b[WIDTH]; "
           "}";
  });
  const auto as = shared_array(source, "As", 16 * 17 * 4);
  ASSERT_TRUE(as);
  EXPECT_EQ(as->element, "float");
  EXPECT_EQ(as->extents, (std::vector<std::uint32_t>{16, 17}));
  const auto b = shared_array(source, "b", 32);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->extents, (std::vector<std::uint32_t>{8}));
  EXPECT_FALSE(shared_array(source, "As", 1000)) << "of another size";
}

/// One warp that writes a float at a line and is then recorded at another one.
Recording with_start(std::uint32_t written_at, std::vector<LeftOut> left_out) {
  Recording recording;
  recording.kernel = "f";
  recording.files = {"f.cu"};
  for (std::uint32_t line = 1; line <= 6; ++line) {
    recording.places.push_back({.file = 0, .line = line, .inlined_at = {}});
  }
  recording.blocks = {{}};
  recording.warps = {{.block = 0, .warp = 0, .registers = {}, .left_out = std::move(left_out)}};
  recording.warps[0].registers = {{.reg = 7,
                                   .type = ValueType::f32,
                                   .lanes = 1,
                                   .values = {0},
                                   .place = written_at - 1,
                                   .number = 5,
                                   .is_last = true}};
  return recording;
}

constexpr const char* kFewLines =
    "__global__ void f(float* a, int n) {\nfloat x = a[0];\nif (n) x = 2;\na[1] = x;\n}\n";

std::optional<std::string> few_lines(const std::string&) { return kFewLines; }

TEST(Named, WhatWasWrittenBeforeTheFirstStepHasItsNameToo) {
  Recording recording = with_start(2, {{1, 5}});
  name_values(recording, few_lines);
  ASSERT_EQ(recording.names, (std::vector<std::string>{"x"}));
  EXPECT_EQ(recording.warps[0].registers.back().name, 0U);
}

TEST(Named, NotWhenALaterLineMayHaveChangedIt) {
  Recording recording = with_start(2, {{1, 5}, {2, 8}});
  name_values(recording, few_lines);
  for (const RegisterValues& value : recording.warps[0].registers) EXPECT_EQ(value.name, kNone);
}

/// Lanes 0 and 8 of a block of 8 x 4 threads have computed something on the line of `row`.
std::string name_of(const std::vector<std::uint64_t>& values) {
  Recording recording = with_start(2, {});
  recording.block = {8, 4, 1};
  recording.blocks[0].index = {2, 0, 0};
  recording.warps[0].registers = {{.reg = 1,
                                   .type = ValueType::u32,
                                   .lanes = 0x101,
                                   .values = values,
                                   .place = 1,
                                   .number = 1}};
  name_values(recording, [](const std::string&) {
    return "constexpr int kRows = 16; __global__ void f(float* a, int n) {\n"
           "const int row = blockIdx.x * kRows + threadIdx.y;\n}\n";
  });
  const RegisterValues& last = recording.warps[0].registers.back();
  return last.name == kNone ? "" : recording.names[last.name];
}

TEST(Named, AnIntegerOnlyIfItIsWhatItsExpressionGives) {
  EXPECT_EQ(name_of({32, 33}), "row");
  EXPECT_EQ(name_of({32, 32}), "");
  EXPECT_EQ(name_of({0, 1}), "");
}

}  // namespace
}  // namespace simgpu::replay
