#include "grader/reactions/cause_story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::ElementsAre;

FoundCause row_in_place_of_another() {
  FoundCause cause{"RL0552", "row 1 of A goes into C[0][1]", {"seen twice"}, "print the row"};
  cause.parameters = {{"m", std::int64_t{8}}};
  return cause;
}

Diagnostic told_before(Code code, const char* message) {
  Diagnostic story;
  story.code = code;
  story.message = message;
  return story;
}

TEST(CauseStoryTest, HowTheValuesLookStaysBelowTheCause) {
  const Diagnostic before = told_before("RL0433", "each tile of 4 x 4 elements of C is transposed");
  const FoundCause cause = row_in_place_of_another();
  const Diagnostic story = story_of_cause(cause, cause.parameters, before, {});
  EXPECT_EQ(story.message, "row 1 of A goes into C[0][1]");
  EXPECT_THAT(story.notes,
              ElementsAre("each tile of 4 x 4 elements of C is transposed", "seen twice"));
}

TEST(CauseStoryTest, ThatValuesAreWrongIsNotSaidAgain) {
  const Diagnostic before = told_before("RL0401", "12 of 64 elements of C are wrong");
  const FoundCause cause = row_in_place_of_another();
  const Diagnostic story = story_of_cause(cause, cause.parameters, before, {});
  EXPECT_THAT(story.notes, ElementsAre("seen twice"));
}

}  // namespace
}  // namespace rooflab
