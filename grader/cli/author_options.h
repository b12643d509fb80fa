#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace rooflab {

/// What `grader verify` is asked for.
struct VerifyOptions {
  std::vector<int> parts;             ///< empty: all
  std::vector<std::string> gpus;      ///< empty: those of labs/course.toml
  std::vector<std::string> proofs;    ///< kinds of proof; empty: all
  std::vector<std::string> mistakes;  ///< names of planted ones; empty: all
  unsigned jobs = 0;                  ///< 0: one per CPU
  std::string json;                   ///< a file, "-" for stdout, or empty
};

/// What `grader release` is asked for.
struct ReleaseOptions {
  std::string out;  ///< the archive
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

/// What instructors and authors of a course ask for.
struct AuthorOptions {
  VerifyOptions verify;
  ReleaseOptions release;
  NewPartOptions new_part;
  CalibrateOptions calibrate;
};

void add_verify_options(CLI::App& command, VerifyOptions& options);
void add_release_options(CLI::App& command, ReleaseOptions& options);
void add_new_part_options(CLI::App& command, NewPartOptions& options);
void add_calibrate_options(CLI::App& command, CalibrateOptions& options);

}  // namespace rooflab
