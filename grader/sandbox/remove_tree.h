#pragma once

#include <filesystem>

namespace rooflab {

/// Removes a folder and all in it, whatever a program made of it: folders thousands deep, and ones
/// that cannot be listed. Follows no links, and takes a few descriptors however deep it goes.
/// Nobody may be at work in it any more. What cannot be removed stays.
void remove_tree(const std::filesystem::path& folder);

}  // namespace rooflab
