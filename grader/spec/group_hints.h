#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/spec/part.h"
#include "grader/spec/toml_reader.h"

namespace rooflab {

/// Of a part's folder: hints for single functions and questions of a task, by its groups, and for
/// single mistakes, by their codes.
inline constexpr const char* kHintsFile = "hints.toml";

/// Three texts: a student's next step is always there, from a question by way of an approach to a
/// near-answer. @param what "task gemm", for the message. @throws SpecError
std::vector<std::string> read_hints(TableReader& reader, const std::string& key,
                                    const std::string& what);

/// Gives groups of the part's tasks the hints of that file; nothing where there is none.
/// @throws SpecError for a task, group or code that there is not, and hints of a group that are not
/// three.
void add_group_hints(const std::filesystem::path& file, PartSpec& part);

}  // namespace rooflab
