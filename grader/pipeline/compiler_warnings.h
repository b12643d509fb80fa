#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rooflab {

/// What a compiler warned of in a student's own file.
struct CompilerWarning {
  std::string file;  ///< in the part's folder
  std::uint32_t line = 0;
  std::string text;  ///< "no return statement in function returning non-void [-Wreturn-type]"
};

/// The warnings in what nvcc and its host compiler said about files of a part's folder, in their
/// order, one for each line of code: both see most slips, and nvcc sees each twice.
std::vector<CompilerWarning> compiler_warnings(const std::string& messages,
                                               const std::string& part_directory);

/// The first few as notes below a failure: "gemv.cu:12: the compiler warns: no return statement …".
std::vector<std::string> warning_notes(const std::vector<CompilerWarning>& warnings);

}  // namespace rooflab
