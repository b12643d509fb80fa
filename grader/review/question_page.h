#pragma once

#include <string>

#include "grader/review/question_view.h"
#include "grader/review/submission_page.h"

namespace rooflab {

/// All questions of free text, with how many answers wait.
std::string questions_page(const std::vector<QuestionView>& questions);

/// One answer to one question, with the rubric.
struct QuestionFocus {
  std::string student = {};  ///< a team's id; the first that waits, where it is none
  bool anonymous = false;    ///< nothing on the page says whose the answer is
};

std::string question_page(const ReviewedClass& reviewed, const QuestionView& view,
                          const QuestionFocus& focus, const UnkeptForm& unkept,
                          const std::string& form_token);

/// The next answer behind that one that waits for points, going round; empty for none.
std::string next_waiting(const QuestionView& view, const std::string& student);

}  // namespace rooflab
