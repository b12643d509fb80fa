#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rooflab {

/// A shared library that programs need, and the Debian package that has it here.
struct RuntimeLibrary {
  std::string name;     ///< as the loader looks for it, "libfmt.so.9"
  std::string package;  ///< "libfmt9"; empty where dpkg does not know the file
};

/// What these programs and libraries name as needed, by name and each once, without those in
/// `own`. The tools of binutils, glibc and Debian say it, so that no list has to be kept.
/// @throws ReleaseError when one of them fails, or a library is not found here.
std::vector<RuntimeLibrary> runtime_libraries(const std::vector<std::filesystem::path>& files,
                                              const std::filesystem::path& own);

/// Runs a program of ours to its end. @return what it printed. @throws ReleaseError when it fails.
std::string run_tool(const std::vector<std::string>& command);

}  // namespace rooflab
