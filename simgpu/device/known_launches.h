#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "simgpu/exec/engine.h"
#include "simgpu/memory/device_memory.h"
#include "simgpu/report.h"

namespace simgpu {

/// Where launches may be sampled, the last ones whose outcome the next one like them has too: who
/// times a kernel launches it again and again. LaunchResult::touched says why such a launch need
/// not execute.
class KnownLaunches {
 public:
  static constexpr std::size_t kMost = 256;
  /// Kernels of more instructions are not kept, so that all together take 64 MiB at most.
  static constexpr std::size_t kMostInstructions = 16384;

  /// All that makes a launch what it is, but for memory, the clock, and what stays as it is as long
  /// as the device.
  struct Key {
    std::uint64_t module = 0;  ///< a handle that is never used again
    std::uint64_t kernel = 0;
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;
    std::uint32_t stack_bytes = 0;
    bool checkers = false;
    std::vector<std::byte> parameters;
    bool operator==(const Key&) const = default;
  };

  /// What the launch would come to; nullptr when it must execute. Valid until the next call.
  const LaunchResult* find(const Key& key, const DeviceMemory& memory);

  /// Keeps a launch that has just been executed, if its outcome tells that of the next one.
  void remember(Key key, const LaunchResult& result, const DeviceMemory& memory);

 private:
  struct Launch {
    Key key;
    LaunchResult result;
    std::uint64_t moment = 0;  ///< DeviceMemory::changes() after it
  };
  std::list<Launch> launches_;  ///< used last first
};

}  // namespace simgpu
