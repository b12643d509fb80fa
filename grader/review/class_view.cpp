#include "grader/review/class_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/batch.h"
#include "grader/batch/fingerprint.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kIdDigits = 20;

/// The rows of partners are "entry", "entry~2", "entry~3": see take_class().
std::string entry_of(const SubmissionRow& row, const std::map<std::string, std::string>& called) {
  const std::size_t mark = row.id.rfind('~');
  if (mark == std::string::npos) return row.id;
  const std::string entry = row.id.substr(0, mark);
  const auto first = called.find(entry);
  return first != called.end() && first->second == row.called ? entry : row.id;
}

}  // namespace

std::set<std::string> ReviewedClass::students(const ReviewTeam& team) const {
  std::set<std::string> keys;
  for (const std::size_t member : team.members) {
    keys.insert(results.students[member].student.key);
  }
  return keys;
}

std::string ReviewedClass::names(const ReviewTeam& team) const {
  std::string names;
  for (const std::size_t member : team.members) {
    names +=
        (names.empty() ? "" : ", ") + shorten(display_name(results.students[member].student), 60);
  }
  return names;
}

const ReviewTeam* ReviewedClass::team(const std::string& id) const {
  const auto found = std::ranges::find(teams, id, &ReviewTeam::id);
  return found == teams.end() ? nullptr : &*found;
}

ReviewedClass look_at_class(Store& store, const Course& course, const std::string& secret,
                            TaskLinesOf& known) {
  const ReadTransaction look = store.look();
  ReviewedClass reviewed;
  reviewed.results = collect(store, course, kept_policy(store), &known);
  const std::vector<SubmissionRow> rows = store.submissions();
  std::map<std::string, std::string> called;
  for (const SubmissionRow& row : rows) called[row.id] = row.called;
  std::map<std::string, const SubmissionRow*> of_student;
  for (const SubmissionRow& row : rows) {
    if (row.counts) of_student[row.student] = &row;
  }
  std::map<std::string, std::size_t> of_entry;
  for (std::size_t i = 0; i < reviewed.results.students.size(); ++i) {
    const std::string& key = reviewed.results.students[i].student.key;
    const auto row = of_student.find(key);
    if (row != of_student.end()) {
      const std::string entry = entry_of(*row->second, called);
      const auto [known, is_new] = of_entry.emplace(entry, reviewed.teams.size());
      if (!is_new) {
        reviewed.teams[known->second].members.push_back(i);
        continue;
      }
    }
    ReviewTeam team{.id = Fingerprint().add(secret).add(key).hex().substr(0, kIdDigits),
                    .members = {i}};
    if (row != of_student.end()) team.sources = store.handed_in(row->second->id);
    reviewed.teams.push_back(std::move(team));
  }
  return reviewed;
}

const char* name_of(TeamState state) {
  switch (state) {
    case TeamState::look:
      return "look";
    case TeamState::requested:
      return "requested";
    case TeamState::free_text:
      return "free-text";
    case TeamState::regraded:
      return "regraded";
    case TeamState::late:
      return "late";
    case TeamState::fault:
      return "fault";
    case TeamState::missing:
      return "missing";
    case TeamState::commented:
      return "commented";
  }
  return "";
}

const char* words_of(TeamState state) {
  switch (state) {
    case TeamState::look:
      return "needs a look";
    case TeamState::requested:
      return "asks for a regrade";
    case TeamState::free_text:
      return "free text to grade";
    case TeamState::regraded:
      return "regraded";
    case TeamState::late:
      return "late";
    case TeamState::fault:
      return "fault of the grader";
    case TeamState::missing:
      return "nothing handed in";
    case TeamState::commented:
      return "commented";
  }
  return "";
}

std::set<TeamState> states_of(const ReviewedClass& reviewed, const ReviewTeam& team) {
  std::set<TeamState> states;
  for (const std::size_t member : team.members) {
    const StudentOutcome& student = reviewed.results.students[member];
    if (!student.problems.empty()) states.insert(TeamState::look);
    if (student.submission.empty()) states.insert(TeamState::missing);
    if (!student.comments.empty()) states.insert(TeamState::commented);
    const bool asks = std::ranges::any_of(student.requests, [](const RegradeRequest& request) {
      return request.state == RequestState::open;
    });
    if (asks) states.insert(TeamState::requested);
    for (const PartOutcome& part : student.parts) {
      if (!part.pending.empty()) states.insert(TeamState::free_text);
      if (part.previous_total) states.insert(TeamState::regraded);
      if (!part.lateness.empty()) states.insert(TeamState::late);
      if (part.state == PartState::fault) states.insert(TeamState::fault);
      const bool noted = std::ranges::any_of(
          part.tasks, [](const TaskLine& task) { return !task.for_people.empty(); });
      if (noted) states.insert(TeamState::look);
    }
  }
  return states;
}

namespace {

bool contains_words(const ReviewedClass& reviewed, const ReviewTeam& team,
                    const std::string& words) {
  const std::string wanted = fold_name(words);
  return std::ranges::any_of(team.members, [&](std::size_t member) {
    const StudentOutcome& one = reviewed.results.students[member];
    const Student& who = one.student;
    return std::ranges::any_of(
        std::vector<std::string>{who.key, who.name, who.email, who.login, who.section,
                                 one.submission},
        [&](const std::string& text) { return fold_name(text).find(wanted) != std::string::npos; });
  });
}

}  // namespace

std::vector<const ReviewTeam*> choose_teams(const ReviewedClass& reviewed,
                                            const TeamChoice& choice) {
  std::vector<const ReviewTeam*> teams;
  for (const ReviewTeam& team : reviewed.teams) {
    const std::set<TeamState> states = states_of(reviewed, team);
    const bool fits = choice.state.empty() || std::ranges::any_of(states, [&](TeamState state) {
                        return name_of(state) == choice.state;
                      });
    if (fits && contains_words(reviewed, team, choice.words)) teams.push_back(&team);
  }
  const auto points = [&](const ReviewTeam* team) {
    double sum = 0;
    for (const PartOutcome& part : reviewed.lead(*team).parts) sum += part.total();
    return sum;
  };
  if (choice.sort == "name") {
    std::ranges::stable_sort(
        teams, {}, [&](const ReviewTeam* team) { return fold_name(reviewed.names(*team)); });
  } else if (choice.sort == "points") {
    std::ranges::stable_sort(teams, {}, points);
  } else if (choice.sort == "-points") {
    std::ranges::stable_sort(teams, std::greater<>(), points);
  }
  return teams;
}

}  // namespace rooflab
