#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// Whether two blocks of a launch touched one 4-byte word, at least one of them by a plain store:
/// what BlockConflicts knows too, but without who it was. It looks at 128-byte lines, and at words
/// only where two blocks store to one line, or several read different parts of it.
class WordConflicts {
 public:
  /// Goes through one block's log; each block has one, and they may come in any order.
  void add(const TrafficLog& log);
  /// Also true when the launch was too large to tell.
  bool any() const { return any_; }

 private:
  static constexpr std::uint32_t kWordsPerLine = kSectorsPerLine * kWordsPerSector;
  /// Words are bits. Blocks are their index plus one, 0 is none.
  struct alignas(32) Line {
    std::uint32_t first_reader = 0, second_reader = 0;
    std::uint32_t read_first = 0, read_second = 0;  ///< by these two
    std::uint32_t read_by_several = 0;
    std::uint32_t writer = 0, written = 0;
    std::uint32_t parts = 0;  ///< index in words_ plus one, 0 while it is not split
  };
  struct Word {
    std::uint32_t reader = 0;  ///< kSeveral: more than one
    std::uint32_t writer = 0;
  };
  static constexpr std::uint32_t kSeveral = ~std::uint32_t{0};
  static constexpr std::uint64_t kLinesPerPage = 256;
  static constexpr std::size_t kMostPages = 1 << 16;
  static constexpr std::size_t kMostSplit = std::size_t{1} << 18;
  using Page = std::array<Line, kLinesPerPage>;
  using Words = std::array<Word, kWordsPerLine>;

  Line* find(std::uint64_t line);
  void fetch(const TrafficEntry& entry) const;
  void add(const TrafficEntry& entry, std::uint32_t block);
  void load(Line& line, std::uint32_t words, std::uint32_t block);
  void store(Line& line, std::uint32_t words, std::uint32_t block);
  void touch_each(Line& line, std::uint32_t words, std::uint32_t block, bool stores);
  bool split(Line& line);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  /// The pages used lately, by the low bits of their number.
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Recent, 256> recent_;
  std::vector<Words> words_;
  bool any_ = false;
};

}  // namespace simgpu
