#include "grader/diagnose/open_failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Diagnostic failure(Code code, std::uint32_t line) {
  Diagnostic story;
  story.code = code;
  story.message = "something is wrong";
  story.file = "helper.cuh";
  story.line = line;
  story.context = "kernel k" + std::to_string(line);
  if (line > 0) story.labels.push_back({"helper.cuh", line, 3, 1, "x[i] = 0;", "stores 4 bytes"});
  return story;
}

Diagnostic told_beside(const std::vector<Diagnostic>& open, const Diagnostic& hidden) {
  OpenFailures failures("task.cu");
  failures.add(open);
  return failures.told_of_hidden(hidden);
}

TEST(OpenFailures, OfAFailureThatOnlyAHiddenCaseShowsNameTheTasksFileAlone) {
  for (const Code code : std::initializer_list<Code>{"RL0201", "RL0301", "RL0606"}) {
    const Diagnostic told = told_beside({}, failure(code, 17));
    EXPECT_EQ(told.code, code);
    EXPECT_EQ(told.file, "task.cu") << "which of several files is a choice, too";
    EXPECT_EQ(told.line, 0U);
    EXPECT_THAT(told.labels, IsEmpty());
    EXPECT_EQ(told.context, "");
    EXPECT_THAT(told.notes, Contains(HasSubstr("at the same place")));
  }
}

TEST(OpenFailures, ShowAPlaceAtWhichAPublicCaseHasFailedByTheSameCode) {
  Diagnostic open = failure("RL0201", 17);
  open.message = "beyond the 400-byte allocation";
  Diagnostic hidden = failure("RL0201", 17);
  hidden.groups = {"edges"};
  const Diagnostic told = told_beside({failure("RL0301", 3), open}, hidden);
  EXPECT_EQ(told.line, 17U);
  EXPECT_EQ(told.message, open.message);
  EXPECT_THAT(told.groups, testing::ElementsAre("edges"));
}

TEST(OpenFailures, OfOtherPlacesCodesOrEarlierAccessesShowNothing) {
  Diagnostic hidden = failure("RL0301", 17);
  hidden.labels.push_back({"helper.cuh", 90, 1, 1, "y = x[i];", "reads 4 bytes"});
  Diagnostic elsewhere = hidden;
  elsewhere.labels[1].line = 91;
  const Diagnostic other_code = failure("RL0303", 17);
  EXPECT_EQ(told_beside({elsewhere, other_code, failure("RL0301", 18)}, hidden).line, 0U);
}

TEST(OpenFailures, LeaveWhatIsSaidOfWrongValues) {
  Diagnostic wrong = failure("RL0404", 0);
  wrong.file = "";
  wrong.message = "every element of y is off by the same factor";
  EXPECT_EQ(told_beside({}, wrong).message, wrong.message);
  EXPECT_THAT(told_beside({}, wrong).notes, IsEmpty());
}

}  // namespace
}  // namespace rooflab
