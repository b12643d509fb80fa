#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/free_text.h"
#include "grader/batch/store/review_store.h"
#include "grader/review/class_view.h"

namespace rooflab {

/// What one team wrote to a question, and how that was graded.
struct ReviewedAnswer {
  const ReviewTeam* team = nullptr;
  FreeText text;
  std::optional<GivenPoints> given = {};  ///< of the first member
  std::optional<RubricGrade> grade = {};  ///< where these points came of the rubric
  std::string revisions = {};             ///< see revisions_of()

  /// Whether somebody is to grade it next: who is not on the roster waits apart.
  bool waits_in_queue() const { return text.waits && !text.is_strangers; }
};

/// A question of free text with the answers of the whole class.
struct QuestionView {
  int part = 0;
  std::string item = {};
  std::string prompt = {};
  double max_points = 0;
  std::vector<ReviewedAnswer> answers = {};
  std::vector<RubricLine> rubric = {};

  std::size_t waiting() const;                       ///< without those of nobody on the roster
  std::size_t strangers() const;                     ///< answers of nobody on the roster
  std::size_t with(std::int64_t rubric_line) const;  ///< how many answers have it
};

/// "1.2-5.1": item 1 in its version 2, and so on; for forms.
std::string text_of(const RubricVersions& versions);
/// The reverse. @throws FormError for what no form of ours sends
RubricVersions rubric_versions_of(const std::string& text);

/// Every question that anybody was asked, by part and name. Answers stand in the roster's order.
std::vector<QuestionView> look_at_questions(Store& store, const Course& course,
                                            const ReviewedClass& reviewed);

/// One of them with its rubric, which begins as the course has it. @param anonymous in an order
/// that tells nothing. Its `item` is empty where nobody was asked.
QuestionView look_at_question(Store& store, const Course& course, const ReviewedClass& reviewed,
                              int part, const std::string& item, bool anonymous);

}  // namespace rooflab
