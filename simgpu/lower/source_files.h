#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace simgpu {

/// The source files of a module, by their numbers in its PTX; [0] is "", a place that is unknown.
class SourceFiles {
 public:
  explicit SourceFiles(std::vector<std::string> names);

  const std::shared_ptr<const std::vector<std::string>>& names() const { return names_; }
  /// Whether the program's author can change the file: it came neither with the compiler nor with
  /// the system.
  bool is_users(std::uint32_t file) const { return file < is_users_.size() && is_users_[file]; }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<bool> is_users_;
};

}  // namespace simgpu
