#include "grader/review/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "grader/report/text.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

/// By a student's key, the team that leads to the submission.
std::map<std::string, const ReviewTeam*> teams_by_student(const ReviewedClass& reviewed) {
  std::map<std::string, const ReviewTeam*> teams;
  for (const ReviewTeam& team : reviewed.teams) {
    for (const std::string& student : reviewed.students(team)) teams[student] = &team;
  }
  return teams;
}

std::string student_html(const std::map<std::string, const ReviewTeam*>& teams,
                         const std::string& student, int part) {
  const std::string name = "<bdi>" + escape_html(shorten(one_line(student), 80)) + "</bdi>";
  const auto team = teams.find(student);
  if (team == teams.end()) return name;
  return review_link(
      review_address("submission", {{"student", team->second->id},
                                    {"part", part == kEveryPart ? "" : std::to_string(part)}}),
      name);
}

std::string entry_html(const std::map<std::string, const ReviewTeam*>& teams,
                       const ReviewLogEntry& entry) {
  std::string about = entry.part == kEveryPart ? "" : fmt::format("part {}, ", entry.part);
  about += escape_html(shorten(one_line(entry.subject), 200));
  for (const std::string& student : entry.students) {
    about += ", " + student_html(teams, student, entry.part);
  }
  std::string html = fmt::format("<li><b>{}</b> {} <span class=\"note\">{} · {}</span>",
                                 escape_html(one_line(entry.by)), escape_html(entry.what),
                                 utc_time(entry.at), about);
  if (!entry.before.empty()) html += "<del>" + escape_html(entry.before) + "</del>";
  if (!entry.after.empty()) html += "<ins>" + escape_html(entry.after) + "</ins>";
  return html + "</li>\n";
}

std::string options_html(const std::vector<std::string>& values, const std::string& chosen,
                         const char* all) {
  std::string html = fmt::format("<option value=\"\">{}</option>", all);
  for (const std::string& value : values) {
    html += fmt::format("<option value=\"{0}\"{1}>{0}</option>", escape_html(value),
                        value == chosen ? " selected" : "");
  }
  return html;
}

}  // namespace

std::string log_html(const ReviewedClass& reviewed, const std::vector<ReviewLogEntry>& log) {
  if (log.empty()) return "<p class=\"note\">Nothing was done yet.</p>\n";
  const auto teams = teams_by_student(reviewed);
  std::string items;
  for (const ReviewLogEntry& entry : log) items += entry_html(teams, entry);
  return "<ol class=\"log\">" + items + "</ol>\n";
}

std::string history_page(const ReviewedClass& reviewed, const LogChoice& choice,
                         const LogChoices& choices, const std::vector<ReviewLogEntry>& log) {
  const std::string filter = fmt::format(
      "<form method=\"get\" action=\"history\" class=\"filter\" role=\"search\">"
      "<label>Search <input type=\"search\" name=\"q\" value=\"{}\" data-key=\"/\"></label>"
      "<label>Who <select name=\"by\">{}</select></label>"
      "<label>What <select name=\"what\">{}</select></label><button>Apply</button></form>\n",
      escape_html(choice.words), options_html(choices.by, choice.by, "everybody"),
      options_html(choices.what, choice.what, "everything"));
  return review_page("History",
                     "<h1>What was done in the review</h1>\n" + filter + log_html(reviewed, log));
}

}  // namespace rooflab
