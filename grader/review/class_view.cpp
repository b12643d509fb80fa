#include "grader/review/class_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/batch/batch.h"
#include "grader/batch/fingerprint.h"
#include "grader/batch/intake/fold_name.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/outputs/class_words.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kIdDigits = 20;

/// The rows of a student, and who handed them in together.
struct OwnRows {
  const SubmissionRow* row = nullptr;  ///< that counts, else the first to choose from
  std::vector<SubmissionRow> candidates = {};

  /// Equal for those who are one team: of one entry, or of the same ones to choose from.
  std::string team() const {
    if (candidates.empty()) return entry_of(row->id);
    std::string entries;
    for (const SubmissionRow& one : candidates) entries += entry_of(one.id) + "~";
    return entries;
  }
};

std::map<std::string, OwnRows> rows_by_student(Store& store,
                                               const std::vector<SubmissionRow>& rows) {
  std::map<std::string, OwnRows> own;
  for (const SubmissionRow& row : rows) {  // those that count stand first
    OwnRows& theirs = own[row.student];
    if (theirs.row == nullptr) theirs.row = &row;
  }
  for (auto& [student, candidates] : ChoiceStore(store).candidates()) {
    own[student].candidates = std::move(candidates);
  }
  return own;
}

/// Adds a member's rows to those that the team chooses from, which are of the same entries.
void add_candidates(ReviewTeam& team, const OwnRows& own, const std::string& student) {
  for (std::size_t i = 0; i < own.candidates.size(); ++i) {
    const SubmissionRow& row = own.candidates[i];
    if (i == team.candidates.size()) {
      team.candidates.push_back({.id = row.id,
                                 .name = name_among(row, own.candidates),
                                 .counts = row.counts,
                                 .notes = row.notes});
    }
    team.candidates[i].rows[student] = row.id;
  }
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

bool ReviewTeam::is_undecided() const {
  return !candidates.empty() && std::ranges::none_of(candidates, &TeamCandidate::counts);
}

ReviewedClass look_at_class(Store& store, const Course& course, const std::string& secret,
                            TaskLinesOf& known, std::int64_t now) {
  const ReadTransaction look = store.look();
  const LatePolicy policy = kept_policy(store);
  ReviewedClass reviewed{.results = collect(store, course, policy, &known), .teams = {}};
  reviewed.held = held_at(policy, now);
  for (const HeldTest& test : reviewed.held) {
    reviewed.held_until[test.part] = utc_time(*policy.last_due_of(test.part));
  }
  const std::vector<SubmissionRow> rows = store.submissions();
  const std::map<std::string, OwnRows> own = rows_by_student(store, rows);
  const std::map<std::string, SubmissionChoice> choices = ChoiceStore(store).all();
  std::map<std::string, std::size_t> team_of;
  for (std::size_t i = 0; i < reviewed.results.students.size(); ++i) {
    const std::string& key = reviewed.results.students[i].student.key;
    const auto theirs = own.find(key);
    std::size_t at = reviewed.teams.size();
    if (theirs != own.end()) at = team_of.emplace(theirs->second.team(), at).first->second;
    if (at == reviewed.teams.size()) {
      reviewed.teams.push_back(
          {.id = Fingerprint().add(secret).add(key).hex().substr(0, kIdDigits), .members = {}});
      const bool counts = theirs != own.end() && theirs->second.row->counts;
      if (counts) reviewed.teams[at].sources = store.handed_in(theirs->second.row->id);
    }
    ReviewTeam& team = reviewed.teams[at];
    team.members.push_back(i);
    if (theirs != own.end()) add_candidates(team, theirs->second, key);
    const auto choice = choices.find(key);
    if (choice != choices.end() && choice->second.version > team.choice.version) {
      team.choice = choice->second;
    }
  }
  return reviewed;
}

const char* name_of(TeamState state) {
  switch (state) {
    case TeamState::look:
      return "look";
    case TeamState::choose:
      return "choose";
    case TeamState::to_check:
      return "to-check";
    case TeamState::stranger:
      return "stranger";
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
    case TeamState::choose:
      return kChoose;
    case TeamState::to_check:
      return "points to check";
    case TeamState::stranger:
      return "not on the roster";
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
  if (team.is_undecided()) states.insert(TeamState::choose);
  for (const std::size_t member : team.members) {
    const StudentOutcome& student = reviewed.results.students[member];
    if (!student.for_people.empty()) states.insert(TeamState::to_check);
    if (is_stranger(reviewed.results, student)) states.insert(TeamState::stranger);
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
