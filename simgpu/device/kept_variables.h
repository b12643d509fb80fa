#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "simgpu/device/module.h"
#include "simgpu/memory/device_memory.h"

namespace simgpu {

/// What variables of modules held at one time, to be put back later. Of larger ones than a few
/// MiB, all together, nothing is kept.
class KeptVariables {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;

  /// From now on this is what the module's variables held.
  void keep(const LoadedModule& module, const DeviceMemory& memory);
  /// Puts back what was changed since.
  void restore(DeviceMemory& memory) const;
  void forget_all() { *this = {}; }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> contents_;  ///< by address
  std::uint64_t bytes_ = 0;
};

}  // namespace simgpu
