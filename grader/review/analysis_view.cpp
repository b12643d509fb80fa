#include "grader/review/analysis_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/fingerprint.h"
#include "grader/batch/outputs/analysis_page.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/count_bar.h"
#include "grader/report/evidence.h"
#include "grader/report/text.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

std::string tabs_html(const ReviewedClass& reviewed, int here) {
  std::string tabs;
  for (const PartSummary& part : reviewed.results.parts) {
    tabs += review_link(review_address("analysis", {{"part", std::to_string(part.number)}}),
                        fmt::format("Part {}, {}", part.number, escape_html(part.title)),
                        part.number == here ? "aria-current=\"page\"" : "");
  }
  return "<nav class=\"tabs\" aria-label=\"Parts\">" + tabs + "</nav>\n";
}

/// A submission's page in the review.
std::string link_to(const ReviewedClass& reviewed, SubmissionIndex submission, int part) {
  for (const ReviewTeam& team : reviewed.teams) {
    if (std::ranges::find(team.members, submission) == team.members.end()) continue;
    return review_link(
        review_address("submission", {{"student", team.id}, {"part", std::to_string(part)}}),
        "<bdi>" + escape_html(reviewed.names(team)) + "</bdi>");
  }
  return {};
}

std::string choice_html(const LectureExample& example, std::size_t index) {
  const std::string number = std::to_string(index + 1);
  const bool has_key = index < kMostKeys;
  return fmt::format(
      "<label class=\"choice\"><input type=\"checkbox\" name=\"example\" value=\"{}\"{}> {}<b "
      "class=\"code\">{}</b> in {} <span class=\"note\">{} of {} submissions</span></label>{}\n",
      example.id, has_key ? fmt::format(" data-key=\"{0}\" aria-keyshortcuts=\"{0}\"", number) : "",
      has_key ? "<kbd>" + number + "</kbd> " : "", escape_html(example.code),
      escape_html(one_line(example.task)), example.submissions, example.of, example_html(example));
}

std::string examples_html(const AnalysisView& view, const std::string& form_token) {
  const std::string heading = "<section id=\"examples\"><h2>Examples for a lecture</h2>\n";
  if (view.examples.empty()) {
    return heading + fmt::format(
                         "<p>There are none: no mistake with a place in the code is shared by {} "
                         "submissions.</p></section>\n",
                         kLeastForExample);
  }
  std::string choices;
  for (std::size_t i = 0; i < view.examples.size(); ++i) {
    choices += choice_html(view.examples[i], i);
  }
  return heading +
         fmt::format("<p class=\"note\">{} Look before you choose.</p>\n",
                     escape_html(kHowAnonymous)) +
         review_form("examples", form_token, {{"part", std::to_string(view.part.number)}},
                     "class=\"grade\"") +
         choices +
         "<button aria-keyshortcuts=\"Control+Enter\">Write the chosen ones as a page without "
         "names</button></form></section>\n";
}

/// What the analysis of a part is made from: who handed in what, and which grading that has. Names
/// are in it, since examples are made without them.
std::string gradings_of(const ReviewedClass& reviewed, int part) {
  Fingerprint print;
  for (const StudentOutcome& student : reviewed.results.students) {
    print.add(student.student.key).add(student.student.name).add(student.submission);
    print.add(student.student.on_roster ? "on the roster" : "");
    if (const PartOutcome* outcome = outcome_of(student, part)) {
      print.add(name_of(outcome->state)).add(outcome->grading);
    }
  }
  for (const ReviewTeam& team : reviewed.teams) {
    const auto source = team.sources.find(part);
    print.add(source == team.sources.end() ? "" : source->second);
  }
  return print.hex();
}

AnalysisView look_at_analysis(Store& store, const Course& course, const ReviewedClass& reviewed,
                              int part, const std::filesystem::path& handouts) {
  const ReadTransaction look = store.look();
  const LoadGrading load = [&](const std::string& grading) {
    return from_evidence(store.evidence(grading));
  };
  ClassResults results = reviewed.results;  // of the one part: the others are not read
  for (StudentOutcome& student : results.students) {
    std::erase_if(student.parts, [&](const PartOutcome& one) { return one.part != part; });
  }
  AnalysisView view;
  for (PartAnalysis& one : analyse_class(results, load).parts) {
    if (one.number == part) view.part = std::move(one);
  }
  const auto spec = std::ranges::find(course.parts, part, &PartSpec::number);
  if (spec != course.parts.end()) {
    view.examples = lecture_examples(store, *spec, view.part, texts_of_pages(handouts));
  }
  return view;
}

}  // namespace

const AnalysisView& AnalysisCache::look(Store& store, const Course& course,
                                        const ReviewedClass& reviewed, int part,
                                        const std::filesystem::path& handouts) {
  const std::string gradings = gradings_of(reviewed, part);
  Known& known = known_[part];
  if (known.gradings != gradings) {
    known = {.gradings = gradings,
             .view = look_at_analysis(store, course, reviewed, part, handouts)};
  }
  return known.view;
}

std::vector<LectureExample> chosen_examples(const AnalysisView& view,
                                            const std::set<std::string>& ids) {
  std::vector<LectureExample> chosen;
  std::ranges::copy_if(view.examples, std::back_inserter(chosen),
                       [&](const LectureExample& one) { return ids.contains(one.id); });
  return chosen;
}

std::string analysis_page(const ReviewedClass& reviewed, const AnalysisView& view,
                          const std::map<std::string, std::string>& code_titles,
                          const std::string& message, const std::string& form_token) {
  const SubmissionLink link = [&](SubmissionIndex submission, int part) {
    return link_to(reviewed, submission, part);
  };
  const std::string status =
      message.empty() ? "" : "<p role=\"status\"><b>" + escape_html(message) + "</b></p>\n";
  return review_page("What the class understood",
                     "<h1>What the class understood</h1>\n" +
                         tabs_html(reviewed, view.part.number) + status + bar_legend() +
                         "<section class=\"analysis\">" +
                         part_analysis_html(view.part, code_titles, link) + "</section>\n" +
                         examples_html(view, form_token));
}

}  // namespace rooflab
