#include "grader/author/compare_times/agreement.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rooflab::compare_times {
namespace {

int sign(double value) { return (value > 0 ? 1 : 0) - (value < 0 ? 1 : 0); }

}  // namespace

double mean_absolute_percentage_error(const std::vector<TimePair>& pairs) {
  double sum = 0;
  for (const TimePair& pair : pairs) sum += std::abs(pair.modelled - pair.measured) / pair.measured;
  return 100 * sum / static_cast<double>(pairs.size());
}

double kendall_tau_b(const std::vector<TimePair>& pairs) {
  std::int64_t concordant_less_discordant = 0;
  std::int64_t untied_measured = 0;
  std::int64_t untied_modelled = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.size(); ++j) {
      const int measured = sign(pairs[i].measured - pairs[j].measured);
      const int modelled = sign(pairs[i].modelled - pairs[j].modelled);
      concordant_less_discordant += measured * modelled;
      untied_measured += measured != 0 ? 1 : 0;
      untied_modelled += modelled != 0 ? 1 : 0;
    }
  }
  if (untied_measured == 0 || untied_modelled == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(concordant_less_discordant) /
         std::sqrt(static_cast<double>(untied_measured) * static_cast<double>(untied_modelled));
}

}  // namespace rooflab::compare_times
