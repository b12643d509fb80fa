#pragma once

#include <string>
#include <vector>

#include "grader/author/compare_times/agreement.h"
#include "grader/author/compare_times/times.h"

namespace rooflab::compare_times {

/// A timed case with both of its times.
struct ComparedCase {
  std::string kernel;
  std::string name;  ///< of the case
  TimePair time_us;
};

/// Measured times beside what the model of now says.
struct Comparison {
  MeasuredTimes measured;
  std::vector<ComparedCase> cases;
  /// Measured, but not to be compared: "…: its source or its case has changed since".
  std::vector<std::string> left_out;
};

/// Pairs times by kernel and case. Cases whose source or parameters have changed since they were
/// measured are left out, and said.
Comparison compare(MeasuredTimes measured, const Times& modelled);

/// A line for each case, then MAPE and Kendall's tau for each half apart: of each part, of all.
std::string comparison_text(const Comparison& comparison);

/// The same as a document, schema 1; a figure that cannot be had is null.
std::string to_json(const std::vector<Comparison>& comparisons);

}  // namespace rooflab::compare_times
