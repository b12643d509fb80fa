#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simgpu/provenance/origin_sets.h"

namespace simgpu {

/// What a value of up to 8 bytes was made of, byte by byte, as a number that ByteOrigins explains.
/// Most numbers are an OriginSet: that of every byte, or, of a raw one, the bytes of the load from
/// the value's first byte on, with zeros behind them.
using ValueOrigins = std::uint32_t;

/// Values of which not all bytes have the same origins: packed halves, words with single bytes
/// stored to them, values that were put together from parts.
class ByteOrigins {
 public:
  static constexpr unsigned kMostBytes = 8;
  using Bytes = std::array<OriginSet, kMostBytes>;

  explicit ByteOrigins(OriginSets& sets) : sets_(sets) {}

  /// That of one byte: raw where the value is.
  OriginSet byte(ValueOrigins value, unsigned at);
  /// A value of `width` bytes.
  ValueOrigins value(const Bytes& bytes, unsigned width);
  /// The bytes [first, first + count) as a value.
  ValueOrigins part(ValueOrigins value, unsigned first, unsigned count);
  /// Eight bytes of two words.
  ValueOrigins join(ValueOrigins low, ValueOrigins high);
  /// Whether any of the first `width` bytes has exactly this set.
  bool has(ValueOrigins value, OriginSet set, unsigned width);
  /// What is computed from all of a value.
  OriginSet used(ValueOrigins value);

  std::size_t bytes() const;

 private:
  static constexpr std::uint32_t kSplit = 1U << 31;
  static constexpr std::size_t kMostSplits = std::size_t{1} << 20;

  struct Hash {
    std::size_t operator()(const Bytes& bytes) const;
  };
  static bool is_split(ValueOrigins value) { return (value & kSplit) != 0; }
  OriginSet used_of(const Bytes& bytes);

  OriginSets& sets_;
  struct Split {
    Bytes bytes;
    OriginSet used;
  };
  std::vector<Split> splits_;
  std::unordered_map<Bytes, std::uint32_t, Hash> numbers_;
};

}  // namespace simgpu
