#include "simgpu/lower/source_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace simgpu {
namespace {

/// A program may have include folders of its own, so that only those of a toolkit or the system are
/// someone else's: where packages are installed, and as nvcc spells its own headers
/// ("/home/me/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.hpp", or "bin/../include" of one
/// that was unpacked from wheels).
bool is_installed(std::string_view path) {
  constexpr std::array<std::string_view, 3> kPrefixes{"/usr/", "/opt/cuda", "/opt/nvidia/"};
  constexpr std::array<std::string_view, 4> kParts{"/targets/", "/bin/../include/", "/.cuda/",
                                                   "/site-packages/"};
  if (path.find("/include/") == std::string_view::npos) return false;
  const auto begins = [path](std::string_view prefix) { return path.starts_with(prefix); };
  const auto holds = [path](std::string_view part) {
    return path.find(part) != std::string_view::npos;
  };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), begins) ||
         std::any_of(kParts.begin(), kParts.end(), holds);
}

}  // namespace

SourceFiles::SourceFiles(std::vector<std::string> names)
    : names_(std::make_shared<const std::vector<std::string>>(std::move(names))) {
  for (const std::string& name : *names_) is_users_.push_back(!is_installed(name));
}

}  // namespace simgpu
