#pragma once

#include <optional>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/device.h"
#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/implementations.h"
#include "grader/pipeline/student_cases.h"
#include "grader/spec/part.h"

namespace rooflab {

/// What a case of a student's tests says of one implementation.
struct TestedRun {
  /// An output is not as expected, or the device saw the call fail.
  bool is_refused = false;
  std::optional<TensorCheck> wrong = {};  ///< of an output that is not as expected
};

/// Calls an implementation with every case, in one process as far as the device can and the calls
/// come back.
/// @return by case, in order
/// @throws std::runtime_error when the device or the sandbox fails, and when a call is ended by a
/// limit or takes its process with it: what a case may ask for is bounded, so that this is never
/// the student's doing, and must not count as a mistake that the case catches
std::vector<TestedRun> run_cases(Device& device, const Implementation& implementation,
                                 const std::vector<StudentCase>& cases, const TaskSpec& task,
                                 const Oracle& oracle);

}  // namespace rooflab
