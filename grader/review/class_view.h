#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/collect.h"
#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// Who handed in one submission: one student, or partners. Whoever handed in nothing is alone.
struct ReviewTeam {
  std::string id;                           ///< in addresses and forms; tells nothing of who it is
  std::vector<std::size_t> members;         ///< of ClassResults::students; the first stands for all
  std::map<int, std::string> sources = {};  ///< part -> the files that were handed in for it
};

/// A graded class as its reviewers look at it.
struct ReviewedClass {
  ClassResults results;
  std::vector<ReviewTeam> teams;

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
ReviewedClass look_at_class(Store& store, const Course& course, const std::string& secret,
                            TaskLinesOf& known);

/// What stands out of a team, for a label and for choosing.
enum class TeamState : std::uint8_t {
  look,
  requested,
  free_text,
  regraded,
  late,
  fault,
  missing,
  commented
};
const char* name_of(TeamState state);   ///< in addresses: "free-text"
const char* words_of(TeamState state);  ///< "free text to grade"
inline constexpr TeamState kTeamStates[] = {
    TeamState::look, TeamState::requested, TeamState::free_text, TeamState::regraded,
    TeamState::late, TeamState::fault,     TeamState::missing,   TeamState::commented};
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
