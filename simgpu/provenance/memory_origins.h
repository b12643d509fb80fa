#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simgpu/provenance/byte_origins.h"

/// What memory holds was made of, by words of four bytes. Accesses are aligned to their size.
namespace simgpu {

/// Bytes of a word, and of a half of one.
inline constexpr unsigned kOriginWord = 4, kOriginHalf = 2;

/// Memory of a block or of a thread, which nothing but the kernel writes to.
class OwnOrigins {
 public:
  void clear() { words_.clear(); }
  ValueOrigins load(ByteOrigins& values, std::uint64_t offset, unsigned bytes) const;
  void store(ByteOrigins& values, std::uint64_t offset, unsigned bytes, ValueOrigins value);

 private:
  /// More than a block or a thread has; what is stored beyond is unknown.
  static constexpr std::size_t kMostWords = std::size_t{1} << 20;
  std::vector<ValueOrigins> words_;  // as far as something was stored
};

/// Who stored to global memory last, and how often anybody did.
struct StoreNote {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;
  std::uint32_t launch = 0, site = 0;  ///< as in LoadEvent; 0: no kernel
  std::uint32_t stores = 0;
};

/// Global memory, over all launches. What nobody stored to came from outside.
class GlobalOrigins {
 public:
  /// May have OriginSets::kOutside in it. kUnknown where there was no more room.
  ValueOrigins load(ByteOrigins& values, std::uint64_t address, unsigned bytes) const;
  /// @param by whoever stores; its count does not matter
  void store(ByteOrigins& values, std::uint64_t address, unsigned bytes, ValueOrigins value,
             const StoreNote& by);
  /// A range of any alignment gets `value`, the same for each byte.
  void fill(ByteOrigins& values, std::uint64_t address, std::uint64_t bytes, OriginSet value);
  /// The range is as if nobody had ever stored to it.
  void forget(std::uint64_t address, std::uint64_t bytes);
  /// Of the byte that was stored to most often.
  StoreNote stores(std::uint64_t address, std::uint64_t bytes) const;

  std::size_t bytes() const;

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  static constexpr std::size_t kMostPages = 1U << 12;
  struct Page {
    std::array<ValueOrigins, kPageBytes / kOriginWord> words;
    std::array<StoreNote, kPageBytes / kOriginWord> notes;
    std::unique_ptr<std::array<StoreNote, kPageBytes>> by_byte;  // once a smaller part was stored
  };

  Page* find(std::uint64_t address) const;
  Page* make(std::uint64_t address);
  static void note(Page& page, std::uint64_t address, unsigned bytes, const StoreNote& by);
  static const StoreNote& note_of(const Page& page, std::uint64_t address);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  mutable std::uint64_t last_number_ = ~std::uint64_t{0};
  mutable Page* last_ = nullptr;
  bool is_full_ = false;  ///< something was stored that is not kept
};

}  // namespace simgpu
