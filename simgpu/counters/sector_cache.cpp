#include "simgpu/counters/sector_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <experimental/simd>
#include <new>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {
namespace {

namespace stdx = std::experimental;

constexpr std::uint64_t kNotFound = ~std::uint64_t{0};
constexpr std::uint32_t kAtOnce = 8;  // numbers that position() compares

/// From here on memory comes from the system and not from the heap, whose large blocks are filled
/// with zeros by hand once they are used for the second time: each launch would wait for that.
constexpr std::size_t kLeastMapped = std::size_t{64} << 10;

}  // namespace

void SectorCache::Free::operator()(void* memory) const {
  if (mapped_bytes == 0) {
    std::free(memory);
  } else {
    munmap(memory, mapped_bytes);
  }
}

void* SectorCache::lazy_zeros(std::size_t bytes, Free& free) {
  if (bytes < kLeastMapped) {
    void* const memory = std::calloc(bytes, 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  free.mapped_bytes = bytes;
  return memory;
}

SectorCache::SectorCache(std::uint64_t bytes, std::uint32_t ways) {
  const std::uint64_t lines = std::max<std::uint64_t>(bytes / kLineBytes, ways);
  sets_ = static_cast<std::uint32_t>(std::bit_floor(lines / ways));
  ways_ = static_cast<std::uint32_t>(lines / sets_);
  set_bits_ = static_cast<std::uint32_t>(std::countr_zero(sets_));
  const std::uint64_t count = this->lines();
  tag_ = lazy<std::uint32_t>(count + kAtOnce);
  used_ = lazy<std::uint32_t>(count + kAtOnce);
  present_ = lazy<std::uint32_t>(count);
  dirty_ = lazy<std::uint8_t>(count);
  set_ = lazy<Set>(sets_);
}

/// The first of `count` numbers that is `wanted`, or `count`; reads up to kAtOnce beyond them.
std::uint32_t SectorCache::position(const std::uint32_t* numbers, std::uint32_t count,
                                    std::uint32_t wanted) {
  using Numbers = stdx::simd<std::uint32_t, stdx::simd_abi::deduce_t<std::uint32_t, kAtOnce>>;
  for (std::uint32_t i = 0; i < count; i += kAtOnce) {
    const auto equal = Numbers(numbers + i, stdx::element_aligned) == wanted;
    if (stdx::any_of(equal)) {
      return std::min(i + static_cast<std::uint32_t>(stdx::find_first_set(equal)), count);
    }
  }
  return count;
}

std::uint64_t SectorCache::find(std::uint64_t first, std::uint32_t tag) const {
  const std::uint32_t way = position(&tag_[first], ways_, tag);
  return way == ways_ ? kNotFound : first + way;
}

/// The first of those used least recently. Without branches on it: nobody can foretell which it is.
std::uint64_t SectorCache::least_recent(std::uint64_t first) const {
  const std::uint32_t* const used = &used_[first];
  std::uint32_t oldest = ~std::uint32_t{0};
  for (std::uint32_t way = 0; way < ways_; ++way) oldest = std::min(oldest, used[way]);
  return first + position(used, ways_, oldest);
}

void SectorCache::fetch(std::uint64_t line) const {
  constexpr std::uint64_t kTagsOfALine = 16;  // of the host's
  const std::uint64_t set = line & (sets_ - 1);
  const std::uint64_t first = set * ways_;
  __builtin_prefetch(&set_[set]);
  for (std::uint64_t way = 0; way < ways_; way += kTagsOfALine) {
    __builtin_prefetch(&tag_[first + way]);
    __builtin_prefetch(&used_[first + way]);
    __builtin_prefetch(&present_[first + way]);
  }
}

/// Empties a set that has not been used since the cache was cleared.
void SectorCache::refresh(std::uint64_t set) {
  if (set_[set].life == lives_) return;
  set_[set].life = lives_;
  // Stale words of an empty way are reset when it is taken, so tags and clocks are enough.
  const std::uint64_t first = set * ways_;
  std::fill_n(&tag_[first], ways_, 0);
  std::fill_n(&used_[first], ways_, 0);
  std::fill_n(&dirty_[first], ways_, std::uint8_t{0});
}

SectorCache::Lookup SectorCache::touch(std::uint64_t line, std::uint32_t add, std::uint32_t dirty) {
  const std::uint64_t set = line & (sets_ - 1);
  refresh(set);
  const auto tag = static_cast<std::uint32_t>((line >> set_bits_) + 1);
  const std::uint64_t first = set * ways_;
  Lookup result;
  std::uint64_t at = first + set_[set].recent;
  if (tag_[at] != tag) at = find(first, tag);
  if (at == kNotFound) {
    at = least_recent(first);
    result.evicted_dirty = static_cast<std::uint32_t>(std::popcount(dirty_[at]));
    dirty_sectors_ -= result.evicted_dirty;
    ++fills_;
    tag_[at] = tag;
    present_[at] = 0;
    dirty_[at] = 0;
  }
  result.present = present_[at];
  present_[at] |= add;
  if (dirty != 0) {
    dirty_sectors_ += static_cast<std::uint64_t>(std::popcount(dirty & ~std::uint32_t{dirty_[at]}));
    dirty_[at] = static_cast<std::uint8_t>(dirty_[at] | dirty);
  }
  used_[at] = ++set_[set].clock;
  set_[set].recent = static_cast<std::uint32_t>(at - first);
  return result;
}

std::uint32_t SectorCache::probe(std::uint64_t line, std::uint32_t add) {
  const std::uint64_t set = line & (sets_ - 1);
  refresh(set);
  const auto tag = static_cast<std::uint32_t>((line >> set_bits_) + 1);
  const std::uint64_t first = set * ways_;
  std::uint64_t at = first + set_[set].recent;
  if (tag_[at] != tag) at = find(first, tag);
  if (at == kNotFound) return 0;
  const std::uint32_t present = present_[at];
  present_[at] |= add;
  used_[at] = ++set_[set].clock;
  set_[set].recent = static_cast<std::uint32_t>(at - first);
  return present;
}

void SectorCache::clear() {
  if (++lives_ == 0) {  // what was used 2^32 lives ago would pass for fresh
    for (std::uint64_t set = 0; set < sets_; ++set) refresh(set), set_[set].life = 0;
  }
  dirty_sectors_ = 0;
  fills_ = 0;
}

}  // namespace simgpu
