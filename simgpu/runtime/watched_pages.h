#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "simgpu/byte_range.h"

namespace simgpu::runtime {

/// Pages of memory shared with the device to which kernels store that may still be under way. The
/// program cannot use them until it waits, so that the fault handler sees who is too early.
class WatchedPages {
 public:
  void watch(const std::vector<ByteRange>& pages);
  /// The program waits: all are its own again.
  void release();
  /// From the fault handler: the page is the program's again. @returns whether it was watched
  bool release_page_of(std::uint64_t address);

 private:
  std::mutex mutex_;  ///< held by nobody who touches such memory
  std::vector<ByteRange> pages_;
};

}  // namespace simgpu::runtime
