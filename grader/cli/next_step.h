#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/spec/part.h"
#include "grader/spec/result.h"

namespace rooflab {

/// A part, and what is known of a submission's last runs.
struct PartProgress {
  PartSpec part;
  std::optional<GradeResult> last;
};

/// The one thing that a student should do next.
struct NextStep {
  int part = 0;
  std::string task;
  std::string why;    ///< a clause: "its TODO says …"
  std::string place;  ///< "part1-metrics/gemm_tiled.cu:12", as far as it is known
  bool grade = true;  ///< grade the task; else edit it first
};

/// The first task in the order of the course that is not solved, bonus ones after all others; then
/// the first that misses points. Nothing when every task has all of its points.
std::optional<NextStep> next_step(const std::vector<PartProgress>& course,
                                  const std::filesystem::path& submission);

}  // namespace rooflab
