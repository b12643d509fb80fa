#pragma once

#include <filesystem>

namespace rooflab {

/// Waits until a file in a folder is saved, also by editors that write a new file and rename it.
/// Several saves at once count as one.
class FolderWatch {
 public:
  /// @throws FileError when the folder cannot be watched.
  explicit FolderWatch(const std::filesystem::path& folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  void wait_for_save();

 private:
  int descriptor_ = -1;
};

}  // namespace rooflab
