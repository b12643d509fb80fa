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

/// Where a student is at work: the part, and the task, graded last.
struct AtWork {
  int part = 0;
  std::string task = {};  ///< empty: the whole part
};

/// The first task that is not solved, bonus ones after all others; then the first that misses
/// points. It is looked for in the order of the course; where somebody is at work, first on the
/// ladder of that task, then in that part. Nothing when every task has all of its points.
std::optional<NextStep> next_step(const std::vector<PartProgress>& course,
                                  const std::filesystem::path& submission,
                                  const std::optional<AtWork>& at_work = {});

/// "Still open in part 0: 2 tasks": a line of the parts before one; empty where none of their tasks
/// is open, bonus tasks apart.
std::string open_before(const std::vector<PartProgress>& course, int part);

}  // namespace rooflab
