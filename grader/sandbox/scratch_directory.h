#pragma once

#include <filesystem>
#include <utility>

#include "grader/sandbox/remove_tree.h"

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
      remove_tree(path_);
      path_.clear();
    }
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rooflab
