#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rooflab {

/// What git says of the repository in `root`; empty without git, and where it fails.
std::string git(const std::filesystem::path& root, const std::vector<std::string>& words);

/// Which state of the course lies in `root`: its commit, with ", changed" behind it where tracked
/// files differ from it. Of a student kit, the one that it was made from. Empty where nobody knows.
std::string commit_of(const std::filesystem::path& root);

}  // namespace rooflab
