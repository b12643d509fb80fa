#include "grader/batch/outputs/class_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grader/batch/outputs/class_page_parts.h"
#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/html_page.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string tile(std::size_t count, const char* words, bool look = false) {
  return fmt::format("<li{}><b>{}</b>{}</li>", look && count > 0 ? " class=\"look\"" : "", count,
                     words);
}

std::string header_html(const ClassResults& results, const OutputOptions& options) {
  std::vector<std::string> facts;
  for (const std::string& fact :
       {results.device, results.time_kind.empty() ? "" : "times are " + results.time_kind,
        results.graded_at.empty() ? "" : "graded " + results.graded_at, results.versions}) {
    if (!fact.empty()) facts.push_back(escape_html(one_line(fact)));
  }
  const ClassCounts counts = count_class(results);
  return fmt::format(
      "<header><h1>{}: the class</h1>\n<p class=\"facts\">{}</p>\n"
      "<p class=\"private\">This page names everybody with their points: it is for instructors, "
      "not "
      "for students.</p>\n<ul class=\"tiles\">{}{}{}{}{}{}{}</ul></header>\n",
      escape_html(one_line(options.assignment)), fmt::join(facts, " · "),
      tile(counts.students, counts.students == 1 ? "student" : "students"),
      tile(counts.submitted, "handed in"), tile(counts.missing, "missing"),
      tile(counts.late, "late"), tile(counts.strangers, "not on the roster", true),
      tile(counts.unreadable, "unreadable", true), tile(counts.faults, "grader faults", true));
}

std::string contents_html(const ClassResults& results, const OutputOptions& options) {
  std::string links = "<a href=\"#problems\">Problems</a>";
  for (const PartSummary& part : results.parts) {
    links += fmt::format("<a href=\"#part{0}\">Part {0}</a>", part.number);
  }
  links += "<a href=\"#diagnoses\">Diagnoses</a>";
  if (options.leaderboard) links += "<a href=\"#leaderboard\">Leaderboard</a>";
  return "<nav aria-label=\"Contents\">" + links + "<a href=\"#students\">Students</a></nav>\n";
}

/// What somebody should look at, with whose it is.
std::string problems_html(const ClassResults& results) {
  std::string rows;
  const auto add = [&](const StudentOutcome& student, const std::string& where,
                       const std::string& what) {
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", student_link(student.student),
                    where, escape_html(shorten(one_line(what), 400)));
  };
  for (const StudentOutcome& student : results.students) {
    for (const std::string& problem : student.problems) add(student, "submission", problem);
    for (const PartOutcome& outcome : student.parts) {
      const std::string part = fmt::format("part {}", outcome.part);
      if (outcome.state == PartState::unreadable)
        add(student, part, "could not be read: " + outcome.why);
      if (outcome.state == PartState::fault)
        add(student, part, "the grader failed: " + outcome.why);
      if (outcome.state != PartState::graded) continue;
      for (const TaskLine& task : outcome.tasks) {
        if (task.verdict == Verdict::suspect || task.verdict == Verdict::rejected)
          add(student, part, fmt::format("{}: {}", task.id, name_of(task.verdict)));
      }
    }
  }
  const std::string table =
      rows.empty() ? "<p>Nothing needs to be looked at.</p>"
                   : "<div class=\"wide\"><table><thead><tr><th>student</th><th>where</th>"
                     "<th>what</th></tr></thead><tbody>\n" +
                         rows + "</tbody></table></div>";
  return "<section class=\"long\" id=\"problems\"><h2>To be looked at</h2>" + table +
         "</section>\n";
}

std::string diagnoses_html(const ClassResults& results, const OutputOptions& options) {
  constexpr std::size_t kMost = 25;
  const std::vector<CodeStatistics> codes = code_statistics(results);
  if (codes.empty())
    return "<section id=\"diagnoses\"><h2>Diagnoses</h2><p>None was made.</p></section>\n";
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMost, codes.size()); ++i) {
    const auto title = options.code_titles.find(codes[i].code);
    rows += fmt::format(
        "<tr><td><b class=\"code\">{}</b></td><td class=\"number\">{}</td>"
        "<td class=\"points\">{}</td><td>{}</td><td>{}</td></tr>\n",
        escape_html(codes[i].code), codes[i].students,
        bar_html(static_cast<double>(codes[i].students) /
                 static_cast<double>(codes.front().students)),
        title == options.code_titles.end() ? "" : escape_html(title->second),
        escape_html(fmt::format("{}", fmt::join(codes[i].tasks, ", "))));
  }
  const std::string rest =
      codes.size() > kMost ? fmt::format("<p class=\"note\">And {} more.</p>", codes.size() - kMost)
                           : "";
  return "<section class=\"long\" id=\"diagnoses\"><h2>Commonest diagnoses</h2><div "
         "class=\"wide\"><table class=\"figures\">"
         "<thead><tr><th>code</th><th class=\"number\">students</th><th></th><th>meaning</th>"
         "<th>in</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>" + rest + "</section>\n";
}

}  // namespace

std::string class_page(const ClassResults& results, const gpu_spec::GpuSpec& gpu,
                       const OutputOptions& options) {
  std::string content =
      header_html(results, options) + contents_html(results, options) + problems_html(results);
  for (const PartSummary& part : results.parts) content += part_html(results, part, gpu);
  content += diagnoses_html(results, options);
  if (options.leaderboard) content += leaderboard_html(results);
  content += students_html(results);
  return html_page(one_line(options.assignment) + ": the class", content, kPageStyle);
}

}  // namespace rooflab
