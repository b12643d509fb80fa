#include "simgpu/counters/word_conflicts.h"

#include <algorithm>

namespace simgpu {

using Kind = TrafficEntry::Kind;

void WordConflicts::add(const TrafficLog& log) {
  any_ = any_ || log.unlogged_reads + log.unlogged_writes > 0;
  const auto block = static_cast<std::uint32_t>(log.block + 1);
  constexpr std::size_t kFetchAhead = 8;
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    if (any_) return;
    if (i + kFetchAhead < log.entries.size()) fetch(log.entries[i + kFetchAhead]);
    if (log.entries[i].kind != Kind::bytes) add(log.entries[i], block);
  }
}

/// Has the processor fetch what is known of an entry's line, which is looked at soon.
void WordConflicts::fetch(const TrafficEntry& entry) const {
  const std::uint64_t line = entry.sector() / kSectorsPerLine;
  const Recent& recent = recent_[line / kLinesPerPage % recent_.size()];
  if (recent.number == line / kLinesPerPage) {
    __builtin_prefetch(&(*recent.page)[line % kLinesPerPage]);
  }
}

/// Atomics, and what is ordered as they are, count as loads.
void WordConflicts::add(const TrafficEntry& entry, std::uint32_t block) {
  std::uint64_t sector = entry.sector();
  std::uint32_t left = entry.count;
  while (left > 0) {
    const auto first = static_cast<std::uint32_t>(sector % kSectorsPerLine);
    const std::uint32_t here = std::min(left, static_cast<std::uint32_t>(kSectorsPerLine) - first);
    const std::uint32_t in_sectors = (~std::uint32_t{0} >> (32 - kWordsPerSector * here))
                                     << (kWordsPerSector * first);
    const std::uint32_t words = (entry.words * 0x01010101U) & in_sectors;
    Line* const line = find(sector / kSectorsPerLine);
    if (line == nullptr) {
      any_ = true;
      return;
    }
    if (line->parts != 0) {
      touch_each(*line, words, block, entry.kind == Kind::store);
    } else if (entry.kind == Kind::store) {
      store(*line, words, block);
    } else {
      load(*line, words, block);
    }
    sector += here;
    left -= here;
  }
}

WordConflicts::Line* WordConflicts::find(std::uint64_t line) {
  const std::uint64_t number = line / kLinesPerPage;
  Recent& recent = recent_[number % recent_.size()];
  if (number != recent.number) {
    if (pages_.size() > kMostPages) return nullptr;
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    recent = {number, page.get()};
  }
  return &(*recent.page)[line % kLinesPerPage];
}

void WordConflicts::load(Line& line, std::uint32_t words, std::uint32_t block) {
  if (line.writer != 0 && line.writer != block && (line.written & words) != 0) {
    any_ = true;
    return;
  }
  if (line.first_reader == 0 || line.first_reader == block) {
    line.first_reader = block;
    line.read_by_several |= words & line.read_second;
    line.read_first |= words;
    return;
  }
  const std::uint32_t others = words & line.read_first;
  const std::uint32_t own = words & ~line.read_first;
  line.read_by_several |= others;
  if (own == 0) return;
  if (line.second_reader == 0 || line.second_reader == block) {
    line.second_reader = block;
    line.read_second |= own;
    return;
  }
  line.read_by_several |= own & line.read_second;
  if ((own & ~line.read_second) != 0 && split(line)) touch_each(line, words, block, false);
}

void WordConflicts::store(Line& line, std::uint32_t words, std::uint32_t block) {
  const bool others_wrote = line.writer != 0 && line.writer != block && (line.written & words) != 0;
  const bool others_read = (line.read_by_several & words) != 0 ||
                           (line.first_reader != block && (line.read_first & words) != 0) ||
                           (line.second_reader != block && (line.read_second & words) != 0);
  if (others_wrote || others_read) {
    any_ = true;
    return;
  }
  if (line.writer == 0 || line.writer == block) {
    line.writer = block;
    line.written |= words;
  } else if (split(line)) {
    touch_each(line, words, block, true);
  }
}

void WordConflicts::touch_each(Line& line, std::uint32_t words, std::uint32_t block, bool stores) {
  Words& parts = words_[line.parts - 1];
  for (; words != 0; words &= words - 1) {
    Word& word = parts[static_cast<unsigned>(__builtin_ctz(words))];
    const bool others_wrote = word.writer != 0 && word.writer != block;
    const bool others_read = word.reader != 0 && word.reader != block;
    any_ = any_ || others_wrote || (stores && others_read);
    if (stores) {
      word.writer = block;
    } else {
      word.reader = others_read ? kSeveral : block;
    }
  }
}

/// Gives each word a record of its own. False, and any(), when there are too many.
bool WordConflicts::split(Line& line) {
  if (words_.size() >= kMostSplit) {
    any_ = true;
    return false;
  }
  Words& parts = words_.emplace_back();
  for (std::uint32_t i = 0; i < kWordsPerLine; ++i) {
    const auto in = [i](std::uint32_t words) { return (words >> i & 1U) != 0; };
    Word& word = parts[i];
    if (in(line.written)) word.writer = line.writer;
    if (in(line.read_by_several)) {
      word.reader = kSeveral;
    } else if (in(line.read_first)) {
      word.reader = line.first_reader;
    } else if (in(line.read_second)) {
      word.reader = line.second_reader;
    }
  }
  line.parts = static_cast<std::uint32_t>(words_.size());
  return true;
}

}  // namespace simgpu
