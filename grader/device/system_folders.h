#pragma once

#include <filesystem>

namespace rooflab {

/// Where the kernel shows its devices and what it says of them: others in tests.
struct SystemFolders {
  std::filesystem::path dev = "/dev";
  std::filesystem::path proc = "/proc";
};

}  // namespace rooflab
