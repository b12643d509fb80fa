#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/outputs/write_outputs.h"

/// The class as tables for spreadsheets and gradebooks. Text is valid UTF-8 on one line, and no
/// field is a formula.
namespace rooflab {

/// One row per student and part.
std::string grades_csv(const ClassResults& results, const OutputOptions& options);

/// What Canvas imports: students of the roster alone, one column per part. Where the grader failed
/// the field is empty, which leaves what the gradebook holds as it is.
std::string canvas_csv(const ClassResults& results, const OutputOptions& options);

/// A worksheet as Moodle's "Upload grading worksheet" reads it: the sum of all parts, and nothing
/// where the grader failed in one. The columns of single parts are for the gradebook's import.
std::string moodle_csv(const ClassResults& results, const OutputOptions& options);

/// What Brightspace imports: students of the roster alone, a grade item per part, and nothing where
/// there is no total.
std::string brightspace_csv(const ClassResults& results, const OutputOptions& options);

/// One row per regrade request: who asks for what, and what was decided by whom.
std::string regrade_requests_csv(const ClassResults& results, const OutputOptions& options);

/// A table of the whole class, and the file that it is written to.
struct ClassTable {
  const char* file;
  std::string (*csv)(const ClassResults& results, const OutputOptions& options);
};

/// All of them: what stands here is written, and tried with hostile names.
inline constexpr ClassTable kClassTables[]{{"grades.csv", grades_csv},
                                           {"canvas.csv", canvas_csv},
                                           {"moodle.csv", moodle_csv},
                                           {"brightspace.csv", brightspace_csv},
                                           {"regrade_requests.csv", regrade_requests_csv}};

}  // namespace rooflab
