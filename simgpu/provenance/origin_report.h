#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simgpu/dim3.h"

namespace simgpu {

/// Loads by one line of a program whose bytes went into a value.
struct OriginRead {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t times = 1;  ///< loads by different instructions, threads or iterations
  std::string file;         ///< empty: unknown
  std::uint32_t line = 0;
  Dim3 block, thread;  ///< of the first of them
  bool operator==(const OriginRead&) const = default;
};

/// What went into bytes of global memory.
struct MemoryOrigin {
  std::uint64_t stores = 0;  ///< to the bytes, of kernels, copies and fills
  std::string file;          ///< of the last one; empty: unknown, or no kernel's
  std::uint32_t line = 0;
  Dim3 block, thread;             ///< that stored last
  std::vector<OriginRead> reads;  ///< by address
  /// False where more went in than is kept, or something that nobody follows.
  bool complete = true;
  bool operator==(const MemoryOrigin&) const = default;
};

}  // namespace simgpu
