#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grader/author/compare_times/times.h"
#include "grader/pipeline/installation.h"
#include "grader/spec/part.h"

namespace rooflab::compare_times {

/// What is timed, where and how.
struct TimingPlan {
  Installation installation;
  std::vector<PartSpec> parts;
  std::string gpu;     ///< id of the device's specification, for messages
  std::string device;  ///< as `grader --device` takes it
  /// Gradings at a time: 1 where a time is measured, since builds beside it disturb.
  unsigned jobs = 1;
  std::function<void(const std::string&)> progress;
};

/// Grades every part's solution, and each planted mistake whose verdict is to be `pass` (right
/// answers, slowly), by commands of their own with one seed, and keeps the times of the tasks that
/// pass. Times are those that any grade has: whole calls, cold caches.
/// @throws SpecError for a course that cannot be read, ExecutorError when nothing can be started
Times time_kernels(const TimingPlan& plan);

/// The times in one grade. @param submission the last part of the kernels' names
/// @param digest_of of a timed case of a task
Times times_of_grade(
    const nlohmann::json& grade, const PartSpec& part, const std::string& submission,
    const std::function<std::string(const TaskSpec&, const SpeedSpec&)>& digest_of);

}  // namespace rooflab::compare_times
