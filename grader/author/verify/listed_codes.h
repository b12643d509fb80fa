#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace rooflab::verify {

/// The codes that a section of docs/design/codes.md lists, each in a line that begins with
/// "- RL0401". "Symptoms" are those that say what a student sees, and not why; "Advice" are those
/// that find no fault with a submission that is right.
/// @throws SpecError when the file has no such section, or nothing in it.
std::set<std::string> load_listed_codes(const std::filesystem::path& codes,
                                        const std::string& section);

}  // namespace rooflab::verify
