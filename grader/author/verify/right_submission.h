#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/author/verify/judge.h"
#include "grader/author/verify/kept_submission.h"
#include "grader/spec/part.h"

namespace rooflab::verify {

/// A right submission in a style of its own, labs/<part>/right/<name>/right.toml:
/// docs/design/parts.md.
struct RightSubmission : KeptSubmission {
  std::vector<std::string> files;  ///< beside right.toml; the task's others are the solution's
  std::string style;               ///< in a few words: "cooperative groups, early returns"
  double min_score = 0;            ///< the fewest points that it may get in all
  /// What a student has before the page's idea: the task's targets stand above it, and it earns
  /// next to nothing for its speed.
  bool is_naive = false;
};

/// The part's right submissions, by name; none without a folder right/.
/// @throws SpecError naming file, line and remedy.
std::vector<RightSubmission> load_right_submissions(const PartSpec& part);

/// Writes the submission: its own files, and from the solution what the task needs beside them.
/// @throws FileError when a file is missing.
void write_submission(const RightSubmission& right, const PartSpec& part,
                      const std::filesystem::path& solutions,
                      const std::filesystem::path& submission);

/// The task passes with each of its cases and all points for its answers, and no diagnostic finds
/// fault with it: advice about speed alone may be there, and points for speed may be missing.
Outcome judge_right(const Graded& graded, const Ran& ran, const RightSubmission& right);

}  // namespace rooflab::verify
