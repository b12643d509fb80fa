#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rooflab {

struct CommandOutcome {
  bool ended = false;  ///< false: it took too long or printed too much, and was killed
  int exit_code = 0;   ///< when it ended; 128 + n after signal n
  std::string output;
  std::string errors;
};

struct CommandLimits {
  std::chrono::duration<double> time{60};
  std::size_t output_bytes = std::size_t{64} << 20;
};

/// Runs a program, found in PATH, with stdin empty, and waits for its end. No shell is involved.
/// @param environment all of it, "NAME=value"
/// @param idle called a few times a second; true kills the program
/// @throws ExecutorError when it cannot be started
CommandOutcome run_command(const std::vector<std::string>& command,
                           const std::vector<std::string>& environment, const CommandLimits& limits,
                           const std::function<bool()>& idle);

}  // namespace rooflab
