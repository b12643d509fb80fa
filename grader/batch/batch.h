#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/batch_folder.h"
#include "grader/batch/course.h"
#include "grader/batch/execute/executor.h"
#include "grader/batch/intake/groups.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/intake/roster.h"
#include "grader/batch/listener.h"
#include "grader/batch/outputs/write_outputs.h"
#include "grader/batch/store/store.h"
#include "grader/spec/moment.h"
#include "grader/spec/seed.h"

/// Grades a class: docs/design/batch.md.
namespace rooflab {

/// What a batch was asked for. What is left out is as it was the last time in the same folder, and
/// what is named anew replaces it.
struct BatchRequest {
  std::filesystem::path out;
  std::filesystem::path submissions;
  std::filesystem::path roster;
  std::filesystem::path policy;
  std::filesystem::path groups = {};  ///< who works with whom
  std::filesystem::path manual;       ///< points given by people, to be imported
  std::filesystem::path requests;     ///< regrade requests, to be imported
  std::vector<int> parts;
  std::map<int, Moment> due = {};  ///< by the course's calendar, where the policy names no date
  std::string device;
  std::function<std::string()> default_device;  ///< asked where no device was ever named
  std::optional<Seed> seed;
  std::optional<std::string> assignment = {};          ///< see OutputOptions, as are the next two
  std::map<int, std::string> canvas_assignments = {};  ///< added to those of the other parts
  std::optional<bool> leaderboard = {};
  std::optional<std::string> regrade_counts = {};  ///< "latest" or "best"; else as the policy says
  std::vector<std::string> regrade;                ///< see RegradeRules
  /// Submissions that count from now on, of several of which a person has to choose.
  std::vector<std::string> choose = {};
  std::string by = {};  ///< who asks, for the history of what people decide
  bool resume = false;  ///< there has to be something to go on with
};

struct BatchSettings {
  std::filesystem::path submissions;
  std::vector<int> parts;
  std::string device;
  Seed seed;
  std::optional<Roster> roster;
  Groups groups;
  LatePolicy policy;
  std::string assignment;
  std::map<int, std::string> canvas_assignments;
  bool leaderboard = false;
  /// Of what was kept, what this command replaces: a line each.
  std::vector<std::string> replaced;
};

/// What came of it.
struct BatchSummary {
  std::size_t students = 0;              ///< of the roster; everybody where there is none
  std::size_t submitted = 0;             ///< of these
  std::size_t strangers = 0;             ///< who handed in and are not on the roster
  std::size_t faults = 0;                ///< gradings that the grader failed at
  std::size_t ungraded = 0;              ///< gradings that are still to be made
  std::size_t pending = 0;               ///< answers that wait for a person to give points
  std::size_t pending_of_strangers = 0;  ///< likewise, of nobody on the roster
  std::size_t problems = 0;              ///< students whose submission somebody has to look at
  std::size_t refused = 0;               ///< regrade requests that could not be kept
  std::size_t outdated = 0;              ///< graded in another form than they have now
  bool stopped = false;                  ///< before its end
};

struct BatchWork {
  std::filesystem::path unpacker;   ///< build/bin/rooflab-unpack
  std::filesystem::path gpu_specs;  ///< specs/gpus
  unsigned jobs = 1;                ///< at a time
  unsigned threads = 1;             ///< of each
  double limit_s = 0;               ///< of a grading; 0: what its parts allow it at most
  bool sandbox = true;
  std::string causes = "full";  ///< or "quick": how much each grading does to find causes
  std::map<std::string, std::string> code_titles = {};  ///< see OutputOptions
  /// Asked before anything is graded: throws where grades may not come from the device. May be
  /// empty.
  std::function<void(const std::string& device)> admit = {};
  /// Seconds since 1970, which tests that count after the deadline go by; nothing: the clock's.
  std::optional<std::int64_t> now = {};
};

/// The parts that are graded in a batch so far.
std::vector<int> parts_of_batch(Store& store);

/// The late policy that the batch was last given, with the calendar that it keeps.
LatePolicy kept_policy(Store& store);

/// One batch in one folder, which it holds locked.
class Batch {
 public:
  /// Reads everything that was asked for before it writes anything.
  /// @throws BatchError, FileError, CsvError, SpecError or DatabaseError saying what to do
  explicit Batch(const BatchRequest& request);

  const BatchSettings& settings() const { return settings_; }
  const BatchFolder& folder() const { return folder_; }
  Store& store() { return store_; }

  /// Takes the class in, grades what is to be graded, writes every output.
  BatchSummary run(const Course& course, const BatchWork& work, Executor& executor,
                   BatchListener& heard_by);

  /// Writes every output anew from what the database has, and grades nothing.
  /// @throws FileError after all of them were tried, for the first that failed
  BatchSummary write_outputs(const Course& course, const BatchWork& work, BatchListener& listener);

 private:
  void tell_strangers_of_policy(BatchListener& listener);
  void choose_submissions(BatchListener& listener);
  void import_manual(const Course& course, BatchListener& listener);
  /// @return how many could not be kept
  std::size_t import_requests(const Course& course, BatchListener& listener);
  OutputOptions outputs(const BatchWork& work) const;
  /// Leaves out what is not to be shown yet. @return the tests that were left out
  std::vector<HeldTest> hold_back_tests(ClassResults& results, const Course& course,
                                        const BatchWork& work, BatchListener& listener);

  BatchRequest request_;
  BatchFolder folder_;
  Store store_;
  BatchSettings settings_;
};

}  // namespace rooflab
