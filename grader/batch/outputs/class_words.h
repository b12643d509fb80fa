#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/outputs/class_results.h"

/// What several outputs say in the same words.
namespace rooflab {

/// A part with what is known of it.
const PartSummary& summary_of(const ClassResults& results, int part);
double max_total(const PartSummary& summary);
/// What the student's part is out of: as it was graded, else as the class's is.
double max_score_of(const PartSummary& summary, const PartOutcome& outcome);
double max_manual_of(const PartSummary& summary, const PartOutcome& outcome);
double max_total(const PartSummary& summary, const PartOutcome& outcome);
/// Null when the student has none.
const PartOutcome* outcome_of(const StudentOutcome& student, int part);

/// Those of whom figures of the class are made: the students of the roster; everybody where nobody
/// is on one.
std::vector<const StudentOutcome*> members_of(const ClassResults& results);
/// Whether the class has a roster that the student is not on.
bool is_stranger(const ClassResults& results, const StudentOutcome& student);

/// The student's name, or the key where there is none; one line, not escaped.
std::string display_name(const Student& student);

/// "17.25": at most two decimals, as gradebooks keep them.
std::string gradebook_points(double points);
/// Why there is no total, the gravest reason last.
enum class Missing : std::uint8_t {
  nothing,  ///< the total is final
  points,   ///< answers wait for a person to give points
  choice,   ///< a person has to choose between submissions
  grading,  ///< it is not graded yet
  fault,    ///< the grader failed
};
Missing missing_in(const PartOutcome& outcome);
/// The gravest of all parts.
Missing missing_in(const StudentOutcome& student);

/// name_of() its state; "pending" for a graded part with answers that wait for a person.
std::string state_name(const PartOutcome& outcome);
/// "1 answer waits for a person", "12 answers wait for a person, and 2 of nobody on the roster".
std::string waiting_words(std::size_t answers, std::size_t of_strangers = 0);
std::size_t count_pending(const StudentOutcome& student);

/// A part's total; empty where there is none: an import leaves alone what the gradebook holds.
std::string gradebook_total(const PartOutcome* outcome);
/// To two decimals.
double two_decimals(double points);

/// The points of a part; nothing where something is missing, since the rest would look like a
/// grade.
std::optional<double> total_of(const PartOutcome& outcome);
/// The points of all parts; nothing where something is missing in one of them.
std::optional<double> total_of(const StudentOutcome& student);
double max_total(const ClassResults& results);
double max_total(const ClassResults& results, const StudentOutcome& student);

/// "tests worth 4 more points show and count after 2026-11-20 22:59 UTC"; empty where nothing is
/// held back.
std::string held_back_words(const PartSummary& summary);
/// "regraded, was 14"; of a regrade that does not count "regraded to 12, but the earlier grade
/// counts". Empty for what was graded once, or is not final.
std::string regraded_words(const PartOutcome& outcome);
/// "graded with commit 3f2a9c1b7d40…"; empty where nobody knows.
std::string checkout_words(const PartOutcome& outcome);
/// The commits that graded anybody of the class, each once.
std::vector<std::string> checkouts_of(const ClassResults& results);
/// What the grader's part of a total is, with bonus; nothing where it gave none.
std::optional<double> score_of(const PartOutcome& outcome);

/// What became of a part, in one sentence for the student: "17.5 of 22 points, 1 of them bonus".
std::string part_sentence(const PartSummary& summary, const PartOutcome& outcome);

/// What the student should know when a part has no score because of the grader.
inline constexpr const char* kFaultAdvice =
    "the grader failed, which is not your fault: there is no score yet. Your instructor has to "
    "grade "
    "this part again; you need not hand in anything.";

/// What staff read of a part of whose submissions one has to be chosen.
inline constexpr const char* kChoose = "two submissions: choose";

/// What the student should know then.
inline constexpr const char* kChoiceAdvice =
    "several submissions came in, and it is not known which is the newest: your instructor chooses "
    "the one that counts, and there is no score before that; you need not hand in anything";

/// What the student should know when a part is not graded yet.
inline constexpr const char* kNotYetAdvice = "it is not graded yet; you need not hand in anything";

/// The student's problems without those that are the reason why a part is in one of these states:
/// that reason is told with the part, and that of a fault to instructors alone.
std::vector<std::string> problems_beside(const StudentOutcome& student,
                                         const std::set<PartState>& states);

std::vector<ManualPoints> manual_points_of(const StudentOutcome& student, int part);

}  // namespace rooflab
