#include "simgpu/memory/pages.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer's runtime has it; no header declares it.
extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* memory,
                                        std::size_t bytes, const char* description);
#endif

namespace simgpu {
namespace {

/// Zeroing at least this much gives the pages back instead of writing them.
constexpr std::uint64_t kZeroByUnmapping = std::uint64_t{1} << 20;

}  // namespace

void* reserve(std::uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void expect_races([[maybe_unused]] void* begin, [[maybe_unused]] std::uint64_t bytes) {
#if defined(__SANITIZE_THREAD__)
  AnnotateBenignRaceSized(__FILE__, __LINE__, begin, bytes, "memory of kernels");
#endif
}

void zero(std::byte* begin, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t last = first + bytes;
  const std::uintptr_t page_first = round_up(first, page_bytes());
  const std::uintptr_t page_last = last / page_bytes() * page_bytes();
  if (bytes < kZeroByUnmapping || page_first >= page_last) {
    std::memset(begin, 0, bytes);
    return;
  }
  std::memset(begin, 0, page_first - first);
  std::byte* const pages = begin + (page_first - first);
  if (madvise(pages, page_last - page_first, MADV_DONTNEED) != 0) {
    std::memset(pages, 0, page_last - page_first);
  }
  std::memset(begin + (page_last - first), 0, last - page_last);
}

}  // namespace simgpu
