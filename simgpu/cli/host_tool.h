#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simgpu::cli {

/// The file of a program that a shell would start by this word; empty when there is none.
std::filesystem::path program_file(const std::string& word);

/// Runs a tool that reads the program, for a few seconds at most, and returns what it printed.
std::string run_tool(const std::vector<std::string>& command);

/// Whether a source file is the program's own, rather than the system's or the CUDA toolkit's.
bool is_own_source(const std::string& file);

}  // namespace simgpu::cli
