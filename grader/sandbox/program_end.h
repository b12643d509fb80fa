#pragma once

#include <cstdint>

namespace rooflab {

/// How a program ended, as the process that waited for it writes it into a pipe.
struct ProgramEnd {
  int status = 0;           ///< as from waitpid; kStarted: it only began
  std::int64_t cpu_us = 0;  ///< CPU time of the program and of the children that it waited for
};

/// No wait status is negative.
inline constexpr int kStarted = -1;

}  // namespace rooflab
