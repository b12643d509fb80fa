#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/access_counts.h"
#include "simgpu/counters/first_access.h"
#include "simgpu/isa/lowered.h"

namespace simgpu {

/// What a memory instruction did last time. Kernels repeat their access patterns with another base
/// address, so one vector comparison usually replaces the analysis of 32 addresses: bounds,
/// alignment and bank conflicts depend on the differences between lanes only (and on the base,
/// looked at each time).
template <class Word>
struct SitePattern {
  alignas(64) std::array<Word, kWarpSize> relative{};  ///< to the first lane's address
  alignas(64) std::array<Word, kWarpSize> keep{};      ///< all ones in lanes that take part
  std::uint32_t mask = 0;
  unsigned first = 0;              ///< lowest lane that takes part
  std::int64_t low = 0;            ///< lowest relative address
  std::int64_t high = 0;           ///< one past the highest relative byte
  std::uint64_t misalignment = 0;  ///< all low bits that occur in `relative`
  Shape shape = Shape::unknown;
  std::uint32_t wavefronts = 0, ideal = 0;      ///< shared memory
  std::uint64_t known_low = 1, known_high = 0;  ///< global memory: the allocation found last time
  bool known_writable = false;
  Word last_origin = 0;  ///< global memory: the first lane's address last time

  bool matches(const Word* base, std::uint32_t lanes) const {
    const Word origin = base[first];
    Word difference = 0;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      difference |= (base[lane] - origin - relative[lane]) & keep[lane];
    }
    return (difference == 0) & (mask == lanes);
  }

  void learn(const Word* base, std::uint32_t lanes, unsigned bytes) {
    mask = lanes;
    first = static_cast<unsigned>(__builtin_ctz(lanes));
    low = 0;
    high = bytes;
    misalignment = 0;
    bool uniform = true;
    bool consecutive = lanes == 0xFFFFFFFFU;
    using Signed = std::make_signed_t<Word>;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const bool takes_part = (lanes >> lane) & 1U;
      keep[lane] = takes_part ? static_cast<Word>(~Word{0}) : 0;
      relative[lane] = takes_part ? base[lane] - base[first] : 0;
      const std::int64_t distance = static_cast<Signed>(relative[lane]);
      low = distance < low ? distance : low;
      // Saturating: a distance near the end of the address space is out of bounds in any case.
      const std::int64_t end = distance > INT64_MAX - 64 ? INT64_MAX : distance + bytes;
      high = end > high ? end : high;
      misalignment |= relative[lane];
      uniform = uniform && relative[lane] == 0;
      consecutive = consecutive && relative[lane] == lane * static_cast<Word>(bytes);
    }
    shape = uniform ? Shape::uniform : consecutive ? Shape::consecutive : Shape::scattered;
  }
};

/// The patterns of all memory instructions of a kernel, and what they asked of the banks, of local
/// memory and of the constant cache.
class SitePatterns {
 public:
  /// @param keeps_first first() is wanted
  explicit SitePatterns(std::size_t sites, bool keeps_first)
      : shared_(sites), global_(sites), counts_(sites), first_(keeps_first ? sites : 0) {}

  SitePattern<std::uint32_t>& shared(const Lowered* in) { return shared_[in->site]; }
  SitePattern<std::uint64_t>& global(const Lowered* in) { return global_[in->site]; }
  AccessCounts& counts(const Lowered* in) { return counts_[in->site]; }
  /// By memory instruction, in order, since clear_counts().
  const std::vector<AccessCounts>& counts() const { return counts_; }
  void clear_counts() { counts_.assign(counts_.size(), {}); }
  /// Whether nobody has noted the first access of this instruction, and somebody wants to know it.
  bool lacks_first(const Lowered* in) const { return !first_.empty() && !first_[in->site]; }
  void note_first(const Lowered* in, FirstAccess access) {
    first_[in->site] = std::make_shared<const FirstAccess>(access);
  }
  const FirstAccesses& first() const { return first_; }
  /// Allocations have changed: what is known of where accesses lie is looked up again.
  void forget_allocations() {
    for (SitePattern<std::uint64_t>& site : global_) {
      site.known_low = 1;
      site.known_high = 0;
    }
  }

 private:
  std::vector<SitePattern<std::uint32_t>> shared_;
  std::vector<SitePattern<std::uint64_t>> global_;
  std::vector<AccessCounts> counts_;
  FirstAccesses first_;
};

}  // namespace simgpu
