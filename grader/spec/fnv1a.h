#pragma once

#include <cstdint>
#include <string_view>

namespace rooflab {

/// The hash FNV-1a. Quick, and no obstacle for anyone who wants two texts of one hash.
std::uint64_t fnv1a(std::string_view text);

}  // namespace rooflab
