#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rooflab {

/// What `grader verify` is asked for.
struct VerifyOptions {
  std::vector<int> parts;             ///< empty: all
  std::vector<std::string> gpus;      ///< empty: those of labs/course.toml
  std::vector<std::string> proofs;    ///< kinds of proof; empty: all
  std::vector<std::string> mistakes;  ///< names of planted ones; empty: all
  std::vector<std::string> right;     ///< names of right submissions; empty: all
  unsigned jobs = 0;                  ///< 0: one per CPU
  std::string json;                   ///< a file, "-" for stdout, or empty
};

/// What `grader release` is asked for.
struct ReleaseOptions {
  std::string out;         ///< the archive
  std::vector<int> parts;  ///< empty: all
  bool open = false;       ///< those that are open by the calendar
  std::string at;          ///< when; empty: now
};

/// What `grader new-part` is asked for.
struct NewPartOptions {
  std::string name;   ///< "part6-sorting"
  std::string title;  ///< empty: made from the name
};

/// What `grader calibrate` is asked for.
struct CalibrateOptions {
  std::string device = "auto";
  std::string out;  ///< a file; empty: beside the data-sheet one
};

/// What `grader compare-times` is asked for.
struct CompareTimesOptions {
  bool measure = false;
  std::string device = "cuda";     ///< to measure on
  std::string out;                 ///< to measure: a file; empty: in specs/measured
  std::vector<std::string> files;  ///< to compare; empty: all of specs/measured
  std::vector<int> parts;          ///< empty: all
  unsigned jobs = 0;               ///< 0: one per CPU; only simulated GPUs take more than one
  std::string json;                ///< a file, "-" for stdout, or empty
};

/// What `grader targets` is asked for.
struct TargetsOptions {
  bool measure = false;
  bool all = false;                ///< to measure: what is known as well
  std::vector<int> parts;          ///< empty: all
  std::vector<std::string> tasks;  ///< empty: all
  std::vector<std::string> gpus;   ///< empty: those of specs/gpus
};

/// What instructors and authors of a course ask for.
struct AuthorOptions {
  VerifyOptions verify;
  ReleaseOptions release;
  NewPartOptions new_part;
  CalibrateOptions calibrate;
  CompareTimesOptions compare_times;
  TargetsOptions targets;
};

void add_verify_options(CLI::App& command, VerifyOptions& options);
void add_release_options(CLI::App& command, ReleaseOptions& options);
void add_new_part_options(CLI::App& command, NewPartOptions& options);
void add_calibrate_options(CLI::App& command, CalibrateOptions& options);
void add_compare_times_options(CLI::App& command, CompareTimesOptions& options);
void add_targets_options(CLI::App& command, TargetsOptions& options);

}  // namespace rooflab
