#include <algorithm>

#include "grader/review/form_values.h"
#include "grader/review/question_page.h"
#include "grader/review/review_app.h"

/// Answers in free text: their pages, and what their forms write.
namespace rooflab {

ReviewResponse ReviewApp::questions() {
  const ReviewedClass seen = reviewed();
  return {.body = questions_page(look_at_questions(store_, course_, seen))};
}

namespace {

QuestionView existing(QuestionView view) {
  if (view.item.empty()) {
    throw NotFound("nobody was asked this question; go back to the class");
  }
  return view;
}

/// The page of an answer again, or of another one.
std::string question_address(const ReviewFields& form, const std::string& student) {
  return review_address("question", {{"part", value_of(form, "part")},
                                     {"item", value_of(form, "item")},
                                     {"student", student},
                                     {"anonymous", value_of(form, "anonymous")}});
}

QuestionFocus focus_of(const ReviewFields& fields) {
  return {.student = value_of(fields, "student"), .anonymous = has(fields, "anonymous")};
}

}  // namespace

ReviewResponse ReviewApp::question(const ReviewFields& fields, const UnkeptForm& unkept,
                                   const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const QuestionFocus focus = focus_of(fields);
  const QuestionView view = existing(
      look_at_question(store_, course_, seen, number_of<int>(value_of(fields, "part")).value_or(-1),
                       value_of(fields, "item"), focus.anonymous));
  return {.body = question_page(seen, view, focus, unkept, form_token)};
}

ReviewResponse ReviewApp::write_answer(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const std::string item = value_of(form, "item");
  const QuestionView view =
      existing(look_at_question(store_, course_, seen, target.part, item, has(form, "anonymous")));
  const auto failed = attempt([&] {
    const auto answer = std::ranges::find_if(
        view.answers, [&](const ReviewedAnswer& one) { return one.team == &target.team; });
    if (answer == view.answers.end()) {
      throw FormError("this submission was not asked that; go back to the class");
    }
    if (answer->text.to_come) {
      throw FormError(
          "the submission is being graded, and what it answers is not known yet; try "
          "again when the batch has ended");
    }
    if (value_of(form, "grading") != answer->text.grading) {
      throw LostUpdate("the submission was graded again meanwhile: read the answer once more");
    }
    const PointsTarget points =
        points_target(value_of(form, "revisions"), seen, target.team, target.part, item);
    if (has(form, "withdraw")) {
      review_.withdraw_points(points, act());
      return;
    }
    RubricGrade grade{.comment = text_of_form(value_of(form, "comment"))};
    const auto [first, last] = form.equal_range("rubric");
    for (auto one = first; one != last; ++one) {
      const auto id = number_of<std::int64_t>(one->second);
      if (!id) throw FormError("the form is incomplete; load the page again");
      grade.chosen.insert(*id);
    }
    const std::string adjustment = text_of_form(value_of(form, "adjustment"));
    if (!adjustment.empty()) grade.adjustment = points_of_form(adjustment);
    review_.grade_answer(points, grade, rubric_versions_of(value_of(form, "rubric_versions")),
                         answer->text.question.max_points, act());
  });
  if (failed) {
    ReviewResponse answer =
        question(form, {.form = "answer", .message = failed->second, .typed = form}, form_token);
    answer.status = failed->first;
    return answer;
  }
  const std::string next =
      value_of(form, "go") == "next" ? next_waiting(view, target.team.id) : std::string();
  return {.location = question_address(form, next.empty() ? target.team.id : next)};
}

ReviewResponse ReviewApp::write_rubric(const ReviewFields& form, const std::string& form_token) {
  const ReviewedClass seen = reviewed();
  const Target target = target_of(seen, form);
  const QuestionView view = existing(look_at_question(
      store_, course_, seen, target.part, value_of(form, "item"), has(form, "anonymous")));
  const std::string old = value_of(form, "rubric");
  const auto failed = attempt([&] {
    RubricLine line{.part = view.part, .item = view.item};
    if (!old.empty()) {
      line.id = number_of_form(form, "rubric");
      line.version = number_of_form(form, "version");
    }
    if (!old.empty() && has(form, "remove")) {
      review_.remove_rubric_line(line.id, line.version, act());
      return;
    }
    line.text = one_line(required(form, "text", "say what the item is for"));
    line.points = points_of_form(value_of(form, "points"));
    if (old.empty()) {
      review_.add_rubric_line(line, act());
    } else {
      review_.change_rubric_line(line, act());
    }
  });
  if (!failed) return {.location = question_address(form, target.team.id)};
  ReviewResponse answer = question(
      form,
      {.form = old.empty() ? "rubric" : "rubric " + old, .message = failed->second, .typed = form},
      form_token);
  answer.status = failed->first;
  return answer;
}

}  // namespace rooflab
