#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// What people wrote in a review to the submissions of each student, by part, file and line, with
/// the lines that it is about.
std::map<std::string, std::vector<FileComment>> comments_of_review(Store& store,
                                                                   const Course& course);

}  // namespace rooflab
