#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simgpu/device/protocol.h"

namespace simgpu {

/// How much the guest tells the device by launches. Of a kernel's parameters, what differs from its
/// launch before; besides, a launch says which kernel it is of, and which shape it has.
class LaunchChoices {
 public:
  /// A fill says where, how much and with what; a copy on the device likewise.
  static constexpr std::uint64_t kOfAnOperation = 16;
  /// A routine of a library has addresses, sizes and scalars.
  static constexpr std::uint64_t kOfARoutine = 64;

  /// In bytes.
  std::uint64_t add(const protocol::LaunchMessage& message, std::span<const std::byte> parameters);
  void forget_all() { last_.clear(); }

 private:
  struct Launch {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    std::vector<std::byte> parameters;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Launch> last_;  ///< by module and kernel
};

}  // namespace simgpu
