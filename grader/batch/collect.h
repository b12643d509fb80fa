#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

class LatePolicy;

/// The lines of gradings whose evidence was read before, by the grading's name: what a grading came
/// to never changes.
using TaskLinesOf = std::map<std::string, std::vector<TaskLine>>;

/// All that the store knows of the class, as outputs want it.
/// @param known for whoever collects again and again: evidence is long, and read once then
ClassResults collect(Store& store, const Course& course, const LatePolicy& policy,
                     TaskLinesOf* known = nullptr);

}  // namespace rooflab
