#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace rooflab {

/// What processes hold in files that no folder shows any more: removed ones, and those that never
/// had a name. No limit of the kernel counts them together, and memory that nobody has mapped at
/// the moment is in nobody's resident set.
struct HiddenFiles {
  std::uint64_t memory_bytes = 0;  ///< in files that exist in memory alone
  std::uint64_t disk_bytes = 0;
};

/// Each file counts once, however many processes have it open or mapped. A mapping counts as far as
/// it reaches: how much of it is in use cannot be seen from outside.
HiddenFiles hidden_files_of(const std::vector<pid_t>& processes);

}  // namespace rooflab
