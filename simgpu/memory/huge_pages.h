#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace simgpu {

/// For large arrays that are used whole and that nobody has touched yet: huge pages save them a
/// page fault for every 4 KiB, but each is cleared whole when its first byte is touched. Where the
/// kernel has none, all works as before.
inline void advise_huge_pages(void* begin, std::uint64_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;  // on x86-64 and, mostly, on arm64
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (address + bytes) / kHugePage * kHugePage;
  if (first >= last) return;
  madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

}  // namespace simgpu
