#pragma once

#include <filesystem>
#include <utility>

namespace rooflab {

/// A temporary directory of the host, removed with its contents.
class ScratchDirectory {
 public:
  ScratchDirectory() = default;
  /// @throws SandboxError when the disk is full or not writable.
  static ScratchDirectory make();
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~ScratchDirectory() { remove(); }

  const std::filesystem::path& path() const { return path_; }
  void remove() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
      path_.clear();
    }
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rooflab
