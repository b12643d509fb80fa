#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simgpu/checkers/access.h"
#include "simgpu/counters/block_conflicts.h"
#include "simgpu/exec/block_runner.h"
#include "simgpu/exec/counter_sums.h"

namespace simgpu {

/// A grid that cannot be told from some of its blocks; it has to run in full.
struct NotSampled {};

/// What one block did, but for the values it computed.
struct BlockProfile {
  CounterSums sums;
  std::unique_ptr<TrafficLog> log;
  std::uint64_t slots = 0;  ///< issue slots of all its warps
};

/// Neither takes much longer than the other: as it would for the same work if its warps took turns.
bool same_pace(const BlockWeights::Weight& a, const BlockWeights::Weight& b);
/// Both executed the same instructions equally often, shared by their warps in about the same way.
bool same_instructions(const BlockProfile& a, const BlockProfile& b);
/// They also asked memory for the same, if at other addresses.
bool same_work(const BlockProfile& a, const BlockProfile& b);

/// Runs single blocks of a launch on one thread, each at most once: a kernel may change its input.
class BlockSampler {
 public:
  explicit BlockSampler(LaunchContext& launch);

  /// Runs the block unless it has run before. What it prints, and whatever else asks for all
  /// blocks, is not for sampling.
  /// @throws NotSampled, LaunchFailure
  const BlockProfile& profile(std::uint64_t block);

  /// A block did what cannot be told from others, whatever kind the grid is of.
  bool has_given_up() const { return given_up_; }
  /// Profiles of all blocks that have run, by number.
  const std::map<std::uint64_t, BlockProfile>& profiles() const { return profiles_; }
  std::uint64_t blocks_run() const { return profiles_.size(); }
  std::uint64_t instructions() const { return runner_.block().budget.instructions(); }
  /// That counts against the launch's budget.
  std::uint64_t work() const { return runner_.work(); }
  /// Whether two of the blocks touched the same place, at least one by a store, or nobody can say.
  bool any_conflict() const { return conflicts_.any(); }
  /// Decides which further blocks are run to see whether they do what others tell.
  std::uint64_t secret() const { return launch_.secret; }
  std::uint32_t shared_bytes() const { return runner_.block().memory.shared_bytes(); }
  const FirstAccesses& first_accesses() const { return runner_.block().sites.first(); }
  /// In order of blocks.
  std::vector<RawFinding> findings() const;

 private:
  [[noreturn]] void give_up();

  LaunchContext& launch_;
  const std::uint64_t budget_;
  BlockRunner runner_;
  BlockConflicts conflicts_;
  std::map<std::uint64_t, BlockProfile> profiles_;
  std::map<std::uint64_t, std::vector<RawFinding>> findings_;
  std::uint64_t most_instructions_ = 0;  ///< of one block so far
  std::uint64_t kept_entries_ = 0;
  bool given_up_ = false;
};

}  // namespace simgpu
