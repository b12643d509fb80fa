#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace rooflab::verify {

/// The codes that say what a student sees, and not why: the entries of the section "Symptoms" of
/// docs/design/codes.md, each a line that begins with "- RL0401".
/// @throws SpecError when the file has no such section, or nothing in it.
std::set<std::string> load_symptoms(const std::filesystem::path& codes);

}  // namespace rooflab::verify
