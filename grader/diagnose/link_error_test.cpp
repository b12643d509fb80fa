#include "grader/diagnose/link_error.h"

#include <gmock/gmock.h>

namespace rooflab {
namespace {

using ::testing::HasSubstr;

DiagnoseContext context_of(const std::string& source) {
  DiagnoseContext context;
  context.part = 1;
  context.task = "gemv";
  context.file = "gemv.cu";
  context.sources = {{"gemv.cu", source}};
  return context;
}

constexpr const char* kMessages =
    "/usr/bin/ld: adapter.o: in function `call':\n"
    "gemv.cpp:(.text+0x1b): undefined reference to `gemv(float const*, float const*, float*, int, "
    "int)'\ncollect2: error: ld returned 1 exit status\n";

TEST(LinkErrors, ShowTheDefinitionWithOtherParameters) {
  const Diagnostic story = explain_compile_error(
      kMessages,
      context_of("#include <x>\n\nvoid gemv(const float* a, float* y,\n  long m) {\n}\n"));
  EXPECT_EQ(story.code, Code("RL0101"));
  EXPECT_EQ(story.message,
            "nothing defines gemv(float const*, float const*, float*, int, int), which the task "
            "calls");
  EXPECT_EQ(story.line, 3U);
  ASSERT_EQ(story.labels.size(), 1U);
  EXPECT_EQ(story.labels[0].text,
            "this is another one: it has other parameters, or is static or in a namespace");
  EXPECT_THAT(story.help, HasSubstr("gemv(const float* a, float* y, long m)"));
}

TEST(LinkErrors, ShowTheDefinitionOfASimilarName) {
  const Diagnostic story =
      explain_compile_error(kMessages, context_of("void gemw(const float* a) {\n}\n"));
  EXPECT_EQ(story.line, 1U);
  EXPECT_EQ(story.labels.at(0).text, "did you mean this one?");
}

TEST(LinkErrors, NameWhatIsMissingWhereNothingIsLikeIt) {
  const Diagnostic story = explain_compile_error(
      kMessages, context_of("int helper() {\n  if (gemv(1)) {\n  }\n  return 0;\n}\n"));
  EXPECT_THAT(story.message, HasSubstr("nothing defines gemv("));
  EXPECT_EQ(story.line, 0U);
  EXPECT_TRUE(story.labels.empty());
}

TEST(LinkErrors, AreNoOthers) {
  EXPECT_FALSE(missing_function("gemv.cu(3): error: expected a ;\n", context_of("")));
  EXPECT_FALSE(missing_function("undefined reference to `gemv", context_of("")));
}

}  // namespace
}  // namespace rooflab
