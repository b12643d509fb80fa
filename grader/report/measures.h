#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/spec/result.h"

namespace rooflab {

/// Something that counters tell of a run, under a name that people use.
struct Measure {
  const char* name;       ///< "sectors"
  const char* full_name;  ///< the same, told apart from all others: "sectors per load"
  const char* unit;       ///< what its values are of
  const char* meaning;
  double little;  ///< a difference from 0 that is worth nothing
  std::function<std::optional<double>(const TaskResult&)> value;
  std::function<std::string(double)> format;
};

const std::vector<Measure>& measures();

/// What of these the device knows of a task's first timed case, by full names.
std::map<std::string, double> measures_of(const TaskResult& task);

/// A counter that a student names: a measure by its full name, in letters of any case, or a counter
/// by the name that Nsight Compute has for it.
struct NamedCounter {
  const Measure* measure = nullptr;  ///< nullptr: a counter of Nsight Compute
  std::string name;
};
/// Nothing where neither is known.
/// @param counters names that a run has
std::optional<NamedCounter> named_counter(const std::string& name,
                                          const std::map<std::string, double>& counters);
std::string format_counter(const NamedCounter& counter, double value);
/// The full names of all measures.
std::vector<std::string> measure_names();

/// How far two values lie apart, as the logarithm of how many times more or less it is.
inline double distance_of(double before, double now, double little) {
  return std::abs(std::log((now + little) / (before + little)));
}
/// From here on a counter has moved: 1.2 times more or less.
inline const double kMovedDistance = std::log(1.2);

/// Whether a named counter has moved from one run to the next.
bool has_moved(const NamedCounter& counter, double before, double now);

}  // namespace rooflab
