#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "simgpu/checkers/access_listener.h"
#include "simgpu/exec/launch_context.h"
#include "simgpu/exec/warp.h"
#include "simgpu/replay/counting_registers.h"
#include "simgpu/replay/recording.h"
#include "simgpu/replay/shared_image.h"

namespace simgpu::replay {

/// A warp of a launch, by the number of its block in the grid.
struct WatchedWarp {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  bool operator==(const WatchedWarp&) const = default;
};

/// A step of a track, and what of it a finding is about.
struct StepMark {
  std::uint64_t step = 0;
  std::uint32_t lane = 0;
  std::uint32_t access = kNone;
};

/// Who did something in the source: one side of a finding.
struct Side {
  WatchedWarp warp;
  std::uint32_t lane = 0;
  const AccessSite* site = nullptr;
};

/// The last steps of some warps of one launch.
class LaunchTrack {
 public:
  LaunchTrack(const LaunchContext& launch, const std::vector<WatchedWarp>& warps);

  void before(const Lowered& in, const Warp& warp);
  void after(const Lowered& in, const Warp& warp, std::uint32_t lanes);
  void accessed(Space space, Action action, const WarpAccess& access);
  void passed_barrier();

  /// Whether an instruction belongs to the step that its warp is in.
  bool continues(const Lowered& in, const Warp& warp) const;
  /// Whether the instruction that is under way is of a warp that is watched.
  bool is_watched_now() const { return now_ != nullptr; }
  std::size_t steps() const { return count_; }

  /// The last access by an instruction in which a lane touched these bytes; without bytes any.
  std::optional<StepMark> find(const WatchedWarp& warp, std::uint32_t pc, std::uint32_t lane,
                               std::uint64_t address, std::uint64_t bytes) const;
  /// The last access of one side of a finding, or else its last step there, or else its last step.
  std::optional<StepMark> find(const Side& side) const;
  /// The last accesses of two sides that touched the same bytes, by their lanes or else by any
  /// lanes of their warps; nothing where there are none.
  std::vector<StepMark> find_pair(const Side& one, const Side& other) const;

  /// All steps that are still known. The track is of no use behind it.
  Recording finish(const std::vector<StepMark>& marks);

 private:
  struct Kept {
    std::uint64_t id = 0;
    std::size_t bytes = 0;
    Step step;
  };
  struct BlockTrack {
    std::uint64_t block = 0;
    std::uint32_t interval = 0;
    SharedImage start{}, others{}, own{};
  };
  struct WarpTrack {
    WatchedWarp who;
    std::uint32_t block = 0;  ///< in blocks_
    std::uint64_t steps = 0;
    std::optional<Kept> open{};
    std::uint32_t last_index = 0;  ///< of the instructions of the open step
    bool ended_by_barrier = false;
    std::deque<std::list<Kept>::iterator> kept{};
    std::vector<RegisterValues> start{};
    std::vector<LeftOut> left_out{};
    bool forgot = false;
    std::map<std::uint32_t, RegisterSeries> series{};  ///< by register
  };

  WarpTrack* track_of(std::uint64_t block, std::uint32_t warp);
  const WarpTrack* track_of(const WatchedWarp& warp) const;
  BlockTrack* block_of(std::uint64_t block);
  std::uint32_t place_of(std::uint32_t pc);
  void open(WarpTrack& track, const Lowered& in, const Warp& warp);
  void close(WarpTrack& track);
  void forget_oldest(WarpTrack& track);
  void commit_stores(const Warp& warp, std::uint32_t pc);
  void note_registers(const Lowered& in, const Warp& warp, std::uint32_t lanes, Step& step);
  void describe(Recording& recording) const;
  void name_allocations(Recording& recording) const;

  /// Calls look(step) for the steps of a warp, the last one first, until it returns true.
  template <typename Look>
  void look_back(const WarpTrack& track, const Look& look) const;
  bool is_at(const Step& step, const AccessSite& site) const;

  const LaunchContext& launch_;
  std::vector<ValueType> types_;         ///< by register
  std::vector<std::uint32_t> updaters_;  ///< by register: see updaters()
  std::vector<std::uint32_t> places_;  ///< by pc: in recording_.places, plus one; 0: not known yet
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_places_;
  Recording recording_;
  std::vector<BlockTrack> blocks_;
  std::vector<WarpTrack> warps_;
  std::list<Kept> kept_;  ///< of all warps, in the order in which they began
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t block_now_ = 0;
  WarpTrack* now_ = nullptr;  ///< whose instruction is under way
  struct Stretch {
    std::uint32_t first = 0, bytes = 0;
  };
  std::vector<Stretch> stores_now_;  ///< of the instruction that is under way
};

}  // namespace simgpu::replay
