#include "simgpu/provenance/memory_origins.h"

#include <algorithm>

namespace simgpu {
namespace {

/// A word in which `bytes` from byte `at` on are those of `value`.
ValueOrigins with_part(ByteOrigins& values, ValueOrigins word, unsigned at, unsigned bytes,
                       ValueOrigins value) {
  ByteOrigins::Bytes all{};
  for (unsigned i = 0; i < kOriginWord; ++i) all[i] = values.byte(word, i);
  for (unsigned i = 0; i < bytes; ++i) all[at + i] = values.byte(value, i);
  return values.value(all, kOriginWord);
}

/// @param word of a number
template <class Words>
ValueOrigins load_from(ByteOrigins& values, std::uint64_t address, unsigned bytes, Words word) {
  const std::uint64_t number = address / kOriginWord;
  if (bytes == kOriginWord) return word(number);
  if (bytes < kOriginWord) {
    return values.part(word(number), static_cast<unsigned>(address % kOriginWord), bytes);
  }
  return values.join(word(number), word(number + 1));
}

/// @param word reference to one of a number
template <class Words>
void store_to(ByteOrigins& values, std::uint64_t address, unsigned bytes, ValueOrigins value,
              Words word) {
  const std::uint64_t number = address / kOriginWord;
  if (bytes < kOriginWord) {
    ValueOrigins& at = word(number);
    at = with_part(values, at, static_cast<unsigned>(address % kOriginWord), bytes, value);
    return;
  }
  word(number) = values.part(value, 0, kOriginWord);
  if (bytes > kOriginWord) word(number + 1) = values.part(value, kOriginWord, kOriginWord);
}

}  // namespace

ValueOrigins OwnOrigins::load(ByteOrigins& values, std::uint64_t offset, unsigned bytes) const {
  return load_from(values, offset, bytes, [&](std::uint64_t number) -> ValueOrigins {
    if (number >= kMostWords) return OriginSets::kUnknown;
    return number < words_.size() ? words_[number] : OriginSets::kNone;
  });
}

void OwnOrigins::store(ByteOrigins& values, std::uint64_t offset, unsigned bytes,
                       ValueOrigins value) {
  const std::uint64_t end = (offset + bytes + kOriginWord - 1) / kOriginWord;
  if (end > kMostWords) return;
  if (end > words_.size()) words_.resize(std::max<std::size_t>(end, words_.size() * 2));
  store_to(values, offset, bytes, value,
           [&](std::uint64_t number) -> ValueOrigins& { return words_[number]; });
}

GlobalOrigins::Page* GlobalOrigins::find(std::uint64_t address) const {
  const std::uint64_t number = address / kPageBytes;
  if (number == last_number_) return last_;
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_number_ = number;
  last_ = found->second.get();
  return last_;
}

GlobalOrigins::Page* GlobalOrigins::make(std::uint64_t address) {
  if (Page* page = find(address)) return page;
  if (pages_.size() >= kMostPages) {
    is_full_ = true;
    return nullptr;
  }
  auto page = std::make_unique<Page>();
  page->words.fill(OriginSets::kOutside);
  Page* const made = page.get();
  pages_[address / kPageBytes] = std::move(page);
  return made;
}

const StoreNote& GlobalOrigins::note_of(const Page& page, std::uint64_t address) {
  const std::uint64_t at = address % kPageBytes;
  return page.by_byte ? (*page.by_byte)[at] : page.notes[at / kOriginWord];
}

void GlobalOrigins::note(Page& page, std::uint64_t address, unsigned bytes, const StoreNote& by) {
  const auto add = [&](StoreNote& note) {
    const std::uint32_t before = note.stores;
    note = by;
    note.stores = before + 1;
  };
  const std::uint64_t at = address % kPageBytes;
  if (bytes < kOriginWord && !page.by_byte) {
    page.by_byte = std::make_unique<std::array<StoreNote, kPageBytes>>();
    for (std::size_t i = 0; i < kPageBytes; ++i) (*page.by_byte)[i] = page.notes[i / kOriginWord];
  }
  if (page.by_byte) {
    for (unsigned i = 0; i < bytes; ++i) add((*page.by_byte)[at + i]);
  } else {
    for (unsigned i = 0; i < bytes; i += kOriginWord) add(page.notes[(at + i) / kOriginWord]);
  }
}

ValueOrigins GlobalOrigins::load(ByteOrigins& values, std::uint64_t address, unsigned bytes) const {
  const Page* page = find(address);
  if (page == nullptr) return is_full_ ? OriginSets::kUnknown : OriginSets::kOutside;
  return load_from(values, address % kPageBytes, bytes,
                   [&](std::uint64_t number) { return page->words[number]; });
}

void GlobalOrigins::store(ByteOrigins& values, std::uint64_t address, unsigned bytes,
                          ValueOrigins value, const StoreNote& by) {
  Page* page = make(address);
  if (page == nullptr) return;
  store_to(values, address % kPageBytes, bytes, value,
           [&](std::uint64_t number) -> ValueOrigins& { return page->words[number]; });
  note(*page, address, bytes, by);
}

void GlobalOrigins::fill(ByteOrigins& values, std::uint64_t address, std::uint64_t bytes,
                         OriginSet value) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t next = std::min(end, (address / kPageBytes + 1) * kPageBytes);
    if (make(address) == nullptr) address = next;
    while (address < next) {
      const bool is_word = address % kOriginWord == 0 && next - address >= kOriginWord;
      const unsigned count = is_word ? kOriginWord : 1;
      store(values, address, count, value, {});
      address += count;
    }
  }
}

void GlobalOrigins::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t next = std::min(end, (address / kPageBytes + 1) * kPageBytes);
    if (Page* page = find(address)) {
      if (next - address == kPageBytes) {
        pages_.erase(address / kPageBytes);
        last_number_ = ~std::uint64_t{0};
        last_ = nullptr;
      } else {
        // Allocations are aligned to far more than a word.
        for (std::uint64_t at = address; at < next; ++at) {
          page->words[at % kPageBytes / kOriginWord] = OriginSets::kOutside;
          page->notes[at % kPageBytes / kOriginWord] = {};
          if (page->by_byte) (*page->by_byte)[at % kPageBytes] = {};
        }
      }
    }
    address = next;
  }
}

StoreNote GlobalOrigins::stores(std::uint64_t address, std::uint64_t bytes) const {
  StoreNote most;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    const Page* page = find(address + i);
    if (page == nullptr) continue;
    const StoreNote& note = note_of(*page, address + i);
    if (note.stores > most.stores) most = note;
  }
  return most;
}

std::size_t GlobalOrigins::bytes() const {
  std::size_t bytes = pages_.size() * sizeof(Page);
  for (const auto& [number, page] : pages_) {
    if (page->by_byte) bytes += sizeof(*page->by_byte);
  }
  return bytes;
}

}  // namespace simgpu
