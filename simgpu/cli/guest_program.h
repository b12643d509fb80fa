#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simgpu::cli {

/// Runs a program with the simulated CUDA runtime in front of the system's, on the device behind
/// `device`.
/// @param device    descriptor of DeviceProcess::connect_guest(); closed here once the program has
/// it
/// @param libraries folder that holds libcudart.so.13
/// @returns the exit code as a shell gives it: 128 + signal when a signal ended the program
/// @throws std::runtime_error when the program cannot be started
int run_program(const std::vector<std::string>& command, int device,
                const std::filesystem::path& libraries);

}  // namespace simgpu::cli
