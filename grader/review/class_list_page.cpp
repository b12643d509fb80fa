#include "grader/review/class_list_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"
#include "grader/review/review_frame.h"

namespace rooflab {
namespace {

std::string address_of(const ClassList& list, const std::string& part, const std::string& state,
                       const std::string& sort) {
  return review_address(
      "", {{"q", list.choice.words}, {"state", state}, {"part", part}, {"sort", sort}});
}

/// "gemm_<wbr>tiled": a heading breaks where the name has its parts.
std::string heading_of(const std::string& task) {
  std::string html;
  for (const char character : escape_html(one_line(task))) {
    html += character;
    if (character == '_') html += "<wbr>";
  }
  return html;
}

std::string part_of(const ClassList& list) {
  return list.part ? std::to_string(*list.part) : std::string();
}

std::string tabs_html(const ReviewedClass& reviewed, const ClassList& list) {
  const auto tab = [&](const std::string& part, const std::string& words) {
    return review_link(address_of(list, part, list.choice.state, list.choice.sort), words,
                       part == part_of(list) ? "aria-current=\"page\"" : "");
  };
  std::string tabs = tab("", "All parts");
  for (const PartSummary& part : reviewed.results.parts) {
    tabs += tab(std::to_string(part.number),
                fmt::format("Part {}, {}", part.number, escape_html(part.title)));
  }
  return "<nav class=\"tabs\" aria-label=\"Parts\">" + tabs + "</nav>\n";
}

std::string filter_html(const ReviewedClass& reviewed, const ClassList& list) {
  std::map<TeamState, std::size_t> counts;
  for (const ReviewTeam& team : reviewed.teams) {
    for (const TeamState state : states_of(reviewed, team)) ++counts[state];
  }
  std::string options = "<option value=\"\">everybody</option>";
  for (const TeamState state : kTeamStates) {
    options += fmt::format("<option value=\"{}\"{}>{} ({})</option>", name_of(state),
                           list.choice.state == name_of(state) ? " selected" : "", words_of(state),
                           counts[state]);
  }
  std::string sorts;
  for (const auto& [value, words] :
       {std::pair("", "as on the roster"), std::pair("name", "by name"),
        std::pair("points", "fewest points first"), std::pair("-points", "most points first")}) {
    sorts += fmt::format("<option value=\"{}\"{}>{}</option>", value,
                         list.choice.sort == value ? " selected" : "", words);
  }
  return fmt::format(
      "<form method=\"get\" action=\"./\" class=\"filter\" role=\"search\">"
      "<input type=\"hidden\" name=\"part\" value=\"{}\">"
      "<label>Search <input type=\"search\" name=\"q\" value=\"{}\" data-key=\"/\"></label>"
      "<label>Show <select name=\"state\">{}</select></label>"
      "<label>Order <select name=\"sort\">{}</select></label>"
      "<button>Apply</button></form>\n",
      part_of(list), escape_html(list.choice.words), options, sorts);
}

std::string points_cell(const ReviewedClass& reviewed, const PartOutcome& outcome) {
  const PartSummary& summary = summary_of(reviewed.results, outcome.part);
  const auto total = total_of(outcome);
  std::string html = fmt::format("<td class=\"number\" data-name=\"Part {}\"><span>", outcome.part);
  if (outcome.state == PartState::graded) {
    html += fmt::format("<b>{}</b> of {}", total ? format_points(*total) : "–",
                        format_points(max_total(summary, outcome)));
    if (!total) html += fmt::format("<small>{} so far</small>", format_points(outcome.total()));
    if (outcome.manual != 0) {
      html += fmt::format("<small>{} by hand</small>", format_points(outcome.manual));
    }
  } else {
    html += fmt::format("<span class=\"state {}\">{}</span>", state_name(outcome),
                        outcome.state == PartState::undecided ? kChoose : state_name(outcome));
  }
  return html + "</span></td>";
}

const PartOutcome* outcome_of_list(const StudentOutcome& student, const ClassList& list) {
  return list.part ? outcome_of(student, *list.part) : nullptr;
}

/// The tasks that anybody's grading of the part has, in their order.
std::vector<std::string> tasks_of(const ReviewedClass& reviewed, const ClassList& list) {
  std::vector<std::string> tasks;
  for (const StudentOutcome& student : reviewed.results.students) {
    const PartOutcome* outcome = outcome_of_list(student, list);
    if (outcome == nullptr) continue;
    for (const TaskLine& task : outcome->tasks) {
      if (std::ranges::find(tasks, task.id) == tasks.end()) tasks.push_back(task.id);
    }
  }
  return tasks;
}

std::string task_cell(const PartOutcome* outcome, const std::string& task) {
  const std::string name = escape_html(one_line(task));
  const TaskLine* line = nullptr;
  if (outcome != nullptr) {
    const auto found = std::ranges::find(outcome->tasks, task, &TaskLine::id);
    if (found != outcome->tasks.end()) line = &*found;
  }
  if (line == nullptr) return fmt::format("<td class=\"number\" data-name=\"{}\">–</td>", name);
  return fmt::format("<td class=\"number\" data-name=\"{}\"><span>{} {}</span></td>", name,
                     verdict_mark(line->verdict), format_points(line->score));
}

std::string row_html(const ReviewedClass& reviewed, const ClassList& list, const ReviewTeam& team,
                     const std::vector<std::string>& tasks) {
  const StudentOutcome& lead = reviewed.lead(team);
  const auto total = total_of(lead);
  const std::string address =
      review_address("submission", submission_fields(team.id, part_of(list), list.choice));
  std::string row = fmt::format(
      "<tr><th scope=\"row\" class=\"who\"><bdi>{}</bdi>{}<span class=\"labels\">{}</span></th>",
      review_link(address, escape_html(reviewed.names(team))),
      lead.student.section.empty()
          ? ""
          : "<small>" + escape_html(shorten(one_line(lead.student.section), 40)) + "</small>",
      state_labels(reviewed, team));
  row += fmt::format("<td class=\"number\" data-name=\"total\"><b>{}</b></td>",
                     total ? format_points(*total) : "–");
  if (list.part) {
    const PartOutcome* outcome = outcome_of(lead, *list.part);
    row += outcome == nullptr ? "<td></td>" : points_cell(reviewed, *outcome);
    for (const std::string& task : tasks) row += task_cell(outcome, task);
  } else {
    for (const PartOutcome& outcome : lead.parts) row += points_cell(reviewed, outcome);
  }
  return row + "</tr>\n";
}

std::string table_html(const ReviewedClass& reviewed, const ClassList& list,
                       const std::vector<const ReviewTeam*>& teams) {
  const std::vector<std::string> tasks = tasks_of(reviewed, list);
  std::string heads = "<th scope=\"col\">student</th><th scope=\"col\" class=\"number\">total</th>";
  if (list.part) {
    heads += fmt::format("<th scope=\"col\" class=\"number\">part {}</th>", *list.part);
    for (const std::string& task : tasks) {
      heads += fmt::format("<th scope=\"col\" class=\"number task\">{}</th>", heading_of(task));
    }
  } else {
    for (const PartSummary& part : reviewed.results.parts) {
      heads += fmt::format("<th scope=\"col\" class=\"number\">part {}</th>", part.number);
    }
  }
  std::string rows;
  for (const ReviewTeam* team : teams) rows += row_html(reviewed, list, *team, tasks);
  return "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"The class\"><table "
         "class=\"class\"><thead><tr>" +
         heads + "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string problems_html(const ReviewedClass& reviewed) {
  std::string items;
  for (const std::string& problem : reviewed.results.problems) {
    items += "<li>" + escape_html(one_line(problem)) + "</li>";
  }
  if (items.empty()) return {};
  return "<section class=\"problems\"><h2>Of the class as a whole</h2><ul>" + items +
         "</ul></section>\n";
}

/// Of which parts the totals here are more than what students see.
std::string held_html(const ReviewedClass& reviewed) {
  std::string html;
  for (const auto& [part, until] : reviewed.held_until) {
    html += fmt::format(
        "<p class=\"note\">Part {}: the points here have those of tests that are held back. "
        "Students "
        "do not see these before {}.</p>\n",
        part, until);
  }
  return html;
}

}  // namespace

AddressFields fields_of(const TeamChoice& choice) {
  return {{"q", choice.words}, {"state", choice.state}, {"sort", choice.sort}};
}

TeamChoice team_choice_of(const ReviewFields& fields) {
  return {.words = value_of(fields, "q"),
          .state = value_of(fields, "state"),
          .sort = value_of(fields, "sort")};
}

AddressFields submission_fields(const std::string& team, const std::string& part,
                                const TeamChoice& choice, const std::string& candidate) {
  AddressFields fields = fields_of(choice);
  fields.insert(fields.begin(), {{"student", team}, {"part", part}, {"candidate", candidate}});
  std::erase_if(fields, [](const auto& field) { return field.second.empty(); });
  return fields;
}

std::string verdict_mark(Verdict verdict) {
  const std::string words = escape_html(verdict_words(verdict));
  return fmt::format(
      "<span class=\"verdict {}\" role=\"img\" title=\"{}\" aria-label=\"{}\">{}"
      "</span>",
      name_of(verdict), words, words, verdict_sign(verdict));
}

std::string state_labels(const ReviewedClass& reviewed, const ReviewTeam& team) {
  std::string labels;
  for (const TeamState state : states_of(reviewed, team)) {
    labels += review_link(review_address("", {{"state", name_of(state)}}), words_of(state),
                          fmt::format("class=\"label {}\"", name_of(state))) +
              " ";
  }
  return labels;
}

std::string class_list_page(const ReviewedClass& reviewed, const ClassList& list) {
  const std::vector<const ReviewTeam*> teams = choose_teams(reviewed, list.choice);
  const std::string found =
      teams.size() == reviewed.teams.size()
          ? fmt::format("{} {}", teams.size(), teams.size() == 1 ? "submission" : "submissions")
          : fmt::format("{} of {} submissions", teams.size(), reviewed.teams.size());
  return review_page("Class", "<h1>The class</h1>\n" + batch_html(list.batch) +
                                  tabs_html(reviewed, list) + held_html(reviewed) +
                                  filter_html(reviewed, list) +
                                  "<p class=\"note\" role=\"status\">" + found + "</p>\n" +
                                  table_html(reviewed, list, teams) + problems_html(reviewed));
}

}  // namespace rooflab
