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

// Flags of a use. "released": the block used a fence and then an atomic later, or another
// strong access that others can see; "acquired": it had used one before. A store that is released
// and an access that is acquired are ordered when the block that stored came first, as in the
// last-block-reduces pattern (store, fence, atomic counter, then read by the last block).
constexpr std::uint8_t kReaderAtomic = 1;
constexpr std::uint8_t kWriterReleased = 2;
constexpr std::uint8_t kWriterAcquired = 4;
constexpr std::uint8_t kReaderReleased = 8;
constexpr std::uint8_t kReaderAcquired = 16;
constexpr std::uint8_t kReaderChanges = 32;  // an atomic or a strong store, which count as reads
constexpr std::uint8_t kReleased = 1;        // of an access
constexpr std::uint8_t kAcquired = 2;
constexpr std::uint8_t kChanges = 4;

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

bool changes(Kind kind) { return kind == Kind::atomic || kind == Kind::strong_store; }

AccessKind access_kind(Kind kind) {
  if (kind == Kind::store || kind == Kind::strong_store) return AccessKind::store;
  return kind == Kind::atomic ? AccessKind::atomic : AccessKind::load;
}

}  // namespace

void BlockConflicts::add(const TrafficLog& log) {
  untracked_ = untracked_ || log.unlogged_reads + log.unlogged_writes > 0;
  const auto block = static_cast<std::uint32_t>(log.block + 1);
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    const TrafficEntry& entry = log.entries[i];
    if (entry.kind == Kind::bytes) continue;
    const bool narrow = i + 1 < log.entries.size() && log.entries[i + 1].kind == Kind::bytes;
    const std::uint32_t bytes = narrow ? log.entries[i + 1].byte_mask() : 0;
    const std::uint8_t flags = static_cast<std::uint8_t>((i < log.released ? kReleased : 0) |
                                                         (i >= log.acquired ? kAcquired : 0) |
                                                         (changes(entry.kind) ? kChanges : 0));
    for (std::uint32_t k = 0; k < entry.count; ++k) {
      const std::uint32_t lane = entry.lane + k * static_cast<std::uint32_t>(kSectorBytes) /
                                                  std::max<std::uint32_t>(entry.access_bytes, 1);
      const Access access{is_strong(entry.kind) ? Kind::atomic : entry.kind,
                          entry.sector() + k,
                          {block, pack(entry.pc, entry.warp, std::min(lane, kWarpSize - 1))},
                          flags,
                          entry.access_bytes,
                          0};
      touch(access, entry.words, bytes);
    }
  }
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
    if (bytes == 0 && touch_whole(*use, access, words)) return;
    if (!split(*use, words_)) return;
  }
  if (bytes == 0) {
    for (std::uint32_t word = 0; word < kWordsPerSector; ++word) {
      if ((words >> word & 1U) != 0) bytes |= kWholeWord << (kBytesPerWord * word);
    }
  }
  touch_words(*use, access, bytes);
}

std::uint8_t BlockConflicts::flags_of(const Access& access, std::uint8_t released,
                                      std::uint8_t acquired) {
  return static_cast<std::uint8_t>(((access.flags & kReleased) != 0 ? released : 0) |
                                   ((access.flags & kAcquired) != 0 ? acquired : 0));
}

/// The common case, a sector or word that needs no splitting. False when it does, or when the
/// access may conflict.
bool BlockConflicts::touch_whole(Use& use, const Access& access, std::uint8_t bits) {
  const bool own_write = use.writer.block == 0 || use.writer.block == access.site.block;
  const bool own_read = use.reader.block == 0 || use.reader.block == access.site.block;
  // What a block did before and after it synchronised is ordered in different ways.
  const std::uint8_t flags = access.kind == Kind::store
                                 ? flags_of(access, kWriterReleased, kWriterAcquired)
                                 : flags_of(access, kReaderReleased, kReaderAcquired);
  if (access.kind == Kind::store) {
    if (!own_write || (!own_read && (use.read & bits) != 0)) return false;
    const bool same_order = (use.flags & (kWriterReleased | kWriterAcquired)) == flags;
    if (!same_order && (use.written & ~bits) != 0) return false;
  } else {
    if (!own_write && (use.written & bits) != 0) return false;
    const bool same_order = (use.flags & (kReaderReleased | kReaderAcquired)) == flags;
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
    touch_word(words_[sector.parts - 1][word], narrow, bits);
  }
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

void BlockConflicts::touch_bytes(Use& word, const Access& access, std::uint8_t bytes) {
  std::array<Site, 3> judged{};  // two threads that share several bytes count once
  for (std::uint32_t byte = 0; byte < kBytesPerWord; ++byte) {
    if ((bytes >> byte & 1U) == 0) continue;
    Access narrow = access;
    narrow.first_byte = access.first_byte + byte;
    narrow.site.where = at_part(access.site.where, byte, bytes, 1, access.access_bytes);
    Use& use = bytes_[word.parts - 1][byte];
    const std::array<Site, 3> threads{narrow.site, use.writer, use.reader};
    if (threads != judged) judge(use, narrow, 1);
    judged = threads;
    record(use, narrow, 1);
  }
}

/// Holds an access against what is known of a word or byte.
void BlockConflicts::judge(const Use& use, const Access& access, std::uint8_t bits) {
  const auto by_another = [&](Site site) {
    return site.block != 0 && site.block != access.site.block;
  };
  if (by_another(use.writer) && (use.written & bits) != 0) report(use, true, access, bits);
  if (access.kind == Kind::store && by_another(use.reader) && (use.read & bits) != 0) {
    report(use, false, access, bits);
  }
}

void BlockConflicts::record(Use& use, const Access& access, std::uint8_t bits) {
  if (access.kind == Kind::store) {
    if (use.writer.block != 0 && use.writer.block != access.site.block) return;  // the first stays
    use.writer = access.site;
    use.written = static_cast<std::uint8_t>(use.written | bits);
    use.widths = static_cast<std::uint8_t>((use.widths & 0xf0U) | log2_of(access.access_bytes));
    use.flags = static_cast<std::uint8_t>(use.flags & ~(kWriterReleased | kWriterAcquired));
    use.flags |= flags_of(access, kWriterReleased, kWriterAcquired);
    return;
  }
  use.read = static_cast<std::uint8_t>(use.read | bits);
  if ((access.flags & kChanges) != 0) use.flags |= kReaderChanges;
  if (use.reader.block == 0) {
    use.reader = access.site;
    use.widths = static_cast<std::uint8_t>((use.widths & 0xfU) | log2_of(access.access_bytes) << 4);
    if (access.kind == Kind::atomic) use.flags |= kReaderAtomic;
    use.flags |= flags_of(access, kReaderReleased, kReaderAcquired);
  }
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
  constexpr std::uint8_t of_writer = kWriterReleased | kWriterAcquired;
  const auto site_of = [](Site site, std::uint32_t part, std::uint8_t bits, std::uint32_t width) {
    site.where = at_part(site.where, part, bits, part_bytes, 1U << width);
    return site;
  };
  std::array<Use, count>& split = parts.emplace_back();
  for (std::uint32_t i = 0; i < count; ++i) {
    Use& part = split[i];
    part.widths = use.widths;
    if ((use.written >> i & 1U) != 0) {
      part.writer = site_of(use.writer, i, use.written, use.widths & 0xfU);
      part.written = whole;
      part.flags = static_cast<std::uint8_t>(use.flags & of_writer);
    }
    if ((use.read >> i & 1U) != 0) {
      part.reader = site_of(use.reader, i, use.read, use.widths >> 4);
      part.read = whole;
      part.flags = static_cast<std::uint8_t>(part.flags | (use.flags & ~of_writer));
    }
  }
  use.parts = static_cast<std::uint32_t>(parts.size());
  return true;
}

void BlockConflicts::report(const Use& use, bool by_writer, const Access& access,
                            std::uint8_t bits) {
  const bool other_released = (use.flags & (by_writer ? kWriterReleased : kReaderReleased)) != 0;
  const bool other_acquired = (use.flags & (by_writer ? kWriterAcquired : kReaderAcquired)) != 0;
  const bool ordered = (other_released && (access.flags & kAcquired) != 0) ||
                       (other_acquired && (access.flags & kReleased) != 0);
  // The last of all blocks to use an atomic may store where they did: a counter goes back to 0.
  const bool after_atomics = !by_writer && (use.flags & kReaderAtomic) != 0 &&
                             access.kind == Kind::store && (access.flags & kAcquired) != 0;
  if (ordered || after_atomics) return;
  const Site other = by_writer ? use.writer : use.reader;
  const std::uint32_t pc = pc_of(access.site.where);
  const std::uint32_t other_pc = pc_of(other.where);
  const std::uint64_t pair = std::uint64_t{pc} << 32 | other_pc;
  const auto known = finding_of_.find(pair);
  if (known != finding_of_.end()) {
    ++findings_[known->second].occurrences;
    return;
  }
  if (findings_.size() >= kMaxFindings) return;
  finding_of_[pair] = findings_.size();
  const auto overlap = static_cast<std::uint8_t>(bits & (by_writer ? use.written : use.read));
  RawFinding& finding = findings_.emplace_back();
  finding.code = "RL0304";
  finding.pc = pc;
  finding.block = access.site.block - 1;
  finding.warp = warp_of(access.site.where);
  finding.lane = lane_of(access.site.where);
  finding.kind = access_kind(access.kind);
  finding.bytes = access.access_bytes;
  finding.address = kDeviceBase + access.sector * kSectorBytes + access.first_byte +
                    static_cast<std::uint64_t>(std::countr_zero(overlap));
  finding.has_other = true;
  finding.other_pc = other_pc;
  finding.other_block = other.block - 1;
  finding.other_warp = warp_of(other.where);
  finding.other_lane = lane_of(other.where);
  finding.other_kind = by_writer                          ? AccessKind::store
                       : (use.flags & kReaderAtomic) != 0 ? AccessKind::atomic
                                                          : AccessKind::load;
}

/// Of a sector that is split, the parts know what was touched.
std::vector<TouchedSector> BlockConflicts::touched() const {
  std::vector<TouchedSector> all;
  const auto take = [](TouchedSector& sector, const Use& use, std::uint32_t read,
                       std::uint32_t written) {
    if (read != 0) sector.reader_pc = pc_of(use.reader.where);
    if (written != 0) sector.writer_pc = pc_of(use.writer.where);
    sector.read = static_cast<std::uint8_t>(sector.read | read);
    sector.written = static_cast<std::uint8_t>(sector.written | written);
    const std::uint32_t changed_too = (use.flags & kReaderChanges) != 0 ? read : 0;
    sector.changed = static_cast<std::uint8_t>(sector.changed | written | changed_too);
  };
  for (const auto& [number, page] : pages_) {
    if (page == nullptr) continue;
    for (std::uint64_t i = 0; i < kSectorsPerPage; ++i) {
      const Use& use = (*page)[i];
      TouchedSector sector{.sector = number * kSectorsPerPage + i};
      take(sector, use, use.read, use.written);
      for (std::uint32_t word = 0; use.parts != 0 && word < kWordsPerSector; ++word) {
        const Use& part = words_[use.parts - 1][word];
        take(sector, part, std::uint32_t{part.read != 0} << word,
             std::uint32_t{part.written != 0} << word);
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
