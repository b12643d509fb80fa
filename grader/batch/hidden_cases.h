#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"

namespace rooflab {

/// hidden_cases.csv: every hidden case that somebody's submission fails, with what was expected and
/// what was got. It answers a request about a grade and is for instructors alone; nothing that
/// students get is made from it.
std::string hidden_case_table(Store& store, const ClassResults& results);

}  // namespace rooflab
