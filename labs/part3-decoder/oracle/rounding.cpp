#include "labs/part3-decoder/oracle/rounding.h"

#include <algorithm>
#include <cmath>

namespace rooflab {
namespace {

bool differs(const Expected& output, const Expected& right) {
  for (std::size_t i = 0; i < output.value.size(); ++i) {
    const double bound = std::max(output.tolerance[i], right.tolerance[i]);
    if (!(std::abs(output.value[i] - right.value[i]) <= bound)) return true;
  }
  return false;
}

}  // namespace

double half_ulp(ElementType type, double value) { return ulp(type, value) / 2; }

double rounded(ElementType type, double value) {
  const double distance = ulp(type, value);  // a power of two: nothing but nearbyint rounds here
  return std::nearbyint(value / distance) * distance;
}

Expected stored(const std::string& tensor, ElementType type, Computed computed) {
  for (std::size_t i = 0; i < computed.value.size(); ++i) {
    computed.error[i] += half_ulp(type, std::abs(computed.value[i]) + computed.error[i]);
  }
  return {tensor, std::move(computed.value), std::move(computed.error)};
}

void Mistakes::add(const std::string& code, const std::string& cause, const std::string& advice,
                   std::vector<Expected> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!differs(outputs[i], right_.at(i))) continue;
    mistakes_.push_back({code, cause, advice, std::move(outputs)});
    return;
  }
}

}  // namespace rooflab
