#include "simgpu/provenance/byte_origins.h"

#include <algorithm>

namespace simgpu {

std::size_t ByteOrigins::Hash::operator()(const Bytes& bytes) const {
  std::uint64_t hash = 0;
  for (const OriginSet set : bytes) hash = (hash ^ set) * 0x9E3779B97F4A7C15 ^ hash >> 29;
  return hash;
}

OriginSet ByteOrigins::byte(ValueOrigins value, unsigned at) {
  if (is_split(value)) return splits_[value & ~kSplit].bytes[at];
  if (!sets_.is_raw(value)) return value;
  const LoadedBytes all = sets_.bytes_of(value);
  return at < all.count ? sets_.raw({all.event, all.first + at, 1}) : OriginSets::kNone;
}

ValueOrigins ByteOrigins::value(const Bytes& bytes, unsigned width) {
  const auto first = bytes.begin(), end = first + width;
  if (!sets_.is_raw(*first)) {
    if (std::all_of(first, end, [&](OriginSet set) { return set == *first; })) return *first;
  } else {
    // Consecutive bytes of one load, and nothing behind them.
    LoadedBytes all = sets_.bytes_of(*first);
    unsigned at = 1;
    for (; at < width && sets_.is_raw(bytes[at]); ++at) {
      if (sets_.bytes_of(bytes[at]) != LoadedBytes{all.event, all.first + at, 1}) break;
    }
    const bool is_all =
        std::all_of(first + at, end, [](OriginSet set) { return set == OriginSets::kNone; });
    all.count = at;
    if (is_all) return sets_.raw(all);
  }
  Bytes key = bytes;
  std::fill(key.begin() + width, key.end(), OriginSets::kNone);
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second | kSplit;
  if (splits_.size() >= kMostSplits) return OriginSets::kUnknown;
  const auto number = static_cast<std::uint32_t>(splits_.size());
  splits_.push_back({key, used_of(key)});
  numbers_.emplace(key, number);
  return number | kSplit;
}

ValueOrigins ByteOrigins::part(ValueOrigins value, unsigned first, unsigned count) {
  if (!is_split(value)) {
    if (!sets_.is_raw(value)) return value;
    const LoadedBytes all = sets_.bytes_of(value);
    if (first >= all.count) return OriginSets::kNone;
    return sets_.raw({all.event, all.first + first, std::min(count, all.count - first)});
  }
  const Bytes& from = splits_[value & ~kSplit].bytes;
  Bytes bytes{};
  std::copy_n(from.begin() + first, count, bytes.begin());
  return this->value(bytes, count);
}

ValueOrigins ByteOrigins::join(ValueOrigins low, ValueOrigins high) {
  if (low == high && !is_split(low) && !sets_.is_raw(low)) return low;
  Bytes bytes;
  for (unsigned at = 0; at < 4; ++at) {
    bytes[at] = byte(low, at);
    bytes[4 + at] = byte(high, at);
  }
  return value(bytes, kMostBytes);
}

bool ByteOrigins::has(ValueOrigins value, OriginSet set, unsigned width) {
  if (!is_split(value)) return value == set;
  const Bytes& bytes = splits_[value & ~kSplit].bytes;
  return std::find(bytes.begin(), bytes.begin() + width, set) != bytes.begin() + width;
}

OriginSet ByteOrigins::used_of(const Bytes& bytes) {
  OriginSet all = OriginSets::kNone;
  for (unsigned at = 0; at < kMostBytes;) {
    if (!sets_.is_raw(bytes[at])) {
      all = sets_.unite(all, bytes[at++]);
      continue;
    }
    LoadedBytes run = sets_.bytes_of(bytes[at++]);
    while (at < kMostBytes && sets_.is_raw(bytes[at]) &&
           sets_.bytes_of(bytes[at]) == LoadedBytes{run.event, run.first + run.count, 1}) {
      ++run.count;
      ++at;
    }
    all = sets_.unite(all, sets_.used(sets_.raw(run)));
  }
  return all;
}

OriginSet ByteOrigins::used(ValueOrigins value) {
  return is_split(value) ? splits_[value & ~kSplit].used : sets_.used(value);
}

std::size_t ByteOrigins::bytes() const {
  return splits_.capacity() * sizeof(Split) +
         numbers_.size() * (sizeof(Bytes) + 2 * sizeof(std::uint64_t) + sizeof(void*));
}

}  // namespace simgpu
