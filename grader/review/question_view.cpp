#include "grader/review/question_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "grader/review/review_frame.h"
#include "grader/review/submission_view.h"

namespace rooflab {

std::size_t QuestionView::waiting() const {
  return static_cast<std::size_t>(std::ranges::count_if(answers, &ReviewedAnswer::waits_in_queue));
}

std::size_t QuestionView::strangers() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const ReviewedAnswer& answer) { return answer.text.is_strangers; }));
}

std::size_t QuestionView::with(std::int64_t rubric_line) const {
  return static_cast<std::size_t>(std::ranges::count_if(answers, [&](const ReviewedAnswer& answer) {
    return answer.grade && answer.grade->chosen.contains(rubric_line);
  }));
}

std::string text_of(const RubricVersions& versions) {
  std::string text;
  for (const auto& [item, version] : versions) {
    text += fmt::format("{}{}.{}", text.empty() ? "" : "-", item, version);
  }
  return text;
}

RubricVersions rubric_versions_of(const std::string& text) {
  RubricVersions versions;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    std::int64_t item = 0, version = 0;
    const auto read = std::from_chars(at, end, item);
    const bool has_version = read.ec == std::errc() && read.ptr != end && *read.ptr == '.';
    const auto rest = has_version ? std::from_chars(read.ptr + 1, end, version) : read;
    if (!has_version || rest.ec != std::errc() || (rest.ptr != end && *rest.ptr != '-')) {
      throw FormError("the form is incomplete; load the page again");
    }
    versions[item] = version;
    at = rest.ptr == end ? end : rest.ptr + 1;
  }
  return versions;
}

std::vector<QuestionView> look_at_questions(Store& store, const Course& course,
                                            const ReviewedClass& reviewed) {
  const ReadTransaction look = store.look();
  std::map<std::string, std::vector<FreeText>> of_student;
  for (FreeText& text : free_texts(store, course)) {
    of_student[text.student].push_back(std::move(text));
  }
  std::map<std::pair<int, std::string>, QuestionView> questions;
  for (const ReviewTeam& team : reviewed.teams) {
    for (const FreeText& text : of_student[reviewed.lead(team).student.key]) {
      QuestionView& view = questions[{text.part, text.question.item}];
      view.part = text.part;
      view.item = text.question.item;
      if (view.prompt.empty()) view.prompt = text.prompt;
      view.max_points = std::max(view.max_points, text.question.max_points);
      view.answers.push_back({.team = &team, .text = text});
    }
  }
  std::vector<QuestionView> all;
  all.reserve(questions.size());
  for (auto& [key, view] : questions) all.push_back(std::move(view));
  return all;
}

namespace {

/// What the course says that the question earns points for.
std::vector<RubricLine> rubric_of_course(const Course& course, int part, const std::string& item) {
  const auto keys = course.keys.find(part);
  if (keys == course.keys.end()) return {};
  const auto key = keys->second.find(item);
  if (key == keys->second.end()) return {};
  std::vector<RubricLine> lines;
  for (const RubricItem& one : key->second.rubric) {
    lines.push_back({.part = part, .item = item, .text = one.text, .points = one.points});
  }
  return lines;
}

}  // namespace

QuestionView look_at_question(Store& store, const Course& course, const ReviewedClass& reviewed,
                              int part, const std::string& item, bool anonymous) {
  QuestionView found;
  for (QuestionView& view : look_at_questions(store, course, reviewed)) {
    if (view.part == part && view.item == item) found = std::move(view);
  }
  if (found.item.empty()) return found;
  ReviewStore review(store);
  review.begin_rubric(part, item, rubric_of_course(course, part, item));
  const ReadTransaction look = store.look();
  found.rubric = review.rubric(part, item);
  const std::vector<GivenPoints> points = review.points();
  for (ReviewedAnswer& answer : found.answers) {
    const std::string& student = answer.text.student;
    if (const GivenPoints* given = points_for(points, student, part, item)) answer.given = *given;
    answer.grade = review.rubric_grade(student, part, item);
    answer.revisions = revisions_of(points, reviewed, *answer.team, part, item);
  }
  if (anonymous) {
    std::ranges::sort(found.answers, {},
                      [](const ReviewedAnswer& answer) { return answer.team->id; });
  }
  return found;
}

}  // namespace rooflab
