#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu::toolchain {

/// What compilers made, on disk, in a folder that only its owner can change. It will decide what
/// this process believes: a file that is not ours, that others may write to, or that is not whole
/// counts as not there. Any number of processes may share a folder.
class CodeCache {
 public:
  /// @param most_bytes the oldest files go when there are more
  explicit CodeCache(std::filesystem::path folder,
                     std::uintmax_t most_bytes = std::uintmax_t{128} << 20);

  /// The folder simgpu/`name` in the user's cache folder, as XDG names it; empty when there is
  /// none.
  static std::filesystem::path default_folder(std::string_view name);

  /// Where to compile: this folder, or the system's for temporary files if it is not usable.
  std::filesystem::path work_folder() const;
  /// What was kept for exactly this key.
  std::optional<std::vector<std::byte>> find(std::string_view key) const;
  void keep(std::string_view key, std::span<const std::byte> object) const;

 private:
  void make_folder() const;
  bool usable() const;
  std::filesystem::path path_of(std::string_view key) const;
  void remove_oldest() const;
  void remove_left_behind() const;

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_;
};

}  // namespace simgpu::toolchain
