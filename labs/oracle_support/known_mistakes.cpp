#include "labs/oracle_support/known_mistakes.h"

#include <algorithm>
#include <cmath>

namespace rooflab {
namespace {

/// Whether an element that may count is another one than it should be.
template <typename Counts>
bool differs(const Expected& output, const Expected& right, const Counts& counts) {
  for (std::size_t i = 0; i < output.value.size(); ++i) {
    if (output.value[i] == right.value[i]) continue;  // infinities have no difference
    if (!counts(output.value[i])) continue;
    const double bound = std::max(output.tolerance[i], right.tolerance[i]);
    if (!(std::abs(output.value[i] - right.value[i]) <= bound)) return true;
  }
  return false;
}

}  // namespace

void Mistakes::add(Code code, const std::string& cause, const std::string& advice,
                   std::vector<Expected> outputs) {
  add_if(code, cause, advice, std::move(outputs),
         [](double value) { return std::isfinite(value); });
}

void Mistakes::add_not_finite(Code code, const std::string& cause, const std::string& advice,
                              std::vector<Expected> outputs) {
  add_if(code, cause, advice, std::move(outputs), [](double) { return true; });
}

void Mistakes::add_if(Code code, const std::string& cause, const std::string& advice,
                      std::vector<Expected> outputs, bool (*counts)(double value)) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!differs(outputs[i], right_.at(i), counts)) continue;
    mistakes_.push_back({code, cause, advice, std::move(outputs)});
    return;
  }
}

}  // namespace rooflab
