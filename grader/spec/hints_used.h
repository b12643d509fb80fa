#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "grader/spec/part.h"

namespace rooflab {

/// The file beside a part's other files of a submission that tells how many hints of each task were
/// shown. It lies there, and not in the user's cache, so that what is handed in carries it; git
/// ignores it in starter/.
inline constexpr const char* kHintsUsedFile = "hints_used.toml";

/// The name under which hints of a task are counted, and of one of its groups: "counters",
/// "counters/gemm_cost".
std::string hints_name(const TaskSpec& task);
std::string hints_name(const TaskSpec& task, const GroupSpec& group);
/// The name under which it is noted that a mistake of a task had its hint: "gemv/RL0206". Such a
/// hint is free, and of no number.
std::string hints_name(const TaskSpec& task, simgpu::Code code);

/// How many hints were shown: hints_name() -> 1 to the number that there are. What a hand-in says
/// may be anything: a file that is too large, no TOML, or no file counts as none, as does an entry
/// of another task or with another value.
/// @param folder the part's folder of a submission
std::map<std::string, int> read_hints_used(const std::filesystem::path& folder,
                                           const PartSpec& part);
/// The same of the file's text.
std::map<std::string, int> hints_in(const std::string& text, const PartSpec& part);

/// Writes that file anew. @throws FileError
void write_hints_used(const std::filesystem::path& folder, const std::map<std::string, int>& shown);

}  // namespace rooflab
