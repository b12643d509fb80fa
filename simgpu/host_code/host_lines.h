#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "simgpu/report.h"

/// Lines of host code for what a program's calls did wrong. The guest says from which addresses it
/// called; what lies there is read from the program's own file, by addr2line (binutils).
namespace simgpu::host_code {

/// The build ID's first bytes of a program or library; 0 where it has none or cannot be read.
std::uint64_t build_id_of(const std::filesystem::path& file);

/// Runs a command and returns what it printed; empty when it failed. The file that it reads may be
/// hostile.
using RunTool = std::function<std::string(const std::vector<std::string>& command)>;
/// Whether a file is the program's own source, rather than a header of the system's.
using IsOwn = std::function<bool(const std::string& file)>;

/// Gives each call of host code among the sites of findings, and the call that failed first, the
/// line of its innermost caller in the program's own source. A site that has a line of a kernel
/// keeps it, and the finding gets the call as another line. Nothing is run where there is no such
/// site.
/// @param files the program, and libraries of its own; built with -g or -g1
void name_host_lines(Activity& activity, const std::vector<std::filesystem::path>& files,
                     const RunTool& run, const IsOwn& is_own);

}  // namespace simgpu::host_code
