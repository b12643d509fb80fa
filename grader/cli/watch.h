#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rooflab {

/// Waits until one of some files in a folder is saved, also by editors that write a new file and
/// rename it. Several saves at once count as one; what else happens in the folder, such as an
/// editor's own files, does not count.
class FolderWatch {
 public:
  /// @throws FileError when the folder cannot be watched.
  FolderWatch(const std::filesystem::path& folder, std::vector<std::string> files);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  void wait_for_save();

 private:
  bool drain(int timeout_ms);

  std::vector<std::string> files_;
  int descriptor_ = -1;
};

}  // namespace rooflab
