#pragma once

#include <string>
#include <string_view>

#include "grader/batch/intake/roster.h"

namespace rooflab {

/// What a student.toml says: `id`, `name` and `email`, all optional. It is the student's own word.
struct StudentFile {
  StudentHints hints;
  std::string problem;  ///< why it says nothing: "line 2: …"; one line
};

StudentFile read_student_file(std::string_view text);

}  // namespace rooflab
