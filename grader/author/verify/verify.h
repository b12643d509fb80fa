#pragma once

#include <functional>
#include <string>

#include "grader/author/verify/course.h"
#include "grader/author/verify/report.h"
#include "grader/author/verify/runner.h"

namespace rooflab::verify {

/// Proves what was chosen of the course. @throws what load_course, plan and run_checks throw
Report prove(const Installation& installation, const Choice& choice, const RunnerOptions& options,
             const std::function<void(const std::string&)>& progress);

}  // namespace rooflab::verify
