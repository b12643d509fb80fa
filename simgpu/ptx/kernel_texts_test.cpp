#include "simgpu/ptx/kernel_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simgpu/ptx/parser.h"

namespace simgpu::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string kernel(const std::string& name, const std::string& body = "ret;") {
  return ".visible .entry " + name + "(.param .u64 p)\n.maxntid 32\n{\n" + body + "\n}\n";
}

bool is_cut(const std::string& rest) { return KernelTexts::of(kHead + rest).has_value(); }

TEST(KernelTexts, EachHasItsKernelAloneAndWhatStandsOutsideOfAll) {
  const std::string text = kHead + (".global .f32 factor = 0f40000000;\n" + kernel("first")) +
                           ".weak .entry second() { { .reg .b32 %r<2>; } ret; }\n" +
                           ".global .u32 count;\n.entry third() { ret; }\n.file 1 \"a.cu\"\n";
  const auto texts = KernelTexts::of(text);
  ASSERT_TRUE(texts);
  ASSERT_EQ(texts->size(), 3U);
  const std::vector<std::string> names{"first", "second", "third"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(texts->name(i), names[i]);
    const Module module = parse(texts->with_only(i));
    ASSERT_EQ(module.functions.size(), 1U);
    EXPECT_EQ(module.functions[0].name, names[i]);
    EXPECT_EQ(module.variables.size(), 2U);
    EXPECT_EQ(module.files.size(), 2U);
  }
  const Module rest = parse(texts->without_kernels());
  EXPECT_TRUE(rest.functions.empty());
  EXPECT_EQ(rest.variables.size(), 2U);
  EXPECT_THAT(texts->without_kernels(), Not(HasSubstr("visible")));
}

TEST(KernelTexts, BracesOfVectorsCommentsAndStringsAreNoEnds) {
  const std::string text = kHead +
                           kernel("first",
                                  ".reg .f32 %f<3>; .reg .b64 %rd<2>;\n// }\n/* } */ .pragma "
                                  "\"nounroll\";\nld.global.v2.f32 {%f1, %f2}, [%rd1]; ret;") +
                           kernel("second");
  const auto texts = KernelTexts::of(text);
  ASSERT_TRUE(texts);
  EXPECT_THAT(texts->with_only(1), Not(HasSubstr("%f1")));
  EXPECT_EQ(parse(texts->with_only(0)).functions.at(0).body.size(), 2U);
}

TEST(KernelTexts, AreReadTogetherWhereTheyMayShareSomething) {
  EXPECT_TRUE(is_cut(kernel("first") + kernel("second")));
  EXPECT_TRUE(is_cut(".extern .func (.param .b32 r) vprintf(.param .b64 a);\n" + kernel("first")));
  EXPECT_FALSE(is_cut(".func helper() { ret; }\n" + kernel("first"))) << "a function";
  EXPECT_FALSE(is_cut(".alias other, helper;\n" + kernel("first"))) << "another name";
  EXPECT_FALSE(is_cut(".global .u64 table[1] = {first};\n" + kernel("first"))) << "an address";
}

TEST(KernelTexts, AreReadTogetherWhereTheTextIsNotWhatItSeems) {
  EXPECT_FALSE(is_cut(kernel("first") + kernel("first"))) << "one name twice";
  EXPECT_FALSE(is_cut(".entry first();\n" + kernel("second"))) << "no body";
  EXPECT_FALSE(is_cut(".entry first() { ret;")) << "no end";
  EXPECT_FALSE(is_cut(".entry { ret; }")) << "no name";
  EXPECT_FALSE(is_cut(".section .debug_str { .b8 1")) << "no end";
  std::string long_head = "// " + std::string(1 << 20, 'x') + "\n";
  for (int i = 0; i < 40; ++i) long_head += kernel("kernel" + std::to_string(i));
  EXPECT_FALSE(is_cut(long_head)) << "the rest would be read for each";
  std::string many;
  for (int i = 0; i < 200; ++i) many += kernel("kernel" + std::to_string(i));
  EXPECT_FALSE(is_cut(many)) << "each takes an assembler to start";
}

}  // namespace
}  // namespace simgpu::ptx
