#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "grader/sandbox/descriptor.h"

namespace rooflab {

/// A control group beneath our own that caps the memory of one sandbox, page cache and tmpfs
/// included.
class MemoryCgroup {
 public:
  /// @return nothing where control groups are absent or not ours to write.
  static std::optional<MemoryCgroup> make(std::uint64_t bytes);
  MemoryCgroup(MemoryCgroup&&) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;
  ~MemoryCgroup();  ///< removes it; its processes have to be gone

  /// A process that writes "0" here joins.
  int join_descriptor() const { return join_.get(); }
  /// Whether the kernel killed a process for going over the cap.
  bool exceeded() const;

 private:
  MemoryCgroup(std::filesystem::path directory, Descriptor join, bool unified)
      : directory_(std::move(directory)), join_(std::move(join)), unified_(unified) {}
  std::filesystem::path directory_;
  Descriptor join_;
  bool unified_;  ///< version 2
};

}  // namespace rooflab
