#include "simgpu/counters/block_conflicts.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "simgpu/memory/device_memory.h"

namespace simgpu {
namespace {

using Kind = TrafficEntry::Kind;

constexpr std::uint32_t kWholeWord = 0xf;
constexpr std::uint32_t kWarpBits = 5;
constexpr std::uint32_t kLaneBits = 5;
constexpr std::uint32_t kLargestPc = (1U << (32 - kWarpBits - kLaneBits)) - 1;
constexpr std::size_t kMaxFindings = 64;
constexpr std::size_t kMaxSplit = std::size_t{1} << 22;  // of sectors, and of words

// How an access is ordered. "Released": the block used a fence and then an atomic later, or another
// strong access that others can see; "acquired": it had used one before. A store that is released
// and an access that is acquired are ordered when the block that stored came first, as in the
// last-block-reduces pattern (store, fence, atomic counter, then read by the last block).
// "Signals": an atomic follows, with a fence before it or without.
constexpr std::uint8_t kReleased = 1;
constexpr std::uint8_t kAcquired = 2;
constexpr std::uint8_t kSignals = 4;
constexpr std::uint8_t kOrder = kReleased | kAcquired | kSignals;
// Flags of a use: the writer's order, the reader's above it, and whether the reader is strong.
constexpr int kReaderShift = 3;
constexpr std::uint8_t kOfReader = kOrder << kReaderShift;
constexpr std::uint8_t kReaderStrong = 64;

std::uint32_t pack(std::uint32_t pc, std::uint32_t warp, std::uint32_t lane) {
  return std::min(pc, kLargestPc) << (kWarpBits + kLaneBits) | (warp & 31U) << kLaneBits |
         (lane & 31U);
}
std::uint32_t pc_of(std::uint32_t where) { return where >> (kWarpBits + kLaneBits); }
std::uint16_t warp_of(std::uint32_t where) {
  return static_cast<std::uint16_t>(where >> kLaneBits & 31U);
}
std::uint8_t lane_of(std::uint32_t where) { return static_cast<std::uint8_t>(where & 31U); }

/// `where` for one of the parts (`bytes_each`) of what lanes touch together: lanes take them in
/// ascending order, as in every access without gaps, so the touched bytes before it give the lane.
std::uint32_t at_part(std::uint32_t where, std::uint32_t part, std::uint32_t touched,
                      std::uint32_t bytes_each, std::uint32_t access_bytes) {
  const auto before = static_cast<std::uint32_t>(std::popcount(touched & ((1U << part) - 1U)));
  const std::uint32_t lane = lane_of(where) + bytes_each * before / std::max(access_bytes, 1U);
  return (where & ~31U) | std::min(lane, 31U);
}

std::uint32_t log2_of(std::uint8_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(bytes) - 1) & 7U;
}

// What a use knows of the threads that touched it, four bits: log2 of the bytes that each lane
// touched, or kOneThread where a single one touched all of it; and kManyThreads where several
// accesses did, or one whose lanes are in no order. Which of them touched a part is then unknown.
constexpr std::uint8_t kOneThread = 7;
constexpr std::uint8_t kManyThreads = 8;
constexpr std::uint8_t kTouch = 15;
constexpr int kReaderTouchShift = 4;
std::uint32_t width_of(std::uint8_t touch) { return 1U << (touch & kOneThread); }
bool knows_thread(std::uint8_t touch) { return (touch & kManyThreads) == 0; }

/// What races with plain loads and stores, but with nothing like it.
bool updates(Kind kind) { return kind == Kind::atomic || kind == Kind::strong_store; }

}  // namespace

void BlockConflicts::add(const TrafficLog& log, const DeviceMemory* left) {
  left_ = left;
  untracked_ = untracked_ || log.unlogged_reads + log.unlogged_writes > 0;
  const auto block = static_cast<std::uint32_t>(log.block + 1);
  const auto last_signal = std::find_if(log.entries.rbegin(), log.entries.rend(),
                                        [](const TrafficEntry& one) { return updates(one.kind); });
  const auto signals = static_cast<std::size_t>(log.entries.rend() - last_signal);
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == Kind::bytes) continue;
    const std::uint32_t bytes = log.narrowed_bytes(i);
    const std::uint8_t flags = static_cast<std::uint8_t>((i < log.released ? kReleased : 0) |
                                                         (i >= log.acquired ? kAcquired : 0) |
                                                         (i + 1 < signals ? kSignals : 0));
    const int touched = bytes != 0 ? std::popcount(bytes)
                                   : std::popcount(entry.words) * static_cast<int>(kBytesPerWord);
    const bool is_of_one_lane = touched <= entry.access_bytes;
    for (std::uint32_t k = 0; k < entry.count; ++k) {
      const Access access{entry.kind,
                          entry.sector() + k,
                          {block, pack(entry.pc, entry.warp, entry.lane_of_sector(k))},
                          flags,
                          entry.access_bytes,
                          0,
                          entry.mixes == 0,
                          is_of_one_lane};
      touch(access, entry.words, bytes);
    }
  }
  if (left != nullptr) values_.keep(log, *left);
}

/// Whether a plain store over another block's leaves what that one left, byte by byte: the result
/// does not depend on which of them comes last.
bool BlockConflicts::leaves_the_same(const Access& access, std::uint8_t bytes) const {
  return access.kind == Kind::store && left_ != nullptr &&
         values_.hold(*left_, access.sector, std::uint32_t{bytes} << access.first_byte);
}

BlockConflicts::Use* BlockConflicts::use_of(std::uint64_t sector) {
  const std::uint64_t number = sector / kSectorsPerPage;
  Recent& recent = recent_[number % recent_.size()];
  if (number != recent.number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) {
      if (pages_.size() > kMaxPages) {
        pages_.erase(number);
        return nullptr;
      }
      page = std::make_unique<Page>();
    }
    recent = {number, page.get()};
  }
  return &(*recent.page)[sector % kSectorsPerPage];
}

void BlockConflicts::touch(const Access& access, std::uint8_t words, std::uint32_t bytes) {
  Use* const use = use_of(access.sector);
  if (use == nullptr) {
    untracked_ = true;
    return;
  }
  if (use->parts == 0) {
    if (bytes == 0 && !updates(access.kind) && touch_whole(*use, access, words)) return;
    if (!split(*use, words_)) return;
  }
  if (bytes == 0) {
    for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
      if ((words >> word & 1U) != 0) bytes |= kWholeWord << (kBytesPerWord * word);
    }
  }
  touch_words(*use, access, bytes);
}

std::uint8_t BlockConflicts::flags_of_writer(const Access& access) { return access.flags; }

std::uint8_t BlockConflicts::flags_of_reader(const Access& access) {
  return static_cast<std::uint8_t>(access.flags << kReaderShift |
                                   (is_strong(access.kind) ? kReaderStrong : 0));
}

/// The common case, a sector or word that needs no splitting. False when it does, or when the
/// access may conflict.
bool BlockConflicts::touch_whole(Use& use, const Access& access, std::uint8_t bits) {
  const bool own_write = use.writer.block == 0 || use.writer.block == access.site.block;
  const bool own_read = use.reader.block == 0 || use.reader.block == access.site.block;
  // What a block did before and after it synchronised is ordered in different ways.
  if (access.kind == Kind::store) {
    if (!own_write || (!own_read && (use.read & bits) != 0)) return false;
    const bool same_order = (use.flags & kOrder) == flags_of_writer(access);
    if (!same_order && (use.written & ~bits) != 0) return false;
  } else {
    if (!own_write && (use.written & bits) != 0) return false;
    if (hides_plain_load(use, access)) return false;
    const bool same_order = (use.flags & (kOfReader | kReaderStrong)) == flags_of_reader(access);
    if (!same_order && use.read != 0 && (bits & ~use.read) != 0) return false;
    // A load of what the first reader read adds nothing: who stores there conflicts with the first.
    if (!own_read && (bits & ~use.read) != 0) return false;
  }
  record(use, access, bits);
  return true;
}

void BlockConflicts::touch_words(Use& sector, const Access& access, std::uint32_t bytes) {
  for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
    const std::uint32_t first = kBytesPerWord * word;
    const auto bits = static_cast<std::uint8_t>(bytes >> first & kWholeWord);
    if (bits == 0) continue;
    Access narrow = access;
    narrow.first_byte = first;
    narrow.site.where = at_part(access.site.where, first, bytes, 1, access.access_bytes);
    narrow.is_of_one_lane = access.is_of_one_lane || access.access_bytes >= kBytesPerWord;
    const std::size_t part = sector.parts - 1;
    if (updates(access.kind)) {
      update_word(words_[part][word], update_of(part, word), narrow, bits);
      continue;
    }
    if (part < updates_.size()) meet_update(updates_[part][word], narrow, bits);
    if (hides_plain_load(words_[part][word], narrow)) {
      Update& update = update_of(part, word);
      if (update.reader.block == 0) {
        update.reader = narrow.site;
        update.reader_flags = access.flags;
        update.knows_reader = knows_thread_of(access, bits);
      }
      if (update.reader != narrow.site && (bits & ~update.read) != 0) update.knows_reader = false;
      update.read = static_cast<std::uint8_t>(update.read | bits);
    }
    touch_word(words_[part][word], narrow, bits);
  }
}

/// A strong load of another block is on record, which atomics do not race with.
bool BlockConflicts::hides_plain_load(const Use& use, const Access& access) {
  return access.kind != Kind::store && !is_strong(access.kind) && use.reader.block != 0 &&
         use.reader.block != access.site.block && (use.flags & kReaderStrong) != 0;
}

BlockConflicts::Update& BlockConflicts::update_of(std::size_t part, std::size_t word) {
  if (updates_.size() <= part) updates_.resize(words_.size());
  return updates_[part][word];
}

/// A plain access, or a strong load, where there was an atomic.
void BlockConflicts::meet_update(const Update& update, const Access& access, std::uint8_t bytes) {
  if (update.site.block == 0 || update.site.block == access.site.block) return;
  if (access.kind == Kind::store) any_ = true;
  const auto overlap = static_cast<std::uint8_t>(update.bytes & bytes);
  if (overlap == 0 || is_strong(access.kind)) return;
  report({update.site, update.flags, overlap, AccessKind::atomic, true, update.knows_thread},
         at_overlap(access, bytes, overlap));
}

void BlockConflicts::update_word(const Use& word, Update& update, const Access& access,
                                 std::uint8_t bytes) {
  if (word.writer.block != 0 && word.writer.block != access.site.block) any_ = true;
  if (word.parts == 0) {
    judge(word, access, bytes);
  } else {
    for (std::uint32_t byte = 0; byte < kBytesPerWord; ++byte) {
      if ((bytes >> byte & 1U) == 0) continue;
      judge(bytes_[word.parts - 1][byte], at_byte(access, bytes, byte), 1);
    }
  }
  const auto overlap = static_cast<std::uint8_t>(update.read & bytes);
  if (update.reader.block != 0 && update.reader.block != access.site.block && overlap != 0) {
    report(
        {update.reader, update.reader_flags, overlap, AccessKind::load, false, update.knows_reader},
        access);
  }
  if (update.site.block == 0) {
    update.site = access.site;
    update.flags = access.flags;
    update.knows_thread = knows_thread_of(access, bytes);
  }
  if (update.site != access.site && (bytes & ~update.bytes) != 0) update.knows_thread = false;
  if (update.site.block == access.site.block) update.flags = access.flags & update.flags;
  update.bytes = static_cast<std::uint8_t>(update.bytes | bytes);
}

/// A word's own record is kept up even when it is split: that blocks touch one word tells that
/// their order may matter, whether or not they share a byte.
void BlockConflicts::touch_word(Use& word, const Access& access, std::uint8_t bytes) {
  const bool other_wrote = word.writer.block != 0 && word.writer.block != access.site.block;
  const bool other_read = word.reader.block != 0 && word.reader.block != access.site.block;
  if (other_wrote || (other_read && access.kind == Kind::store)) any_ = true;
  if (word.parts == 0) {
    if (touch_whole(word, access, bytes)) return;
    const auto whole = [](std::uint8_t bits) { return bits == 0 || bits == kWholeWord; };
    if (whole(bytes) && whole(word.written) && whole(word.read)) {
      judge(word, access, bytes);
      record(word, access, bytes);
      return;
    }
    if (!split(word, bytes_)) return;
  }
  record(word, access, bytes);
  touch_bytes(word, access, bytes);
}

/// What an access to some bytes of a word does to one of them.
BlockConflicts::Access BlockConflicts::at_byte(const Access& access, std::uint8_t bytes,
                                               std::uint32_t byte) {
  Access narrow = access;
  narrow.first_byte = access.first_byte + byte;
  narrow.is_of_one_lane = true;
  narrow.site.where = at_part(access.site.where, byte, bytes, 1, access.access_bytes);
  return narrow;
}

void BlockConflicts::touch_bytes(Use& word, const Access& access, std::uint8_t bytes) {
  std::array<Site, 3> judged{};  // two threads that share several bytes count once
  for (std::uint32_t byte = 0; byte < kBytesPerWord; ++byte) {
    if ((bytes >> byte & 1U) == 0) continue;
    const Access narrow = at_byte(access, bytes, byte);
    Use& use = bytes_[word.parts - 1][byte];
    const std::array<Site, 3> threads{narrow.site, use.writer, use.reader};
    if (threads != judged) judge(use, narrow, 1);
    judged = threads;
    record(use, narrow, 1);
  }
}

/// Whether an access's site is that of all these bytes of a word.
bool BlockConflicts::knows_thread_of(const Access& access, std::uint8_t bytes) {
  return access.knows_thread && std::popcount(bytes) <= access.access_bytes;
}

/// The same access, as that of the thread that touches the first byte of `overlap` among `bytes`.
BlockConflicts::Access BlockConflicts::at_overlap(const Access& access, std::uint8_t bytes,
                                                  std::uint8_t overlap) {
  Access at = access;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(overlap));
  at.site.where = at_part(access.site.where, first, bytes, 1, access.access_bytes);
  return at;
}

/// Likewise of an earlier access, of which it is known how its threads touched the bytes.
BlockConflicts::Site BlockConflicts::at_overlap(Site site, std::uint8_t bytes, std::uint8_t overlap,
                                                std::uint8_t touch) {
  const auto first = static_cast<std::uint32_t>(std::countr_zero(overlap));
  site.where = at_part(site.where, first, bytes, 1, width_of(touch));
  return site;
}

/// Holds an access against what is known of a word or byte.
void BlockConflicts::judge(const Use& use, const Access& access, std::uint8_t bits) {
  const auto by_another = [&](Site site) {
    return site.block != 0 && site.block != access.site.block;
  };
  const bool strong_reader = (use.flags & kReaderStrong) != 0;
  if (by_another(use.writer) && (use.written & bits) != 0) {
    const auto order = static_cast<std::uint8_t>(use.flags & kOrder);
    const auto overlap = static_cast<std::uint8_t>(bits & use.written);
    if (!leaves_the_same(access, overlap)) {
      report({at_overlap(use.writer, use.written, overlap, use.widths), order, overlap,
              AccessKind::store, false, knows_thread(use.widths)},
             at_overlap(access, bits, overlap));
    }
  }
  const bool meets_reader = access.kind == Kind::store || (updates(access.kind) && !strong_reader);
  if (meets_reader && by_another(use.reader) && (use.read & bits) != 0) {
    const auto order = static_cast<std::uint8_t>((use.flags & kOfReader) >> kReaderShift);
    const auto overlap = static_cast<std::uint8_t>(bits & use.read);
    const auto touch = static_cast<std::uint8_t>(use.widths >> kReaderTouchShift);
    report({at_overlap(use.reader, use.read, overlap, touch), order, overlap, AccessKind::load,
            strong_reader, knows_thread(touch)},
           at_overlap(access, bits, overlap));
  }
}

/// Of a use that one access has touched.
std::uint8_t BlockConflicts::touch_of(const Access& access) {
  const std::uint32_t width = access.is_of_one_lane ? kOneThread : log2_of(access.access_bytes);
  return static_cast<std::uint8_t>(width | (access.knows_thread ? 0U : kManyThreads));
}

/// Of a use that `site` has touched, as `known` says, and now another access in other places.
std::uint8_t BlockConflicts::joined(std::uint8_t known, const Site& site, const Access& access) {
  const bool is_same_thread =
      known == kOneThread && touch_of(access) == kOneThread && site == access.site;
  return is_same_thread ? kOneThread : static_cast<std::uint8_t>(known | kManyThreads);
}

void BlockConflicts::record(Use& use, const Access& access, std::uint8_t bits) {
  const auto with_reader = [&](std::uint8_t touch) {
    return static_cast<std::uint8_t>((use.widths & kTouch) | touch << kReaderTouchShift);
  };
  if (access.kind == Kind::store) {
    if (use.writer.block != 0 && use.writer.block != access.site.block) return;  // the first stays
    const bool has_more = (use.written & ~bits) != 0;
    const std::uint8_t touch =
        has_more ? joined(use.widths & kTouch, use.writer, access) : touch_of(access);
    use.writer = access.site;
    use.written = static_cast<std::uint8_t>(use.written | bits);
    use.widths = static_cast<std::uint8_t>((use.widths & ~kTouch) | touch);
    use.flags = static_cast<std::uint8_t>((use.flags & ~kOrder) | flags_of_writer(access));
    return;
  }
  // A plain load says more than a strong one, which atomics do not race with.
  const bool replaces =
      use.reader.block == 0 ||
      (use.reader.block == access.site.block && (use.flags & kReaderStrong) != 0 &&
       !is_strong(access.kind) && (use.read & ~bits) == 0);
  if (!replaces && (bits & ~use.read) != 0) {
    use.widths = with_reader(joined(use.widths >> kReaderTouchShift, use.reader, access));
  }
  use.read = static_cast<std::uint8_t>(use.read | bits);
  if (!replaces) return;
  use.reader = access.site;
  use.widths = with_reader(touch_of(access));
  use.flags = static_cast<std::uint8_t>((use.flags & kOrder) | flags_of_reader(access));
}

/// Gives each part of a sector or word its own record. False when there are too many.
template <std::size_t count>
bool BlockConflicts::split(Use& use, std::vector<std::array<Use, count>>& parts) {
  if (parts.size() >= kMaxSplit) {
    untracked_ = true;
    return false;
  }
  constexpr bool sector = count == kWordsPerSector;
  constexpr std::uint32_t part_bytes = sector ? kBytesPerWord : 1;
  constexpr std::uint8_t whole = sector ? kWholeWord : 1;
  const auto site_of = [](Site site, std::uint32_t part, std::uint8_t bits, std::uint32_t width) {
    site.where = at_part(site.where, part, bits, part_bytes, width);
    return site;
  };
  std::array<Use, count>& split = parts.emplace_back();
  for (std::uint32_t i = 0; i < count; ++i) {
    Use& part = split[i];
    part.widths = use.widths;
    if ((use.written >> i & 1U) != 0) {
      part.writer = site_of(use.writer, i, use.written, width_of(use.widths));
      part.written = whole;
      part.flags = static_cast<std::uint8_t>(use.flags & kOrder);
    }
    if ((use.read >> i & 1U) != 0) {
      part.reader = site_of(use.reader, i, use.read, width_of(use.widths >> kReaderTouchShift));
      part.read = whole;
      part.flags = static_cast<std::uint8_t>(part.flags | (use.flags & ~kOrder));
    }
  }
  use.parts = static_cast<std::uint32_t>(parts.size());
  return true;
}

void BlockConflicts::report(const Earlier& other, const Access& access) {
  const auto ordered_by = [&](std::uint8_t first) {
    return ((other.order & first) != 0 && (access.flags & kAcquired) != 0) ||
           ((other.order & kAcquired) != 0 && (access.flags & first) != 0);
  };
  // The last of all blocks to use an atomic may store where they did: a counter goes back to 0.
  const bool after_atomics =
      other.is_strong && access.kind == Kind::store && (access.flags & kAcquired) != 0;
  if (ordered_by(kReleased) || after_atomics) return;
  const std::uint32_t pc = pc_of(access.site.where);
  const std::uint32_t other_pc = pc_of(other.site.where);
  const std::uint64_t pair = std::uint64_t{pc} << 32 | other_pc;
  const auto known = finding_of_.find(pair);
  if (known != finding_of_.end()) {
    ++findings_[known->second].occurrences;
    return;
  }
  if (findings_.size() >= kMaxFindings) return;
  finding_of_[pair] = findings_.size();
  RawFinding& finding = findings_.emplace_back();
  finding.code = "RL0304";
  finding.pc = pc;
  finding.block = access.site.block - 1;
  finding.warp = warp_of(access.site.where);
  finding.lane = lane_of(access.site.where);
  finding.knows_thread = access.knows_thread;
  finding.kind = access_kind(access.kind);
  finding.bytes = access.access_bytes;
  finding.address = kDeviceBase + access.sector * kSectorBytes + access.first_byte +
                    static_cast<std::uint64_t>(std::countr_zero(other.overlap));
  finding.has_other = true;
  finding.other_pc = other_pc;
  finding.other_block = other.site.block - 1;
  finding.other_warp = warp_of(other.site.where);
  finding.other_lane = lane_of(other.site.where);
  finding.other_knows_thread = other.knows_thread;
  finding.other_kind = other.kind;
  finding.lacks_fence = ordered_by(kSignals);
}

/// The bytes of a word that were read and written. Of one that is split, its own record has only
/// what the first block did.
std::pair<std::uint32_t, std::uint32_t> BlockConflicts::bytes_touched(const Use& word) const {
  std::uint32_t read = word.read, written = word.written;
  for (std::uint32_t byte = 0; word.parts != 0 && byte < kBytesPerWord; ++byte) {
    const Use& part = bytes_[word.parts - 1][byte];
    read |= std::uint32_t{part.read != 0} << byte;
    written |= std::uint32_t{part.written != 0} << byte;
  }
  return {read, written};
}

/// Of a sector that is split, the parts know what was touched.
std::vector<TouchedSector> BlockConflicts::touched() const {
  std::vector<TouchedSector> all;
  const auto take = [](TouchedSector& sector, const Use& use, std::uint32_t read,
                       std::uint32_t written) {
    if (read != 0) sector.reader_pc = pc_of(use.reader.where);
    if (written != 0) sector.writer_pc = pc_of(use.writer.where);
    sector.read |= read;
    sector.written |= written;
    sector.changed |= written;
  };
  for (const auto& [number, page] : pages_) {
    if (page == nullptr) continue;
    for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
      const Use& use = (*page)[i];
      TouchedSector sector{.sector = number * kSectorsPerPage + i};
      take(sector, use, bytes_of_words(use.read), bytes_of_words(use.written));
      for (std::uint32_t word = 0; use.parts != 0 && word < kWordsPerSector; ++word) {
        const Use& part = words_[use.parts - 1][word];
        const std::uint32_t first = kBytesPerWord * word;
        const auto [read, written] = bytes_touched(part);
        take(sector, part, read << first, written << first);
        if (use.parts > updates_.size()) continue;
        const Update& update = updates_[use.parts - 1][word];
        if (update.bytes == 0) continue;
        sector.reader_pc = pc_of(update.site.where);
        sector.read |= std::uint32_t{update.bytes} << first;
        sector.changed |= std::uint32_t{update.bytes} << first;
      }
      if ((sector.read | sector.written) != 0) all.push_back(sector);
    }
  }
  std::ranges::sort(all, {}, &TouchedSector::sector);
  return all;
}

std::vector<RawFinding> BlockConflicts::take_findings() {
  finding_of_.clear();
  return std::exchange(findings_, {});
}

}  // namespace simgpu
