#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

#include "grader/batch/outputs/analysis_page.h"
#include "grader/batch/outputs/count_bar.h"
#include "grader/report/text.h"
#include "grader/spec/median.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostCases = 12;
constexpr std::size_t kMostCodes = 12;
constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostPlaces = 12;
constexpr std::size_t kMostShared = 4;
constexpr std::size_t kLongest = 300;

std::string safe(const std::string& text, std::size_t most = kLongest) {
  return escape_html(shorten(one_line(text), most));
}

/// A table, and what its columns are called.
std::string table(std::initializer_list<const char*> names, const std::string& rows) {
  std::string headings;
  for (const char* name : names) headings += fmt::format("<th scope=\"col\">{}</th>", name);
  return "<div class=\"wide\"><table class=\"figures\"><thead><tr>" + headings +
         "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

/// On a phone, where a row is a card, the column's name stands before what is in it.
std::string cell(const char* name, const std::string& html) {
  return fmt::format("<td data-name=\"{}\">{}</td>", name, html);
}

std::string row(const std::string& heading, const std::string& cells) {
  return "<tr><th scope=\"row\">" + heading + "</th>" + cells + "</tr>\n";
}

/// What a row is about, and in small print what that is.
std::string heading(const std::string& html, const std::string& about) {
  return html + (about.empty() ? "" : "<br><small>" + about + "</small>");
}

std::string rest_words(std::size_t all, std::size_t shown, const char* what) {
  return all > shown ? fmt::format("<p class=\"note\">And {} more {}.</p>\n", all - shown, what)
                     : std::string();
}

/// A bar with its numbers beside it.
/// @param verb of those who are counted: "pass"
std::string share(std::size_t count, std::size_t of, BarPart part, const char* verb,
                  BarPart rest = BarPart::none) {
  return "<span class=\"share\">" +
         count_bar(fmt::format("{} of {} {}", count, of, verb),
                   {{part, count}, {rest, of - std::min(of, count)}}) +
         fmt::format("{} of {}</span>", count, of);
}

std::string lost_words(const TaskAnalysis& task) {
  constexpr std::size_t kMost = 3;
  std::string html;
  for (std::size_t i = 0; i < std::min(kMost, task.lost.size()); ++i) {
    const PointsLost& lost = task.lost[i];
    html += fmt::format("<p>{} <small>{} points, {} {}</small></p>", safe(lost.name, 80),
                        format_points(lost.points), lost.submissions,
                        lost.submissions == 1 ? "submission" : "submissions");
  }
  return html;
}

std::string efficiency_words(const TaskAnalysis& task) {
  std::string html;
  for (const TimedEfficiencies& timed : task.timed) {
    html += fmt::format("<p>{} <small>{}</small></p>",
                        format_percent(median_of(timed.efficiencies)), safe(timed.name, 60));
  }
  return html;
}

std::string task_row(const TaskAnalysis& task) {
  return row(
      heading(safe(task.id, 80) + (task.is_bonus ? " <small>bonus</small>" : ""),
              safe(task.title, 120)),
      cell("passed", share(task.passed, task.submissions, BarPart::right, "pass", BarPart::wrong)) +
          cell("mean points",
               fmt::format("{} of {}",
                           format_points(task.points / static_cast<double>(task.submissions)),
                           format_points(task.max_score))) +
          cell("points lost most", lost_words(task)) +
          cell("median efficiency", efficiency_words(task)));
}

std::string tasks_html(const PartAnalysis& part) {
  std::string rows;
  for (const TaskAnalysis& task : part.tasks) rows += task_row(task);
  return "<h3>Tasks</h3>\n" +
         table({"task", "passed", "mean points", "points lost most", "median efficiency"}, rows) +
         "<p class=\"note\">Efficiencies are of submissions that pass the task.</p>\n";
}

/// Cases that somebody fails; those of questions stand with the questions.
std::string cases_html(const PartAnalysis& part) {
  std::string rows;
  std::string rest;
  for (const TaskAnalysis& task : part.tasks) {
    if (asks_questions(part, task)) continue;
    for (std::size_t i = 0; i < std::min(kMostCases, task.cases.size()); ++i) {
      const CaseFailures& one = task.cases[i];
      rows += row(safe(task.id, 80),
                  cell("case", (one.is_hidden ? "<b class=\"hidden\">hidden</b> " : "") +
                                   safe(one.name, 120)) +
                      cell("group", safe(one.group, 80)) +
                      cell("failed", share(one.failed, one.ran, BarPart::wrong, "fail it")));
    }
    rest += rest_words(task.cases.size(), kMostCases,
                       fmt::format("cases of {}", safe(task.id, 80)).c_str());
  }
  if (rows.empty()) return {};
  return "<h3>Cases that fail</h3>\n" + table({"task", "case", "group", "failed"}, rows) + rest;
}

std::string shared_words(const QuestionAnalysis& question) {
  std::string html;
  for (std::size_t i = 0; i < std::min(kMostShared, question.shared.size()); ++i) {
    const SharedAnswer& shared = question.shared[i];
    const std::string answer =
        shared.given.empty() ? "" : " answered <b>" + safe(shared.given, 80) + "</b>";
    const std::string slip = shared.cause.empty() ? "" : " by a known slip: " + safe(shared.cause);
    html += fmt::format("<p>{} of {}{}{}</p>", shared.submissions, question.asked(), answer, slip);
  }
  return html;
}

std::string discrimination_words(const QuestionAnalysis& question) {
  if (!question.discrimination) return "<small>too few to tell</small>";
  const Discrimination& found = *question.discrimination;
  return fmt::format("{:.2f} <small>right {}, wrong {}</small>", found.correlation,
                     format_percent(found.right_share), format_percent(found.wrong_share));
}

std::string question_row(const QuestionAnalysis& question) {
  const std::size_t wrong = question.wrong + question.unreadable;
  const std::string bar =
      count_bar(fmt::format("{} right, {} in another unit, {} wrong, {} not answered",
                            question.right, question.other_unit, wrong, question.missing),
                {{BarPart::right, question.right},
                 {BarPart::almost, question.other_unit},
                 {BarPart::wrong, wrong},
                 {BarPart::none, question.missing}});
  const auto number = [](const char* name, std::size_t count) {
    return cell(name, fmt::format("{}", count));
  };
  const std::string unreadable =
      question.unreadable == 0 ? std::string()
                               : fmt::format(" <small>{} unreadable</small>", question.unreadable);
  return row(heading(safe(question.id, 80), safe(question.prompt, 90)),
             cell("answers", bar) + number("right", question.right) +
                 cell("wrong", fmt::format("{}{}", wrong, unreadable)) +
                 number("other unit", question.other_unit) +
                 number("not answered", question.missing) +
                 cell("shared by several", shared_words(question)) +
                 cell("discrimination", discrimination_words(question)));
}

std::string questions_html(const PartAnalysis& part) {
  if (part.questions.empty()) return {};
  std::string rows;
  for (const QuestionAnalysis& question : part.questions) rows += question_row(question);
  return "<h3>Questions</h3>\n" +
         table({"question", "answers", "right", "wrong", "other unit", "not answered",
                "wrong answers that several share", "discrimination"},
               rows) +
         fmt::format(
             "<p class=\"note\">Discrimination is the correlation of a right answer with the share "
             "of the part's other points: near 0, or below, a question tells little, or asks for "
             "something else. The mean shares of those who have it right and wrong stand beside "
             "it. It takes {} answers, {} of them right and {} wrong.</p>\n",
             kLeastForDiscrimination, kLeastOnEachSide, kLeastOnEachSide);
}

/// A cause as many can share it: numbers differ from run to run.
std::string without_numbers(const std::string& message) {
  std::string words;
  bool in_number = false;
  for (const char character : one_line(message)) {
    const bool is_digit = character >= '0' && character <= '9';
    if (!is_digit) words += character;
    if (is_digit && !in_number) words += '#';
    in_number = is_digit;
  }
  return words;
}

std::string causes_html(const CodeSightings& code) {
  std::map<std::string, std::size_t> counts;
  for (const Sighting& one : code.sightings) ++counts[without_numbers(one.message)];
  std::vector<std::pair<std::size_t, std::string>> causes;
  for (const auto& [cause, count] : counts) causes.emplace_back(count, cause);
  std::ranges::stable_sort(causes, std::ranges::greater(),
                           [](const auto& one) { return one.first; });
  std::string html;
  for (std::size_t i = 0; i < std::min(kMostCauses, causes.size()); ++i) {
    html += fmt::format("<p>{} <small>{} times</small></p>", safe(causes[i].second, 160),
                        causes[i].first);
  }
  return html + rest_words(causes.size(), kMostCauses, "wordings");
}

std::string places_html(const CodeSightings& code, int part, const SubmissionLink& link) {
  std::vector<std::string> places;
  for (const Sighting& one : code.sightings) {
    if (places.size() == kMostPlaces) break;
    std::string place = safe(one.file, 80);
    if (one.line > 0) place += fmt::format(":{}", one.line);
    places.push_back(link(one.submission, part) +
                     (place.empty() ? "" : " <small>" + place + "</small>"));
  }
  return fmt::format("<details><summary>where</summary><p>{}{}</p></details>",
                     fmt::join(places, ", "),
                     code.sightings.size() > kMostPlaces
                         ? fmt::format(" and {} more", code.sightings.size() - kMostPlaces)
                         : "");
}

std::string diagnoses_html(const PartAnalysis& part,
                           const std::map<std::string, std::string>& titles,
                           const SubmissionLink& link) {
  const std::vector<CodeInTask> all = commonest_codes(part);
  if (all.empty()) return {};
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMostCodes, all.size()); ++i) {
    const auto& [task, code] = all[i];
    const auto title = titles.find(code->code);
    rows += row(heading("<b class=\"code\">" + safe(code->code, 20) + "</b> " + safe(task->id, 80),
                        title == titles.end() ? "" : safe(title->second, 120)),
                cell("submissions", share(code->sightings.size(), task->submissions, BarPart::wrong,
                                          "are told so")) +
                    cell("causes", causes_html(*code) + places_html(*code, part.number, link)));
  }
  return "<h3>Mistakes</h3>\n" +
         table({"code and task", "submissions", "causes, and where"}, rows) +
         rest_words(all.size(), kMostCodes, "codes in a task");
}

std::string most_common(const std::map<std::string, std::size_t>& codes) {
  constexpr std::size_t kMost = 4;
  std::vector<std::pair<std::size_t, std::string>> counts;
  for (const auto& [code, count] : codes) counts.emplace_back(count, code);
  std::ranges::stable_sort(counts, std::ranges::greater(),
                           [](const auto& one) { return one.first; });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(kMost, counts.size()); ++i) {
    words.push_back(
        fmt::format("<b class=\"code\">{}</b> {}", safe(counts[i].second, 20), counts[i].first));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string journals_html(const PartAnalysis& part) {
  if (part.journals == 0) return {};
  std::string rows;
  for (const JournalAnalysis& task : part.runs) {
    const auto median = [](const std::vector<double>& values) {
      return values.empty() ? "–" : format_points(median_of(values));
    };
    rows += row(
        safe(task.task, 80),
        cell("passed in the end", share(task.passed, task.students, BarPart::right, "passed")) +
            cell("runs, median", median(task.runs)) + cell("hints, median", median(task.hints)) +
            cell("codes on the way", most_common(task.codes)));
  }
  return "<h3>Runs until a task passes</h3>\n" +
         table({"task", "passed in the end", "runs, median", "hints, median",
                "codes on the way, and how many met them"},
               rows) +
         fmt::format(
             "<p class=\"note\">From the journals that {} of {} submissions share. Students choose "
             "to share them, and can change them: they are no sample of the class, and nothing "
             "that counts.</p>\n",
             part.journals, part.submissions);
}

}  // namespace

std::string part_analysis_html(const PartAnalysis& part,
                               const std::map<std::string, std::string>& code_titles,
                               const SubmissionLink& link) {
  if (part.submissions == 0) return "<p>Nothing of this part was graded yet.</p>\n";
  return fmt::format("<p>{} {} graded. Partners count once.</p>\n", part.submissions,
                     part.submissions == 1 ? "submission is" : "submissions are") +
         tasks_html(part) + questions_html(part) + cases_html(part) +
         diagnoses_html(part, code_titles, link) + journals_html(part);
}

}  // namespace rooflab
