#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace simgpu::native {

/// Runs a command with little priority and bounds that its own children inherit: a minute of
/// processor time, 4 GiB. It ends when `stop` is set, after a minute, and with this process,
/// however that ends.
/// @param output the file that gets what the command prints
/// @return true when the command succeeded
bool run_bounded(const std::vector<std::string>& command, const char* output,
                 const std::atomic<bool>& stop);

}  // namespace simgpu::native
