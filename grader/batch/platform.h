#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rooflab {

/// Who delivered a submission, and takes feedback on it back.
enum class Platform : std::uint8_t { none, canvas, moodle, gradescope, git };

/// By their values, as the database has them.
inline constexpr std::array<std::string_view, 5> kPlatformNames{"", "canvas", "moodle",
                                                                "gradescope", "git"};
constexpr std::string_view name_of(Platform platform) {
  return kPlatformNames.at(static_cast<std::size_t>(platform));
}
/// @return none for a name that is unknown
constexpr Platform platform_of(std::string_view name) {
  for (std::size_t i = 0; i < kPlatformNames.size(); ++i) {
    if (kPlatformNames.at(i) == name) return static_cast<Platform>(i);
  }
  return Platform::none;
}

}  // namespace rooflab
