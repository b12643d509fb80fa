#pragma once

#include <cstdlib>
#include <filesystem>

namespace rooflab {

/// The checkout that a test belongs to: $ROOFLAB_ROOT, else where it was built.
inline std::filesystem::path checkout_folder() {
  const char* root = std::getenv("ROOFLAB_ROOT");
  return root == nullptr || *root == '\0' ? ROOFLAB_SOURCE_DIR : root;
}

/// The build tree that a test runs in, which need not be the one that it was built in.
inline std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace rooflab
