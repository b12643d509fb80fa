#pragma once

#include <cstdint>
#include <string>

namespace rooflab {

/// What the toolkit's exceptions hold beside their message: where they were thrown, and what to
/// look at. Line 0 of any other exception.
struct Thrown {
  std::string file;
  std::uint32_t line = 0;
  std::string advice;
};

}  // namespace rooflab
