#include "labs/oracle_support/known_mistakes.h"

#include <algorithm>
#include <cmath>

namespace rooflab {
namespace {

bool differs(const Expected& output, const Expected& right) {
  for (std::size_t i = 0; i < output.value.size(); ++i) {
    if (output.value[i] == right.value[i]) continue;  // infinities have no difference
    const double bound = std::max(output.tolerance[i], right.tolerance[i]);
    if (!(std::abs(output.value[i] - right.value[i]) <= bound)) return true;
  }
  return false;
}

}  // namespace

void Mistakes::add(const std::string& code, const std::string& cause, const std::string& advice,
                   std::vector<Expected> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!differs(outputs[i], right_.at(i))) continue;
    mistakes_.push_back({code, cause, advice, std::move(outputs)});
    return;
  }
}

}  // namespace rooflab
