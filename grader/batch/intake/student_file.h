#pragma once

#include <string>

#include "grader/batch/intake/roster.h"
#include "grader/batch/intake/submission.h"

namespace rooflab {

/// What a student.toml says: `id`, `name` and `email`, all optional. It is the student's own word.
struct StudentFile {
  StudentHints hints;
  std::string problem;  ///< why it says nothing: "line 2: …"; one line
};

/// Lets rooflab-unpack read the text in the sandbox: a file that brings its reader down costs
/// its own submission alone.
/// @throws SandboxError, FileError when the grader itself cannot go on
StudentFile read_student_file(const std::string& text, const IntakeOptions& options);

}  // namespace rooflab
