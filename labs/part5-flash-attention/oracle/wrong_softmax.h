#pragma once

#include <functional>

#include "labs/part5-flash-attention/oracle/attention.h"

/// Softmax of a row as known mistakes compute it. Where results depend on the sizes of tiles or
/// parts, these are parameters: nobody knows which ones a student chose.
namespace rooflab {

using SoftmaxRule = std::function<Softmax(const Scores&)>;

/// Exponentials in fp32 of the scores as they are: infinite above 88.
Softmax without_maximum(const Scores& scores);
/// The maximum starts at 0, so that it cannot be negative: all exponentials vanish below -103. The
/// result is then not a number, or 0 for who does not divide by zero.
SoftmaxRule with_maximum_from_zero(bool divides_by_zero);
/// The weighted sum is not divided by the sum of the weights.
Softmax not_normalised(const Scores& scores);

/// What is left as it was when a tile of keys brings a larger maximum.
struct Unscaled {
  bool values = false;
  bool weights = false;
};
/// Online softmax over tiles that start at multiples of `tile`.
SoftmaxRule not_rescaled(std::int64_t tile, Unscaled unscaled);
/// Each tile's own maximum replaces the one so far: where it is smaller by much, rescaling
/// overflows.
SoftmaxRule maximum_of_own_tile(std::int64_t tile);
/// Each tile has its own maximum, and what was summed before stays relative to others.
SoftmaxRule tiles_not_rescaled(std::int64_t tile);
/// The sum of the values is rescaled before each key of a tile, not once before the tile.
SoftmaxRule rescaled_for_each_key(std::int64_t tile);
/// The sum of the values is divided by that of the weights after each tile, not once at the end.
SoftmaxRule divided_after_each_tile(std::int64_t tile);
/// Lanes that share a row: each has `neighbours` keys side by side, and they take turns.
struct RowLanes {
  std::int64_t count, neighbours;

  std::int64_t owner(std::int64_t column) const { return column / neighbours % count; }
};
/// Divides by what `lane` has summed, not by the whole sum.
SoftmaxRule sum_of_lane(const RowLanes& lanes, std::int64_t lane);
/// The sums start anew with each tile: the last one is all that counts.
SoftmaxRule last_tile_alone(std::int64_t tile);
/// The keys behind the last one, up to a multiple of `tile`, are zeros and count with score 0.
SoftmaxRule with_padding(std::int64_t tile);

/// The keys that are seen in `splits` parts, each of so many keys that all but the last are equal.
/// Part i's result is its own softmax's.
/// Their plain mean.
SoftmaxRule mean_of_splits(std::int64_t splits);
/// Their sum.
SoftmaxRule sum_of_splits(std::int64_t splits);
/// Sums of weights and of weighted values are added up, each with the maximum of its own part.
SoftmaxRule splits_not_rescaled(std::int64_t splits);

}  // namespace rooflab
