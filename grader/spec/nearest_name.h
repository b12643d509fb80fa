#pragma once

#include <set>
#include <string>
#include <string_view>

namespace rooflab {

/// The known name that a mistyped one most likely means: the one that the fewest letters have to be
/// changed, added, taken away or swapped with their neighbours for, if that is at most a third of
/// them.
/// @return empty when none is near
std::string nearest_name(std::string_view name, const std::set<std::string>& known);

}  // namespace rooflab
