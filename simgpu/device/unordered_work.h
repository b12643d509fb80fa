#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "simgpu/device/stream_order.h"
#include "simgpu/device/stream_races.h"
#include "simgpu/device/timeline.h"
#include "simgpu/touched_places.h"

namespace simgpu {

/// Keeps work that nothing orders from overlapping on the timeline, unless it is known to be
/// independent: that no place which one piece writes is touched by the other.
///
/// The device does all work in the order in which it was issued, so that work which needs that
/// order and does not ask for it computes what it should. On a GPU it would be wrong, or would have
/// to wait. Here it takes the time of work that waits.
class UnorderedWork {
 public:
  /// Where work touches memory; nullptr: anywhere.
  using Places = std::shared_ptr<const TouchedPlaces>;

  /// When work may start that the order has just been told of.
  Picoseconds earliest(const StreamRaces::Node& node, std::uint64_t stream, const Places& places,
                       const StreamOrder& order) const;

  struct Piece {
    StreamOrder::Stamp stamp{};
    StreamRaces::Node node = StreamRaces::Node();
    Picoseconds end = 0;
    Places places{};
  };
  /// @param now  no work starts before
  void add(Piece piece, Picoseconds now);
  void forget_all() { *this = {}; }

 private:
  static std::size_t extent(const Piece& piece);
  void drop_oldest();

  std::deque<Piece> pieces_;
  std::size_t kept_ranges_ = 0;
  Picoseconds not_before_ = 0;  ///< the end of all work that is no longer kept in mind
};

}  // namespace simgpu
