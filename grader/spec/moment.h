#pragma once

#include <cstdint>
#include <string>

namespace rooflab {

/// A point in time as a course writes it, with the zone that people there read it in.
struct Moment {
  std::int64_t seconds = 0;  ///< since 1970
  int offset_minutes = 0;    ///< of the zone, from UTC
};

/// "2027-02-15 23:59 +01:00"; UTC for an offset of zero.
std::string text_of(const Moment& moment);

/// As moment_of() reads it: "2027-02-15T23:59:00+01:00".
std::string toml_text_of(const Moment& moment);

/// Reads "2027-02-15T23:59:00+01:00". @throws SpecError for anything else
Moment moment_of(const std::string& text, const std::string& name);

}  // namespace rooflab
