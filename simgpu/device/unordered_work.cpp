#include "simgpu/device/unordered_work.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace simgpu {
namespace {

constexpr std::size_t kMostPieces = 256;
constexpr std::size_t kMostKeptRanges = std::size_t{1} << 20;

std::uint64_t end_of(const ByteRange& range) { return range.address + range.bytes; }

/// Whether ranges of two lists, each in order, have a byte in common.
bool meet(const std::vector<ByteRange>& first, const std::vector<ByteRange>& second) {
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() && b != second.end()) {
    if (end_of(*a) <= b->address) {
      ++a;
    } else if (end_of(*b) <= a->address) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

bool are_independent(const TouchedPlaces& a, const TouchedPlaces& b) {
  return !meet(a.written, b.written) && !meet(a.written, b.read) && !meet(a.written, b.updated) &&
         !meet(a.read, b.written) && !meet(a.read, b.updated) && !meet(a.updated, b.written) &&
         !meet(a.updated, b.read);
}

bool is_before(const UnorderedWork::Piece& earlier, const StreamRaces::Node& node,
               std::uint64_t stream, const StreamOrder& order) {
  const bool of_one_graph = node.launch != 0 && earlier.node.launch == node.launch;
  if (of_one_graph && !node.order->is_known()) return false;
  return StreamRaces::is_before(earlier.stamp, earlier.node, stream, node, order);
}

}  // namespace

Picoseconds UnorderedWork::earliest(const StreamRaces::Node& node, std::uint64_t stream,
                                    const Places& places, const StreamOrder& order) const {
  Picoseconds time = not_before_;
  for (const Piece& earlier : pieces_) {
    if (earlier.end <= time) continue;
    if (is_before(earlier, node, stream, order)) continue;
    const bool is_known = places != nullptr && earlier.places != nullptr;
    if (!is_known || !are_independent(*earlier.places, *places)) time = earlier.end;
  }
  return time;
}

void UnorderedWork::add(Piece piece, Picoseconds now) {
  std::erase_if(pieces_, [&](const Piece& earlier) {
    if (earlier.end > now) return false;
    kept_ranges_ -= extent(earlier);
    return true;
  });
  kept_ranges_ += extent(piece);
  pieces_.push_back(std::move(piece));
  while (pieces_.size() > kMostPieces || kept_ranges_ > kMostKeptRanges) drop_oldest();
}

std::size_t UnorderedWork::extent(const Piece& piece) {
  if (piece.places == nullptr) return 0;
  return piece.places->read.size() + piece.places->written.size() + piece.places->updated.size();
}

/// Not to be known any more must not let others run beside it.
void UnorderedWork::drop_oldest() {
  const auto oldest = std::ranges::min_element(pieces_, {}, &Piece::end);
  not_before_ = std::max(not_before_, oldest->end);
  kept_ranges_ -= extent(*oldest);
  pieces_.erase(oldest);
}

}  // namespace simgpu
