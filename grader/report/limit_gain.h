#pragma once

#include "grader/spec/result.h"

namespace rooflab {

/// Whether a call of this time would gain by being rid of its limit.
inline bool is_worth_changing(const Limit& limit, double call_us) {
  constexpr double kWorthTelling = 0.95;  // of the time, and less, is a gain
  return limit.without_us <= kWorthTelling * call_us;
}

}  // namespace rooflab
