#pragma once

#include <cstdint>
#include <vector>

namespace simgpu {

/// Which bytes of a small memory have been written.
class WrittenBytes {
 public:
  /// Empties the set and makes it one of `bytes` bytes.
  void reset(std::uint64_t bytes) { words_.assign((bytes + 63) / 64, 0); }

  /// Adds [first, first + count); bytes beyond the end are ignored.
  void add(std::uint64_t first, std::uint64_t count) {
    for_each_word(first, count, [&](std::size_t word, std::uint64_t mask) {
      words_[word] |= mask;
      return true;
    });
  }

  /// Takes [first, first + count) out again.
  void remove(std::uint64_t first, std::uint64_t count) {
    for_each_word(first, count, [&](std::size_t word, std::uint64_t mask) {
      words_[word] &= ~mask;
      return true;
    });
  }

  bool contains(std::uint64_t first, std::uint64_t count) const {
    return for_each_word(first, count, [&](std::size_t word, std::uint64_t mask) {
      return (words_[word] & mask) == mask;
    });
  }

 private:
  template <typename Visit>
  bool for_each_word(std::uint64_t first, std::uint64_t count, const Visit& visit) const {
    while (count > 0 && first / 64 < words_.size()) {
      const std::uint64_t bit = first % 64;
      const std::uint64_t here = count < 64 - bit ? count : 64 - bit;
      const std::uint64_t mask = (~std::uint64_t{0} >> (64 - here)) << bit;
      if (!visit(first / 64, mask)) return false;
      first += here;
      count -= here;
    }
    return true;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace simgpu
