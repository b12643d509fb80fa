#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simgpu::cli {

/// How a program ended.
struct ProgramEnd {
  int code = 0;  ///< as a shell gives it: 128 + signal when a signal ended the program
  bool by_signal = false;
  bool interrupted = false;  ///< because this process was told to end (SIGTERM, SIGINT, SIGHUP)
};

/// Runs a program with the simulated CUDA runtime in front of the system's, on the device behind
/// `device`.
/// @param device    descriptor of DeviceProcess::connect_guest(); closed here once the program has
/// it
/// @param libraries folder that holds libcudart.so.13
/// A signal that would end this process ends the program instead, which gets two seconds for it, so
/// that what is known by then can still be reported.
/// @param silent what it writes to its standard outputs is dropped
/// @throws std::runtime_error when the program cannot be started
ProgramEnd run_program(const std::vector<std::string>& command, int device,
                       const std::filesystem::path& libraries, bool silent = false);

}  // namespace simgpu::cli
