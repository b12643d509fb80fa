#include "labs/oracle_support/large_vector.h"

#include <sys/mman.h>

#include <cstdint>

namespace rooflab {

void advise_huge_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (address + bytes) / kHugePage * kHugePage;
  if (first >= last) return;
  madvise(static_cast<std::byte*>(begin) + (first - address), last - first, MADV_HUGEPAGE);
}

}  // namespace rooflab
