#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rooflab {

/// Another process that has memory of the GPU that is measured on, as the driver names it.
struct GpuUser {
  std::int64_t pid = 0;
  std::string name = {};           ///< of its program, printable and short; empty where nobody says
  std::uint64_t memory_bytes = 0;  ///< of the GPU's; 0: not known
};

/// "python3 (process 4211, 2.1 GiB), process 17".
std::string in_words(const std::vector<GpuUser>& users);

}  // namespace rooflab
