#include "simgpu/time_band.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simgpu {
namespace {

/// From `simgpu/validate/compare`, which fails where the factors are no longer those of its data.
/// Of kernels, measured times that nothing was fitted to; of libraries all that there are, the
/// seven fitted ones too.
constexpr BandWidth kMemory{.factor = 1.16, .cases = 17};
constexpr BandWidth kLatency{.factor = 1.28, .cases = 25};
constexpr BandWidth kOnChip{.factor = 1.37, .cases = 14};
constexpr BandWidth kLibrary{.factor = 1.38, .cases = 21};

double widest_factor() {
  double widest = 1;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(kLastBandClass); ++i) {
    widest = std::max(widest, width_of(static_cast<BandClass>(i)).factor);
  }
  return widest;
}

/// The power of ten of a value's first digit: 2 for 430.
int magnitude_of(double value) {
  constexpr double kRounding = 1e-9;  // a power of ten may come out just below itself
  return static_cast<int>(std::floor(std::log10(value) + kRounding));
}

/// @param value above 0
double rounded(double value, int digits) {
  const double step = std::pow(10.0, magnitude_of(value) - digits + 1);
  return std::round(value / step) * step;
}

std::string with_digits(double value, int digits) {
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude_of(value)));
}

}  // namespace

BandWidth width_of(BandClass kernels) {
  switch (kernels) {
    case BandClass::memory:
      return kMemory;
    case BandClass::latency:
      return kLatency;
    case BandClass::on_chip:
      return kOnChip;
    case BandClass::library:
      return kLibrary;
  }
  return {};
}

std::string name_of(BandClass kernels) {
  switch (kernels) {
    case BandClass::memory:
      return "memory";
    case BandClass::latency:
      return "latency";
    case BandClass::on_chip:
      return "on chip";
    case BandClass::library:
      return "library";
  }
  return {};
}

BandClass band_class_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::l2:
    case Limiter::dram:
    case Limiter::host_loads:
    case Limiter::host_stores:
    case Limiter::managed_stores:
      return BandClass::memory;
    case Limiter::latency:
    case Limiter::launch:
      return BandClass::latency;
    case Limiter::issue:
    case Limiter::fp32:
    case Limiter::fp64:
    case Limiter::fp16:
    case Limiter::integer:
    case Limiter::special:
    case Limiter::tensor:
    case Limiter::shared:
    case Limiter::exchange:
    case Limiter::constant:
    case Limiter::l1:
    case Limiter::atomics:
    case Limiter::shared_atomics:
      return BandClass::on_chip;
  }
  return {};
}

std::optional<BandClass> band_class_of(const KernelRecord& kernel) {
  if (kernel.name == kFurtherKernels) return std::nullopt;
  if (kernel.library_routine) return BandClass::library;
  if (!kernel.time.limiter) return std::nullopt;
  return band_class_of(*kernel.time.limiter);
}

TimeBand band_of(const KernelRecord& kernel) {
  const std::optional<BandClass> known = band_class_of(kernel);
  const double factor = known ? width_of(*known).factor : widest_factor();
  return {.low_us = kernel.time.total_us / factor, .high_us = kernel.time.total_us * factor};
}

std::optional<TimeBand> band_of_call(const Activity& activity) {
  double kernels_us = 0, below_us = 0, above_us = 0;
  for (const KernelRecord& kernel : activity.kernels) {
    if (kernel.at_least) return std::nullopt;
    const TimeBand band = band_of(kernel);
    kernels_us += kernel.time.total_us;
    below_us += kernel.time.total_us - band.low_us;
    above_us += band.high_us - kernel.time.total_us;
  }
  if (!(kernels_us > 0)) return std::nullopt;
  const double part = std::min(1.0, activity.elapsed_us / kernels_us);
  return TimeBand{.low_us = activity.elapsed_us - part * below_us,
                  .high_us = activity.elapsed_us + part * above_us};
}

std::string in_words(const TimeBand& band, double time_us, double unit_us) {
  if (!(band.low_us > 0) || !std::isfinite(band.high_us)) return {};
  for (const int digits : {2, 3}) {
    const double low = rounded(band.low_us / unit_us, digits);
    const double high = rounded(band.high_us / unit_us, digits);
    if (low * unit_us < time_us && time_us < high * unit_us) {
      return fmt::format("{} to {}", with_digits(low, digits), with_digits(high, digits));
    }
  }
  return {};
}

}  // namespace simgpu
