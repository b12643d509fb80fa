#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/class_page_parts.h"
#include "grader/batch/outputs/class_statistics.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kMost = 20;

struct Entry {
  const StudentOutcome* student;
  Standing standing;
};

/// The best first; those who are equal keep the order of the class.
std::vector<Entry> ranking(const ClassResults& results) {
  const std::size_t timed = count_timed_tasks(results);
  std::vector<Entry> all;
  for (const StudentOutcome* student : members_of(results)) {
    if (missing_in(*student) > Missing::points) continue;  // a part is still to be graded
    all.push_back({student, standing_of(*student, timed)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.standing.points, a.standing.efficiency) >
           std::pair(b.standing.points, b.standing.efficiency);
  });
  return all;
}

std::string ranking_html(const std::vector<Entry>& all) {
  std::string rows;
  for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    rows += fmt::format(
        "<tr><td class=\"number\">{}</td><th scope=\"row\">{}</th><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        i + 1, student_link(all[i].student->student), format_points(all[i].standing.points),
        format_percent(all[i].standing.efficiency));
  }
  return "<div class=\"wide\"><table class=\"figures\"><thead><tr><th class=\"number\">rank</th>"
         "<th>student</th><th class=\"number\">points</th><th class=\"number\">mean efficiency</th>"
         "</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string best_of_tasks_html(const ClassResults& results) {
  std::map<std::string, const Student*> by_key;
  for (const StudentOutcome& student : results.students) {
    by_key.emplace(student.student.key, &student.student);
  }
  std::string rows;
  for (const PartSummary& part : results.parts) {
    for (const TaskStatistics& task : statistics_of(results, part).tasks) {
      if (task.best.empty()) continue;
      rows += fmt::format(
          "<tr><td>part {}</td><th scope=\"row\">{}</th><td>{}</td><td "
          "class=\"number\">{}</td></tr>\n",
          part.number, escape_html(one_line(task.id)), student_link(*by_key.at(task.best)),
          format_percent(task.best_efficiency));
    }
  }
  if (rows.empty()) return {};
  return "<h3>Nearest to the roofline</h3><div class=\"wide\"><table class=\"figures\"><thead><tr>"
         "<th>part</th><th>task</th><th>student</th><th "
         "class=\"number\">efficiency</th></tr></thead>"
         "<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

std::string leaderboard_html(const ClassResults& results) {
  return "<section class=\"long\" id=\"leaderboard\"><h2>Leaderboard</h2>"
         "<p class=\"note\">Points of the grader with bonus, without lateness and points by hand; "
         "the "
         "mean efficiency is over all timed tasks, those not passed count as 0.</p>" +
         ranking_html(ranking(results)) + best_of_tasks_html(results) + "</section>\n";
}

}  // namespace rooflab
