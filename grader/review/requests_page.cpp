#include "grader/review/requests_page.h"

#include <fmt/format.h>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

std::string row_html(const ReviewedClass& reviewed, const ReviewTeam& team,
                     const StudentOutcome& student, const RegradeRequest& request) {
  const std::string address =
      review_address("submission", {{"student", team.id}, {"part", std::to_string(request.part)}});
  return fmt::format(
      "<tr><th scope=\"row\" class=\"who\"><bdi>{}</bdi></th><td data-name=\"part\">part "
      "{}</td><td "
      "data-name=\"task\">{}</td><td data-name=\"state\"><b>{}</b></td><td "
      "data-name=\"points\">{}</td><td class=\"text\" data-name=\"why\">{}</td></tr>\n",
      review_link(address + fmt::format("#r{}", request.id), escape_html(reviewed.names(team))),
      request.part, escape_html(request.task.empty() ? "–" : one_line(request.task)),
      name_of(request.state), score_words(student, request),
      escape_html(shorten(one_line(request.why), 200)));
}

}  // namespace

std::string score_words(const StudentOutcome& student, const RegradeRequest& request) {
  const auto points = [](const std::optional<double>& score) {
    return score ? format_points(*score) : std::string("no");
  };
  const PartOutcome* outcome = outcome_of(student, request.part);
  return fmt::format("{} points when it was asked, {} now", points(request.old_score),
                     points(outcome == nullptr ? std::nullopt : score_of(*outcome)));
}

std::string requests_page(const ReviewedClass& reviewed) {
  std::string open, decided;
  for (const ReviewTeam& team : reviewed.teams) {
    for (const std::size_t member : team.members) {
      const StudentOutcome& student = reviewed.results.students[member];
      for (const RegradeRequest& request : student.requests) {
        (request.state == RequestState::open ? open : decided) +=
            row_html(reviewed, team, student, request);
      }
    }
  }
  if (open.empty() && decided.empty()) {
    return review_page(
        "Regrade requests",
        "<h1>Regrade requests</h1>\n<p class=\"note\">There are none. A submission's "
        "page takes one, and so does grader batch --requests.</p>\n");
  }
  return review_page("Regrade requests",
                     "<h1>Regrade requests</h1>\n<div class=\"wide\"><table class=\"class\"><thead>"
                     "<tr><th scope=\"col\">student</th><th scope=\"col\">part</th><th "
                     "scope=\"col\">task</th><th scope=\"col\">state</th><th scope=\"col\">points "
                     "by the grader</th><th scope=\"col\">why</th></tr></thead><tbody>\n" +
                         open + decided + "</tbody></table></div>\n");
}

}  // namespace rooflab
