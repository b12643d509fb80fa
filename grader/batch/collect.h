#pragma once

#include "grader/batch/course.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

class LatePolicy;

/// All that the store knows of the class, as outputs want it.
ClassResults collect(Store& store, const Course& course, const LatePolicy& policy);

}  // namespace rooflab
