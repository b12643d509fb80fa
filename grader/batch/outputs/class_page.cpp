#include "grader/batch/outputs/class_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "grader/batch/outputs/class_page_parts.h"
#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/html_page.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string tile(std::size_t count, const char* words, bool look = false) {
  const bool is_marked = look && count > 0;
  return fmt::format(
      "<li{}><b>{}{}</b>{}</li>", is_marked ? " class=\"look\"" : "", count,
      is_marked ? " <span role=\"img\" aria-label=\"somebody should look\">⚠</span>" : "", words);
}

std::string header_html(const ClassResults& results, const OutputOptions& options) {
  std::vector<std::string> facts;
  for (const std::string& fact :
       {results.device, results.time_kind.empty() ? "" : "times are " + results.time_kind,
        results.graded_at.empty() ? "" : "graded " + results.graded_at, results.versions}) {
    if (!fact.empty()) facts.push_back(escape_html(one_line(fact)));
  }
  for (const std::string& checkout : checkouts_of(results)) {
    facts.push_back("commit " + escape_html(checkout));
  }
  const ClassCounts counts = count_class(results);
  return fmt::format(
      "<header><h1>{}: the class</h1>\n<p class=\"facts\">{}</p>\n"
      "<p class=\"private\">This page names everybody with their points: it is for instructors, "
      "not "
      "for students.</p>\n<ul class=\"tiles\">{}{}{}{}{}{}{}{}{}</ul></header>\n",
      escape_html(one_line(options.assignment)), fmt::join(facts, " · "),
      tile(counts.students, counts.students == 1 ? "student" : "students"),
      tile(counts.submitted, "handed in"), tile(counts.missing, "missing"),
      tile(counts.late, "late"), tile(counts.strangers, "not on the roster", true),
      tile(counts.unreadable, "unreadable", true), tile(counts.faults, "grader faults", true),
      tile(counts.ungraded, "not graded yet", true),
      tile(counts.pending, "answers wait for a person", true));
}

std::string contents_html(const ClassResults& results, const OutputOptions& options) {
  std::string links = "<a href=\"#problems\">Problems</a>";
  for (const PartSummary& part : results.parts) {
    links += fmt::format("<a href=\"#part{0}\">Part {0}</a>", part.number);
  }
  links += "<a href=\"analysis.html\">What the class understood</a>";
  links += "<a href=\"#diagnoses\">Diagnoses</a>";
  if (options.leaderboard) links += "<a href=\"#leaderboard\">Leaderboard</a>";
  return "<nav aria-label=\"Contents\">" + links + "<a href=\"#students\">Students</a></nav>\n";
}

/// What somebody should look at: each thing once, with all whom it concerns and where.
class Problems {
 public:
  void add(const Student& student, const std::string& what, const std::string& where) {
    const std::string words = shorten(one_line(what), kLongest);
    const auto [place, is_new] = index_.emplace(words, all_.size());
    if (is_new) all_.push_back({words, {}});
    auto& concerned = all_[place->second].concerned;
    if (concerned.empty() || concerned.back().first != &student)
      concerned.emplace_back(&student, std::vector<std::string>{});
    if (!where.empty()) concerned.back().second.push_back(where);
  }

  std::string rows() const {
    std::string html;
    for (const Problem& problem : all_) {
      std::vector<std::string> links;
      for (const auto& [student, places] : problem.concerned) {
        links.push_back(student_link(*student) +
                        (places.empty() ? "" : fmt::format(" ({})", fmt::join(places, ", "))));
      }
      html += fmt::format(
          "<tr><td class=\"text\">{}</td><td class=\"number\">{}</td>"
          "<td class=\"text people\">{}</td></tr>\n",
          escape_html(problem.what), links.size(), fmt::join(links, ", "));
    }
    return html;
  }

 private:
  static constexpr std::size_t kLongest = 400;
  struct Problem {
    std::string what;
    std::vector<std::pair<const Student*, std::vector<std::string>>> concerned;
  };
  std::vector<Problem> all_;
  std::map<std::string, std::size_t> index_;
};

void add_problems(const StudentOutcome& student, const PartOutcome& outcome, Problems& problems) {
  const std::string part = fmt::format("part {}", outcome.part);
  switch (outcome.state) {
    case PartState::unreadable:
      return problems.add(student.student, "could not be read: " + outcome.why, part);
    case PartState::undecided:
      return problems.add(student.student, outcome.why, part);
    case PartState::fault:
      return problems.add(student.student, "the grader failed: " + outcome.why, part);
    case PartState::ungraded:
      return problems.add(student.student, "not graded yet: the same command goes on with it",
                          part);
    case PartState::not_submitted:
      return;
    case PartState::graded:
      for (const PendingAnswer& answer : outcome.pending) {
        problems.add(student.student,
                     fmt::format("{}, {}: the answer waits for a person", part, answer.item), "");
      }
      for (const TaskLine& task : outcome.tasks) {
        if (task.verdict == Verdict::suspect || task.verdict == Verdict::rejected)
          problems.add(student.student,
                       fmt::format("{}, {}: {}", part, task.id, name_of(task.verdict)), "");
        for (const std::string& note : task.for_people) {
          problems.add(student.student,
                       fmt::format("{}, {}, noticed and not proven: {}", part, task.id, note), "");
        }
      }
  }
}

/// What concerns the class as a whole.
std::vector<std::string> class_problems(const ClassResults& results) {
  std::vector<std::string> problems = results.problems;
  const ClassCounts counts = count_class(results);
  if (counts.pending + counts.pending_of_strangers > 0) {
    problems.push_back(waiting_words(counts.pending, counts.pending_of_strangers) +
                       ": give points by grader review, or in free_text.csv and import them with "
                       "--manual; until then the gradebooks leave out these totals");
  }
  return problems;
}

std::string problems_html(const ClassResults& results) {
  Problems problems;
  for (const StudentOutcome& student : results.students) {
    for (const std::string& problem : problems_beside(
             student, {PartState::undecided, PartState::unreadable, PartState::fault})) {
      problems.add(student.student, problem, "");
    }
    for (const std::string& note : student.for_people) problems.add(student.student, note, "");
    for (const PartOutcome& outcome : student.parts) add_problems(student, outcome, problems);
  }
  std::string whole;
  for (const std::string& problem : class_problems(results)) {
    whole += "<p>" + escape_html(one_line(problem)) + ".</p>\n";
  }
  const std::string rows = problems.rows();
  const std::string table =
      rows.empty()
          ? whole.empty() ? "<p>Nothing needs to be looked at.</p>" : ""
          : "<div class=\"wide\"><table><thead><tr><th>what</th><th class=\"number\">students</th>"
            "<th class=\"people\">who</th></tr></thead><tbody>\n" +
                rows + "</tbody></table></div>";
  return "<section class=\"long\" id=\"problems\"><h2>To be looked at</h2>\n" + whole + table +
         "</section>\n";
}

/// "part 1: gemm, gemv; part 2: norm"
std::string tasks_html(const std::map<int, std::set<std::string>>& tasks) {
  std::vector<std::string> parts;
  parts.reserve(tasks.size());
  for (const auto& [part, ids] : tasks) {
    parts.push_back(fmt::format("part {}: {}", part, fmt::join(ids, ", ")));
  }
  return escape_html(fmt::format("{}", fmt::join(parts, "; ")));
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
        tasks_html(codes[i].tasks));
  }
  const std::string rest =
      codes.size() > kMost ? fmt::format("<p class=\"note\">And {} more.</p>", codes.size() - kMost)
                           : "";
  return "<section class=\"long\" id=\"diagnoses\"><h2>Commonest diagnoses</h2><div "
         "class=\"wide\"><table class=\"figures\">"
         "<thead><tr><th>code</th><th class=\"number\">students</th><td></td><th>meaning</th>"
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
