#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace simgpu {

/// Set-associative cache of 128-byte lines made of four 32-byte sectors, least recently used line
/// out first. Presence is kept per 4-byte word, so that a partly written sector can live here
/// without being read first. Used for L1 (one block's share) and L2 (the whole launch).
class SectorCache {
 public:
  /// What became of the line that had to leave.
  struct Lookup {
    std::uint32_t present = 0;        ///< words of the line that were here, 8 bits per sector
    std::uint32_t evicted_dirty = 0;  ///< dirty sectors of the evicted line, as a count
  };

  /// @param bytes capacity; at least one set of 4 lines is kept
  /// @param ways  the least associativity; it grows so that the number of sets is a power of two
  SectorCache(std::uint64_t bytes, std::uint32_t ways);

  /// Finds or allocates `line` and makes it the most recently used.
  /// @param add words that are present from now on
  /// @param dirty sectors (4 bits) that must be written back some day
  Lookup touch(std::uint64_t line, std::uint32_t add, std::uint32_t dirty);
  /// As touch, but leaves the cache alone when the line is not there: returns its present words,
  /// else 0.
  std::uint32_t probe(std::uint64_t line, std::uint32_t add);
  /// Has the processor fetch what it takes to look for `line`, which is asked for soon.
  void fetch(std::uint64_t line) const;

  /// Empties it, in no time: a set is emptied when it is asked for again.
  void clear();
  /// Number of sectors that would be written back now.
  std::uint64_t dirty_sectors() const { return dirty_sectors_; }
  /// Lines that were not here when they were asked for, and have been brought in.
  std::uint64_t fills() const { return fills_; }
  std::uint64_t lines() const { return std::uint64_t{sets_} * ways_; }
  std::uint32_t sets() const { return sets_; }
  std::uint32_t ways() const { return ways_; }

 private:
  /// Gives memory back to where lazy_zeros() had it from.
  struct Free {
    Free() noexcept : mapped_bytes(0) {}
    std::size_t mapped_bytes;  ///< 0: from calloc
    void operator()(void* memory) const;
  };
  /// Zeroed memory that costs nothing until it is used: a short launch touches little of a 40 MiB
  /// L2.
  template <typename T>
  using Lazy = std::unique_ptr<T[], Free>;
  template <typename T>
  static Lazy<T> lazy(std::uint64_t count) {
    Free free;
    auto* const memory = static_cast<T*>(lazy_zeros(count * sizeof(T), free));
    return Lazy<T>(memory, free);
  }
  static void* lazy_zeros(std::size_t bytes, Free& free);

  static std::uint32_t position(const std::uint32_t* numbers, std::uint32_t count,
                                std::uint32_t wanted);
  std::uint64_t find(std::uint64_t first, std::uint32_t tag) const;
  std::uint64_t least_recent(std::uint64_t first) const;
  void refresh(std::uint64_t set);

  std::uint32_t sets_ = 1;
  std::uint32_t ways_ = 4;
  std::uint32_t set_bits_ = 0;
  std::uint64_t dirty_sectors_ = 0;
  std::uint64_t fills_ = 0;
  std::uint32_t lives_ = 0;  // how often the cache has been cleared
  // One entry per line, set by set.
  Lazy<std::uint32_t> tag_;   // line number over sets, plus one; 0 is an empty way
  Lazy<std::uint32_t> used_;  // the set's clock at the last use
  Lazy<std::uint32_t> present_;
  Lazy<std::uint8_t> dirty_;
  struct Set {
    std::uint32_t clock = 0;
    std::uint32_t life = 0;    ///< how often the cache had been cleared when it was last used
    std::uint32_t recent = 0;  ///< way used last, looked at first
  };
  Lazy<Set> set_;
};

}  // namespace simgpu
