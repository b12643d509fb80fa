#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "grader/batch/course.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/outputs/class_results.h"
#include "grader/batch/store/store.h"
#include "grader/spec/result.h"

/// Tests that show and count once their part is due.
namespace rooflab {

/// Those of the policy whose part is still to be handed in by somebody at `now` (seconds since
/// 1970).
std::vector<HeldTest> held_at(const LatePolicy& policy, std::int64_t now);

/// @throws SpecError for a test that the parts do not have: a slip of the pen would show it
void require_known(const std::vector<HeldTest>& held, const Course& course);

/// What students do not see yet of one task.
struct HeldOfTask {
  bool is_whole = false;
  std::set<std::string> groups = {};
  std::set<std::string> timings = {};  ///< timed cases whose points need one of these groups

  bool any() const { return is_whole || !groups.empty(); }
  bool hides(const CaseResult& one) const { return is_whole || groups.contains(one.group); }
  bool hides(const Diagnostic& story) const;
};
HeldOfTask held_of(const std::vector<HeldTest>& held, const PartSpec& part,
                   const std::string& task);

/// The result as if its part did not have these tests: without their cases, points, times and
/// stories, and with verdicts of what is left.
GradeResult without_held(GradeResult result, const std::vector<HeldTest>& held,
                         const PartSpec& part);

/// Leaves these tests out of what the class came to, with the totals and maxima. A part whose
/// evidence cannot be read has no score meanwhile: what it is made of is not known.
void hold_back(ClassResults& results, const std::vector<HeldTest>& held, const LatePolicy& policy,
               Store& store, const Course& course);

}  // namespace rooflab
