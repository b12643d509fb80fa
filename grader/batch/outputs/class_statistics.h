#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/outputs/class_results.h"

/// Figures of a whole class.
namespace rooflab {

/// Of a list of numbers; all 0 for an empty one.
struct Quartiles {
  double least = 0, lower = 0, median = 0, upper = 0, most = 0, mean = 0;
};
/// Quartiles by linear interpolation between neighbours (type 7 of Hyndman and Fan, as spreadsheets
/// do).
Quartiles quartiles_of(std::vector<double> values);

struct TaskStatistics {
  std::string id;
  std::string title;
  bool bonus = false;
  double max_score = 0;
  std::size_t graded = 0;  ///< students whose part was graded
  std::size_t passed = 0;
  double mean_score = 0;
  std::vector<double> efficiencies;  ///< of those who passed and were timed
  std::string best;                  ///< key of the first student with the best of them
  double best_efficiency = 0;
  std::string commonest_code;  ///< of the diagnoses, and how many students have it
  std::size_t commonest_count = 0;
  std::string hardest_group;  ///< of its cases, which most students lost, and how many did
  std::size_t hardest_count = 0;
};

struct PartStatistics {
  std::map<PartState, std::size_t> states;
  std::size_t strangers = 0;  ///< who handed it in and is not on the roster: in no figure
  std::size_t late = 0;
  std::size_t pending = 0;            ///< answers that wait for a person
  std::vector<double> totals;         ///< of the graded; so far, where answers wait for a person
  std::vector<std::size_t> tenths;    ///< how many graded totals are in each tenth of the maximum
  std::size_t above = 0;              ///< and above it, by bonus
  std::vector<TaskStatistics> tasks;  ///< in the order of the part
};
PartStatistics statistics_of(const ClassResults& results, const PartSummary& summary);

/// How often a diagnosis was made.
struct CodeStatistics {
  std::string code;
  std::size_t students = 0;
  std::map<int, std::set<std::string>> tasks;  ///< by part
};
/// The commonest first, those of equal count by code.
std::vector<CodeStatistics> code_statistics(const ClassResults& results);

struct ClassCounts {
  std::size_t students = 0;   ///< of the roster; of all when nobody is on one
  std::size_t submitted = 0;  ///< of these, who handed in anything
  std::size_t missing = 0;
  std::size_t late = 0;        ///< students with a late part
  std::size_t strangers = 0;   ///< submissions of nobody on the roster: no other figure has them
  std::size_t unreadable = 0;  ///< students with a part that could not be taken in
  std::size_t faults = 0;      ///< students with a part on which the grader failed
  std::size_t ungraded = 0;    ///< students with a part that is not graded yet
  std::size_t pending = 0;     ///< answers that wait for a person
  std::size_t pending_of_strangers = 0;
};
ClassCounts count_class(const ClassResults& results);

/// Where a student stands on the leaderboard: what the grader gave, without lateness and points by
/// hand, and the mean efficiency over all tasks that are timed for anybody; what was not passed
/// counts as 0.
struct Standing {
  double points = 0;
  double efficiency = 0;
};
/// @param timed_tasks of count_timed_tasks()
Standing standing_of(const StudentOutcome& student, std::size_t timed_tasks);
std::size_t count_timed_tasks(const ClassResults& results);

}  // namespace rooflab
