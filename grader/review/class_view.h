#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/collect.h"
#include "grader/batch/course.h"
#include "grader/batch/hold_back.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/choice_store.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// One of several submissions of a team of which a person chooses the one that counts.
struct TeamCandidate {
  std::string id;    ///< of its row, for the first member
  std::string name;  ///< untrusted
  bool counts = false;
  std::vector<std::string> notes = {};
  std::map<std::string, std::string> rows = {};  ///< of each member: the id of the row
};

/// Who handed in one submission: one student, or partners. Whoever handed in nothing is alone.
struct ReviewTeam {
  std::string id;                           ///< in addresses and forms; tells nothing of who it is
  std::vector<std::size_t> members;         ///< of ClassResults::students; the first stands for all
  std::map<int, std::string> sources = {};  ///< part -> the files that were handed in for it
  std::vector<TeamCandidate> candidates = {};
  /// Of these: who has chosen last. Its version is 0 where nobody has.
  SubmissionChoice choice = {};

  bool is_undecided() const;
};

/// A graded class as its reviewers look at it.
struct ReviewedClass {
  ClassResults results;
  std::vector<ReviewTeam> teams;
  std::vector<HeldTest> held = {};             ///< what students do not see yet
  std::map<int, std::string> held_until = {};  ///< of each part with any: "2026-11-20 22:59 UTC"

  const StudentOutcome& lead(const ReviewTeam& team) const {
    return results.students[team.members.front()];
  }
  std::set<std::string> students(const ReviewTeam& team) const;
  /// "Ada Lovelace, Bob"; one line, not escaped.
  std::string names(const ReviewTeam& team) const;
  /// Null where there is none.
  const ReviewTeam* team(const std::string& id) const;
};

/// @param secret that makes the ids: without it they cannot be told from whose they are
/// @param known see collect()
/// @param now seconds since 1970, by which tests are still held back
ReviewedClass look_at_class(Store& store, const Course& course, const std::string& secret,
                            TaskLinesOf& known, std::int64_t now);

/// What stands out of a team, for a label and for choosing.
enum class TeamState : std::uint8_t {
  look,
  choose,
  to_check,
  requested,
  free_text,
  regraded,
  late,
  fault,
  missing,
  stranger,
  commented
};
const char* name_of(TeamState state);   ///< in addresses: "free-text"
const char* words_of(TeamState state);  ///< "free text to grade"
inline constexpr TeamState kTeamStates[] = {
    TeamState::look,      TeamState::choose,   TeamState::to_check, TeamState::requested,
    TeamState::free_text, TeamState::regraded, TeamState::late,     TeamState::fault,
    TeamState::missing,   TeamState::stranger, TeamState::commented};
std::set<TeamState> states_of(const ReviewedClass& reviewed, const ReviewTeam& team);

/// Which teams, and in which order.
struct TeamChoice {
  std::string words = {};  ///< that a name, key, section or submission has to contain
  std::string state = {};  ///< name_of() one; empty for all
  std::string sort = {};   ///< "name", "points", "-points"; else the roster's order
};
std::vector<const ReviewTeam*> choose_teams(const ReviewedClass& reviewed,
                                            const TeamChoice& choice);

}  // namespace rooflab
