#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rooflab {

/// A late policy without the extensions and slip days of one student, and without its comments:
/// they may say why somebody has an extension.
/// @param names of the student
/// @throws SpecError when the text is no TOML
std::string policy_without(std::string_view text, const std::vector<std::string>& names);

}  // namespace rooflab
