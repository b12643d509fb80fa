#pragma once

#include <filesystem>
#include <string>

#include "grader/report/editor_results.h"
#include "grader/report/problem_lines.h"
#include "grader/spec/part.h"

namespace rooflab {

/// A grade for editors, of the part in a submission.
class EditorOutput {
 public:
  EditorOutput(const PartSpec& part, const std::filesystem::path& submission);

  /// @param handouts with the pages of the codes, errors/RL0301.md
  std::string sarif(const GradeResult& result, const std::filesystem::path& handouts) const;
  /// Files as one reaches them from here: "starter/part1-metrics/gemv.cu", or absolute.
  std::string problems(const GradeResult& result) const;

 private:
  EditorPlaces places_;
  std::filesystem::path submission_;
};

}  // namespace rooflab
