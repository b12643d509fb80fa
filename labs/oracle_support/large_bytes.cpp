#include "labs/oracle_support/large_bytes.h"

#include <sys/mman.h>

#include <cstdint>

namespace rooflab {

std::vector<std::byte> large_bytes(std::size_t count) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  std::vector<std::byte> bytes;
  bytes.reserve(count);  // nothing of it is touched yet
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (begin + count) / kHugePage * kHugePage;
  if (first < last) madvise(bytes.data() + (first - begin), last - first, MADV_HUGEPAGE);
  bytes.resize(count);
  return bytes;
}

}  // namespace rooflab
