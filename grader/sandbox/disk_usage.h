#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// Bytes and files in use somewhere.
struct DiskUsage {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};

/// Use of disk beneath a directory, links not followed. Stops counting after `most_files`, so that
/// a directory of a million files costs no more; one that cannot be walked through, because it is
/// too deep or may not be listed, counts as one of too many files.
DiskUsage usage_beneath(const std::filesystem::path& directory, std::uint64_t most_files);

/// The memory file systems of a sandbox, looked at from outside. Their space is limited by the
/// kernel; this tells when they are full. Holding them open keeps them for a last look after the
/// sandbox is gone.
class ScratchMounts {
 public:
  /// Opens /tmp and /dev/shm of the mount namespace of `process`, once they are there: the file
  /// systems of exactly `bytes` bytes.
  void open(pid_t process, std::uint64_t bytes);
  /// Whether one has less than a page of its space left, or holds more than `most_files` files.
  bool full(std::uint64_t most_files) const;

 private:
  std::vector<Descriptor> mounts_;
};

}  // namespace rooflab
