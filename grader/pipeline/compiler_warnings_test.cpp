#include "grader/pipeline/compiler_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> notes_of(const std::string& messages) {
  return warning_notes(compiler_warnings(messages, "part1-metrics"));
}

TEST(CompilerWarnings, OfBothCompilersAreToldOnceForEachLine) {
  EXPECT_THAT(
      notes_of("part1-metrics/gemv.cu(12): warning #940-D: missing return statement at end of "
               "non-void function \"gemv_cost\"\n  }\n  ^\n\n"
               "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
               "part1-metrics/gemv.cu(12): warning #940-D: missing return statement at end of "
               "non-void function \"gemv_cost\"\n"
               "part1-metrics/gemv.cu: In function 'int gemv_cost()':\n"
               "part1-metrics/gemv.cu:12:1: warning: no return statement in function returning "
               "non-void [-Wreturn-type]\n"
               "part1-metrics/util.cu:3:7: warning: 'x' is used uninitialized [-Wuninitialized]\n"),
      ElementsAre("gemv.cu:12: the compiler warns: missing return statement at end of non-void "
                  "function \"gemv_cost\"",
                  "util.cu:3: the compiler warns: 'x' is used uninitialized [-Wuninitialized]"));
}

TEST(CompilerWarnings, ErrorsNotesAndOtherFilesAreNone) {
  EXPECT_THAT(notes_of("part1-metrics/gemv.cu(12): error: expected a \";\"\n"
                       "part1-metrics/gemv.cu:12:1: note: declared here\n"
                       "include/toolkit/check.h:7:1: warning: unused variable\n"
                       "tmpxft_0001.cudafe1.stub.c:1:1: warning: unused\n"
                       "part1-metrics/: warning:\npart1-metrics/a(99999999999): warning #1-D: x\n"
                       "part1-metrics/a(3): warning #: x\npart1-metrics/("),
              IsEmpty());
}

TEST(CompilerWarnings, OfManyTheFirstFewAreTold) {
  std::string messages;
  for (int line = 1; line <= 30; ++line) {
    messages += "part1-metrics/a.cu:" + std::to_string(line) + ":1: warning: w\n";
  }
  const auto notes = notes_of(messages);
  ASSERT_EQ(notes.size(), 6U);
  EXPECT_EQ(notes.front(), "a.cu:1: the compiler warns: w");
  EXPECT_EQ(notes.back(), "the compiler has 25 more warnings");
}

}  // namespace
}  // namespace rooflab
