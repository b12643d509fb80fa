#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/counters/byte_set.h"
#include "simgpu/exec/launch_classes.h"
#include "simgpu/exec/log_pattern.h"
#include "simgpu/exec/work_counts.h"

namespace simgpu {

/// Places `step` apart whose work grows linearly: every count of every block, and the log of
/// requests as LogPattern says. A place that is like no other is a track of its own.
struct Track {
  std::uint64_t first = 0, step = 1, places = 1;
  WorkCounts at_first, growth;
  LogPattern pattern;

  WorkCounts at(std::uint64_t index) const;
};

/// A launch whose blocks' work follows one axis, as that of causal attention: blocks at one place
/// of that axis are alike, and what is done at its places is known from a few of them, where it
/// grows linearly, or from every one.
///
/// Between blocks of one place every instruction's requests move together. How far, the lightest
/// place that executes all of them tells, which is run for every block along the other axes.
/// Further blocks all over the grid are then run to see that they do what was predicted.
class BlockClasses {
 public:
  /// @throws NotSampled when the grid is not of this kind, LaunchFailure when a block fails
  BlockClasses(const Dim3& grid, BlockSampler& sampler);

  /// What all blocks do.
  WorkCounts total() const;
  /// What they weigh, each block counted twice.
  BlockWeights weights();
  /// What they load, each block counted twice; not what becomes of it in L2.
  LoadCountsByPc loads();
  /// Of one block, as far as an SM's load goes.
  BlockWeights::Weight weight_of(std::uint64_t block);
  void log_of(std::uint64_t block, TrafficLog& log) const;
  /// Takes in what all blocks touch.
  void add_touched(KindFilter wanted, ByteSet& touched) const;

 private:
  using Moves = std::vector<std::int64_t>;  ///< sectors, by instruction

  void follow_places();
  bool add_tracks(std::uint64_t first, std::uint64_t step);
  bool grows(std::uint64_t first, std::uint64_t step, std::uint64_t index);
  std::uint64_t grows_until(std::uint64_t first, std::uint64_t step);
  const BlockProfile& at(std::uint64_t order);
  const BlockProfile& reference(std::uint64_t& block);
  void measure_moves();
  Moves moves_between(const TrafficLog& from, const TrafficLog& to) const;
  std::size_t index_of(std::uint32_t instruction) const;
  void check_everywhere();
  std::uint64_t somewhere(std::uint64_t order, std::uint64_t seed) const;
  void check(std::uint64_t block);
  Moves moves_of(std::uint64_t block, const Track& track) const;

  BlockSampler& sampler_;
  const std::uint64_t blocks_;
  const LaunchClasses classes_;
  std::vector<Track> tracks_;
  std::vector<std::uint32_t> track_of_;      ///< by place, in order of work
  std::vector<std::uint32_t> instructions_;  ///< that have entries in logs, ascending
  std::vector<std::vector<Moves>> moves_;    ///< by axis of classes_.alike, and position
};

}  // namespace simgpu
