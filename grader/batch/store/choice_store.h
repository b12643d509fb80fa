#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/store/review_store.h"

/// Which of several submissions of a student counts, where a person has to choose. It stands in
/// the batch's database.
namespace rooflab {

struct SubmissionChoice {
  std::string submission;       ///< id of the one that counts
  std::set<std::string> among;  ///< ids of all that were chosen from
  std::string by;
  std::int64_t at = 0;  ///< seconds since 1970
  std::int64_t version = 0;

  /// Whether it decides between these: one that came in since has been seen by nobody.
  bool decides(const std::set<std::string>& candidates) const;
};

/// The entry of the folder of submissions that a row is of: rows of partners are "entry",
/// "entry~2", "entry~3", and no entry's own id has a "~".
std::string entry_of(const std::string& row);

/// What tells a submission from the others of its student: its name in the folder, with its id
/// where another has the same name.
std::string name_among(const SubmissionRow& one, const std::vector<SubmissionRow>& others);

class ChoiceStore {
 public:
  explicit ChoiceStore(Store& store) : store_(store), database_(store.database_), review_(store) {}

  std::map<std::string, SubmissionChoice> all();  ///< by student
  /// The submissions of which a person chooses, by student and entry.
  std::map<std::string, std::vector<SubmissionRow>> candidates();

  /// From now on these count. One transaction, which keeps what was chosen before in the review's
  /// log. @param submissions ids of candidates, by student; partners are chosen for together
  /// @param version the highest of these students' choices that the writer saw; 0 for none
  /// @throws LostUpdate where there is a newer one, or one of them is no candidate any more
  void choose(const std::map<std::string, std::string>& submissions, std::int64_t version,
              const ReviewAct& act);

 private:
  void put(const std::string& student, const SubmissionChoice& choice);

  Store& store_;
  Database& database_;
  ReviewStore review_;
};

}  // namespace rooflab
