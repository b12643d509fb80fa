#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace rooflab {

/// How a program ended, as the process that waited for it writes it into a pipe.
struct ProgramEnd {
  int status = 0;           ///< as from waitpid; kStarted: it only began
  std::int64_t cpu_us = 0;  ///< CPU time of the program and of the children that it waited for
};

/// @param used of the program, as from wait4
inline ProgramEnd program_end(int status, const rusage& used) {
  const auto microseconds = [](const timeval& time) {
    return time.tv_sec * std::int64_t{1'000'000} + time.tv_usec;
  };
  return {status, microseconds(used.ru_utime) + microseconds(used.ru_stime)};
}

/// No wait status is negative.
inline constexpr int kStarted = -1;

}  // namespace rooflab
