#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/author/verify/claim.h"
#include "grader/author/verify/kept_submission.h"
#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab::verify {

/// A change of the solution's file: `find` stands in it exactly once.
struct Edit {
  std::string find;
  std::string replace;
};

/// A planted mistake, labs/<part>/mistakes/<name>/mistake.toml: docs/design/parts.md.
struct Mistake : KeptSubmission {
  std::string file;  ///< the wrong one; those that the task uses beside it are the solution's
  Verdict verdict = Verdict::pass;
  simgpu::Code code;  ///< among the diagnostics
  std::string says;   ///< in the message of the first one; may be empty
  /// Groups of the task's cases: exactly these lose their points, and the others keep theirs.
  std::vector<std::string> loses;
  double max_score = 0;        ///< that it may earn; where the file names none, what `loses` leaves
  std::vector<Edit> edits;     ///< none: the file lies beside mistake.toml
  double vast_gb = 0;          ///< only a case of so much memory (CaseSpec::vast_gb) shows it
  int compute_capability = 0;  ///< 80: it takes a GPU of 8.0 or later
  bool held_out = false;       ///< written without knowing what recognises mistakes
  /// What a reader of the declared diagnosis found, where its code alone would say otherwise.
  std::optional<Recognition> judged;
};

/// The part's planted mistakes, by name; none without a folder mistakes/.
/// @throws SpecError naming file, line and remedy.
std::vector<Mistake> load_mistakes(const PartSpec& part);

/// Writes the submission that makes this mistake, and nothing else wrong.
/// @throws SpecError when an edit does not fit the solution, FileError when a file is missing.
void write_submission(const Mistake& mistake, const PartSpec& part,
                      const std::filesystem::path& solutions,
                      const std::filesystem::path& submission);

}  // namespace rooflab::verify
