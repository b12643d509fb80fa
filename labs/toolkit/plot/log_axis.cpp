#include "labs/toolkit/plot/log_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rooflab::plot {
namespace {

/// A power of ten as its decimal text reads back, which std::pow does not promise.
double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

constexpr std::array kSteps{1.0, 2.0, 5.0, 10.0};

double step_below(double value) {
  const double power = power_of_ten(static_cast<int>(std::floor(std::log10(value))));
  double best = power;
  for (const double step : kSteps) {
    if (step * power <= value) best = step * power;
  }
  return best;
}

double step_above(double value) {
  const double power = power_of_ten(static_cast<int>(std::floor(std::log10(value))));
  for (const double step : kSteps) {
    if (step * power >= value) return step * power;
  }
  return 10 * power;
}

}  // namespace

LogAxis::LogAxis(double low, double high, double from, double to)
    : low_(low), high_(high), from_(from), to_(to) {}

double LogAxis::at(double value) const {
  const double inside = std::clamp(value, low_, high_);
  return from_ + std::log(inside / low_) / std::log(high_ / low_) * (to_ - from_);
}

double LogAxis::decade() const { return (to_ - from_) / std::log10(high_ / low_); }

std::vector<LogAxis::Tick> LogAxis::ticks(double apart) const {
  constexpr double kRoomForMinorTicks = 30, kSmallestStep = 0.301;  // log10(2)
  const double decade = std::abs(this->decade());
  const int every = std::max(1, static_cast<int>(std::ceil(apart / decade)));
  const bool steps = kSmallestStep * decade >= apart;
  // Ends are multiples of powers of ten, give or take a rounding.
  constexpr double kSlack = 1e-9;
  std::vector<Tick> ticks;
  for (int e = static_cast<int>(std::floor(std::log10(low_) + kSlack));
       power_of_ten(e) <= high_ * (1 + kSlack); ++e) {
    for (int k = 1; k <= 9; ++k) {
      const double value = k * power_of_ten(e);
      if (value < low_ * (1 - kSlack) || value > high_ * (1 + kSlack)) continue;
      if (k > 1 && decade < kRoomForMinorTicks) continue;
      const bool step = k == 1 || k == 2 || k == 5;
      ticks.push_back({value, k == 1 ? e % every == 0 : steps && step});
    }
  }
  return ticks;
}

LogAxis axis_around(double least, double most, double from, double to) {
  const double low = step_below(least), high = step_above(most);
  // One value alone still needs an axis with two ends.
  return low < high ? LogAxis(low, high, from, to) : LogAxis(low / 2, high * 2, from, to);
}

}  // namespace rooflab::plot
