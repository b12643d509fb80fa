#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simgpu/report.h"

/// How far a modelled time may be from what hardware would take. docs/design/time-model.md, "Bands"
namespace simgpu {

/// Four of five times that were measured on hardware, and that nothing was fitted to, lie between
/// these two. Microseconds.
struct TimeBand {
  double low_us = 0;
  double high_us = 0;
};

/// Kernels whose times the model misses by similar factors.
enum class BandClass : std::uint8_t {
  memory,   ///< bound by memory beyond L1
  latency,  ///< bound by latency, or by the launch
  on_chip,  ///< bound by what an SM does with values that it has: arithmetic, shared memory, L1 …
  library,  ///< a routine of a library, whose time is a rule
};
inline constexpr BandClass kLastBandClass = BandClass::library;

/// How wide the band of a class is, and how that is known.
struct BandWidth {
  double factor = 1;  ///< the band is from time / factor to time * factor
  int cases = 0;      ///< measured times that the factor is from
};
BandWidth width_of(BandClass kernels);

/// Its name in reports: "on chip".
std::string name_of(BandClass kernels);

BandClass band_class_of(Limiter limiter);
/// Nothing where no single limiter accounts for the time: it is not known, or the record is the sum
/// of all further kernels.
std::optional<BandClass> band_class_of(const KernelRecord& kernel);

/// The band around a kernel's time; the widest one where its class is not known.
TimeBand band_of(const KernelRecord& kernel);

/// The band around a call's time: what each kernel's time is above its own low end is taken off,
/// and added likewise. Kernels that ran side by side account together for the call's time and no
/// more. Copies and what the host does have no band. Nothing where no kernel ran, or where a
/// kernel's time is a lower bound.
std::optional<TimeBand> band_of_call(const Activity& activity);

/// "430 to 540", beside a time in the same unit: two significant digits, or three where two would
/// not show that the ends differ from the time. Empty where three do not show it either.
/// @param unit_us microseconds of the unit: 1000 for milliseconds
std::string in_words(const TimeBand& band, double time_us, double unit_us);

}  // namespace simgpu
