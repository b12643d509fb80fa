#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/store/store.h"
#include "grader/spec/seed.h"

namespace rooflab {

/// What is to be graded, besides what never was.
struct PlanRequest {
  std::string device;
  Seed seed;                         ///< of the class
  std::vector<std::string> regrade;  ///< see RegradeRules
};

/// Every name that a submission goes by there: those of its student and its own.
std::vector<std::string> names_of(const SubmissionRow& submission, const Student& student);

struct Plan {
  std::size_t new_grades = 0;
  std::size_t regrades = 0;
  /// What was graded in another form than it has now: submissions handed in again, parts changed.
  std::vector<std::string> outdated;
  std::vector<std::string> said;  ///< what somebody should know, a line each
};

/// Decides which gradings are to be made, and keeps that in the store as pending, all or nothing.
/// Requests that were granted a regrade get one.
/// @throws BatchError for a rule of `regrade` that names nobody or nothing
Plan plan_gradings(Store& store, const Course& course, const PlanRequest& request);

}  // namespace rooflab
