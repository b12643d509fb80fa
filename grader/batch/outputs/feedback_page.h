#pragma once

#include <string>

#include "grader/batch/outputs/class_results.h"
#include "grader/batch/outputs/part_view.h"
#include "specs/gpu_spec.h"

namespace rooflab {

/// What a student gets back: one page with all parts, and nothing of anybody else.
class FeedbackPage {
 public:
  FeedbackPage(const ClassResults& results, const StudentOutcome& student,
               const gpu_spec::GpuSpec& gpu);
  /// @throws std::invalid_argument when the evidence cannot be drawn; nothing is added then
  void add(const PartView& part);
  std::string finish() &&;

 private:
  std::string header() const;
  std::string overview() const;
  std::string problems() const;
  std::string notes() const;

  const ClassResults& results_;
  const StudentOutcome& student_;
  const gpu_spec::GpuSpec& gpu_;
  std::string parts_;
};

}  // namespace rooflab
