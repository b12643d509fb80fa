#pragma once

#include <cstddef>
#include <string_view>

namespace rooflab {

/// Length of the well-formed UTF-8 sequence that `bytes` begins with, or 0 (Unicode 15, table 3-7).
/// @param bytes at least one
std::size_t utf8_length(std::string_view bytes);

}  // namespace rooflab
