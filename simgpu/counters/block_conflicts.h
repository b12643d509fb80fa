#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/stored_values.h"
#include "simgpu/counters/traffic_log.h"

namespace simgpu {

/// Finds places of global memory that two blocks of one launch touched, at least one by a plain
/// store, or one by a plain load and the other by an atomic. It remembers who touched each 32-byte
/// sector, split into words only where blocks share a sector or use atomics in it, and into bytes
/// only where they share a word.
class BlockConflicts {
 public:
  /// Goes through one block's log; each block has one. Of several accesses that conflict, the order
  /// in which logs come decides which a finding names.
  /// @param left memory as the block left it, where blocks run one after the other: plain stores of
  ///             blocks that leave the same value in one place do not conflict then. nullptr where
  ///             nobody knows.
  void add(const TrafficLog& log, const DeviceMemory* left = nullptr);

  /// Two blocks touched one 4-byte word, one of them by a plain store; or the launch was too large
  /// to tell.
  bool any() const { return any_ || untracked_; }
  /// All sectors that any block touched, in order.
  std::vector<TouchedSector> touched() const;
  /// RL0304 for pairs that share a byte and are not ordered by atomics, one per pair of
  /// instructions.
  std::vector<RawFinding> take_findings();

 private:
  /// Who touched something: a block, by which instruction, and how it is ordered. Packed, because
  /// there is one for every sector the launch touches.
  struct Site {
    std::uint32_t block = 0;  ///< linear index plus one, 0 for nobody
    std::uint32_t where = 0;  ///< pc, warp, lane
    bool operator==(const Site&) const = default;
  };
  /// What is known of a sector (bits are words), of a word (bits are bytes) or of a byte (one bit).
  /// Of several blocks the first is named: it is another for every block that comes later.
  struct Use {
    Site writer;
    Site reader;
    std::uint8_t written = 0;
    std::uint8_t read = 0;
    std::uint8_t flags = 0;
    std::uint8_t widths = 0;  ///< who did it (Touch): the writer's low, the reader's high
    std::uint32_t parts = 0;  ///< index in words_ or bytes_ plus one, 0 while it is not split
  };
  struct Access {
    TrafficEntry::Kind kind;
    std::uint64_t sector;
    Site site;
    std::uint8_t flags;
    std::uint8_t access_bytes;
    std::uint32_t first_byte;  ///< of the word or byte in its sector, for the finding's address
    bool knows_thread;         ///< `where` and the words before a word tell its lane
    bool is_of_one_lane;
  };
  /// Who used an atomic, or another strong access that stores, in a word: the first one. And who
  /// read it by a plain load, where the word's own record has a strong one of another block.
  struct Update {
    Site site, reader;
    std::uint8_t bytes = 0, read = 0;  ///< of the word
    std::uint8_t flags = 0, reader_flags = 0;
    bool knows_thread = false, knows_reader = false;
  };
  /// 4 KiB of memory: blocks that are run as samples touch little here and there.
  static constexpr std::uint64_t kSectorsPerPage = 128;
  static constexpr std::size_t kMaxPages = 1 << 19;
  using Page = std::array<Use, kSectorsPerPage>;
  static constexpr std::uint32_t kBytesPerWord = 4;
  using Words = std::array<Use, kWordsPerSector>;
  using Updates = std::array<Update, kWordsPerSector>;
  using Bytes = std::array<Use, kBytesPerWord>;

  Use* use_of(std::uint64_t sector);
  void touch(const Access& access, std::uint8_t words, std::uint32_t bytes);
  /// How an access is ordered, as flags of a use.
  static std::uint8_t flags_of_reader(const Access& access);
  static std::uint8_t flags_of_writer(const Access& access);
  static bool hides_plain_load(const Use& use, const Access& access);
  static bool touch_whole(Use& use, const Access& access, std::uint8_t bits);
  static std::uint8_t touch_of(const Access& access);
  static std::uint8_t joined(std::uint8_t known, const Site& site, const Access& access);
  void touch_words(Use& sector, const Access& access, std::uint32_t bytes);
  void touch_word(Use& word, const Access& access, std::uint8_t bytes);
  Update& update_of(std::size_t part, std::size_t word);
  void meet_update(const Update& update, const Access& access, std::uint8_t bytes);
  void update_word(const Use& word, Update& update, const Access& access, std::uint8_t bytes);
  static Access at_byte(const Access& access, std::uint8_t bytes, std::uint32_t byte);
  void touch_bytes(Use& word, const Access& access, std::uint8_t bytes);
  std::pair<std::uint32_t, std::uint32_t> bytes_touched(const Use& word) const;
  static bool knows_thread_of(const Access& access, std::uint8_t bytes);
  static Site at_overlap(Site site, std::uint8_t bytes, std::uint8_t overlap, std::uint8_t touch);
  static Access at_overlap(const Access& access, std::uint8_t bytes, std::uint8_t overlap);
  void judge(const Use& use, const Access& access, std::uint8_t bits);
  bool leaves_the_same(const Access& access, std::uint8_t bytes) const;
  static void record(Use& use, const Access& access, std::uint8_t bits);
  template <std::size_t count>
  bool split(Use& use, std::vector<std::array<Use, count>>& parts);
  /// The side of a conflict that came before.
  struct Earlier {
    Site site;
    std::uint8_t order = 0;  ///< kReleased …
    std::uint8_t overlap = 0;
    AccessKind kind = AccessKind::load;
    bool is_strong = false;
    bool knows_thread = true;
  };
  void report(const Earlier& other, const Access& access);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  /// The pages used lately, by the low bits of their number: a kernel walks through a few arrays at
  /// once.
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Recent, 256> recent_;
  std::vector<Words> words_;
  std::vector<Updates> updates_;  ///< as words_, as far as there were any
  std::vector<Bytes> bytes_;
  std::vector<RawFinding> findings_;
  std::unordered_map<std::uint64_t, std::size_t> finding_of_;  // by pair of instructions
  StoredValues values_;
  const DeviceMemory* left_ = nullptr;  ///< by the block whose log is gone through
  bool any_ = false;
  bool untracked_ = false;
};

}  // namespace simgpu
