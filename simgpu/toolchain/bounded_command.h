#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace simgpu::toolchain {

/// What a command may take. Its own children inherit all of it.
struct Bounds {
  unsigned processor_seconds = 60;  ///< of any one process
  unsigned elapsed_seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< address space of any one process
  std::uint64_t file_bytes = std::uint64_t{256} << 20;  ///< of any one file
};

/// A program of the toolchain, to be run without input.
struct Command {
  std::vector<std::string> words;     ///< the program and its arguments
  std::filesystem::path folder = {};  ///< where it works; empty: where we do
  std::string output = "/dev/null";   ///< the file that gets what it prints
  std::string errors = "/dev/null";   ///< what it prints on its standard error; may be `output`
  Bounds bounds = {};
};

/// How a command ended.
struct CommandEnd {
  bool stopped = false;  ///< by a bound, or by a signal
  int exit_code = -1;    ///< unless it was stopped; 126 or 127 when it could not be run
  bool succeeded() const { return !stopped && exit_code == 0; }
};

/// Runs a command within its bounds. It ends when its time is over, and with this process, however
/// that ends.
CommandEnd run_bounded(const Command& command);

}  // namespace simgpu::toolchain
