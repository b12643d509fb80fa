#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// Groups beneath our own, made for one sandbox, in which the kernel caps memory (page cache and
/// tmpfs included) and the number of processes. Unlike resource limits they count a whole sandbox,
/// and hold for root as well.
class ControlGroups {
 public:
  /// @param memory_bytes, processes zero: no cap.
  /// @return nothing where control groups are absent or not ours to write.
  static std::optional<ControlGroups> make(std::uint64_t memory_bytes, std::uint64_t processes);
  ControlGroups(ControlGroups&&) noexcept = default;
  ControlGroups& operator=(ControlGroups&&) = delete;
  ~ControlGroups();  ///< removes them; their processes have to be gone

  /// A process that writes "0" to each of these joins.
  std::vector<int> join_descriptors() const;
  /// Whether the kernel killed a process for going over the cap on memory.
  bool memory_exceeded() const;
  /// Whether the kernel refused a process for going over the cap on their number.
  bool processes_exceeded() const;

 private:
  struct Group {
    std::filesystem::path directory;
    Descriptor join;
  };
  ControlGroups() = default;
  bool add(const std::filesystem::path& parent);
  bool counted(const char* file, const char* key) const;

  std::vector<Group> groups_;  ///< one in version 2; one for each controller in version 1
};

}  // namespace rooflab
