#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace simgpu::toolchain {

/// A folder of its own for one compilation, removed with what is in it.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& in);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }  ///< empty when none could be made

 private:
  std::filesystem::path path_;
};

/// A file that a compiler wrote into its folder; nullopt unless it is a plain file of at most
/// `most_bytes`: whatever the compiler read may have made it write something else.
std::optional<std::vector<std::byte>> read_made_file(const std::filesystem::path& path,
                                                     std::size_t most_bytes = std::size_t{64}
                                                                              << 20);

}  // namespace simgpu::toolchain
