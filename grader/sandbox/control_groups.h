#pragma once

#include <chrono>
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

  /// Whether the kernel can freeze all processes of the sandbox: version 2 of control groups can,
  /// where those that are frozen can still be killed. Version 1 has a freezer, too, whose processes
  /// outlive a grader that was killed meanwhile.
  bool can_freeze() const;
  /// Freezes or thaws all processes. @return whether all were frozen within so long
  bool freeze(std::chrono::duration<double> patience) const;
  void thaw() const;

 private:
  struct Group {
    std::filesystem::path directory;
    Descriptor join;
  };
  ControlGroups() = default;
  bool add(const std::filesystem::path& parent);
  bool counted(const char* file, const char* key) const;
  void add_freezer();
  void remove_last();

  /// One in version 2. In version 1 one for each controller, and one of version 2 beside them,
  /// where it is mounted.
  std::vector<Group> groups_;
  std::filesystem::path freezer_;  ///< cgroup.freeze of the one that has it; else empty
};

}  // namespace rooflab
