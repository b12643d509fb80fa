#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "specs/gpu_spec.h"

/// Sections of the class page.
namespace rooflab {

/// The student's name, as a link to the feedback.
std::string student_link(const Student& student);
/// A bar that is filled to a fraction of 1; the number beside it says the same.
std::string bar_html(double fraction);

/// Distribution of the points, tasks, and everybody on the roofline.
std::string part_html(const ClassResults& results, const PartSummary& part,
                      const gpu_spec::GpuSpec& gpu);
/// The best by points and, for each task that is timed, by efficiency.
std::string leaderboard_html(const ClassResults& results);
/// Everybody with the points of each part.
std::string students_html(const ClassResults& results);

}  // namespace rooflab
