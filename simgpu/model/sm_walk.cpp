#include "simgpu/model/sm_walk.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "simgpu/model/warp_way.h"

namespace simgpu::model {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct WalkingWarp {
  std::uint32_t block = 0;
  std::uint32_t place = 0;  ///< of the way
  std::uint32_t next = 0;   ///< instruction
  bool ended = false, waits_at_barrier = false;
  double ready = 0;    ///< when ptxas lets the next instruction start
  double fetched = 0;  ///< when all data of its loads so far is there
  std::array<double, IssueControl::kScoreboards> released{};
  double open_group = 0;  ///< when the asynchronous copies since the last commit are done
  std::deque<double> groups;
  std::vector<std::uint32_t> turns;  ///< of each loop, so far
  std::vector<double> half_way;      ///< of each loop, when the turns that count began
  std::vector<double> chances;       ///< of each place
};

/// What turns of a loop took that stand for those that are not walked.
struct MeasuredTurns {
  double cycles = 0, entries = 0;
};

class SmWalk {
 public:
  SmWalk(const Work& work, const std::vector<Operation>& operations, const WarpWay& way,
         std::uint64_t blocks)
      : work_(work),
        operations_(operations),
        way_(way),
        measured_(way.loops.size()),
        arrived_(blocks),
        schedulers_(static_cast<std::size_t>(std::max(1, work.gpu.schedulers_per_sm))) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (std::uint32_t warp = 0; warp < work.warps_per_block; ++warp) add_warp(block, warp);
    }
  }

  double run() {
    for (WalkingWarp& warp : warps_) advance(warp);
    while (Scheduler* const scheduler = first_to_issue()) issue(*scheduler);
    return (end_ + not_walked(LoopOfWay::kNone)) * share_left_out();
  }

 private:
  struct Scheduler {
    std::vector<std::uint32_t> warps;
    std::array<double, kUnits> free{};  ///< when each of its units may take the next instruction
    double slot = 0;                    ///< the next issue slot
    std::uint32_t last = 0;             ///< the warp that went last
    // What look() found.
    bool is_known = false;
    double when = kNever;
    std::uint32_t chosen = 0;
  };
  struct Arrived {
    std::uint64_t warps = 0;
    double latest = 0;
  };

  void add_warp(std::uint32_t block, std::uint32_t index) {
    schedulers_[warps_.size() % schedulers_.size()].warps.push_back(
        static_cast<std::uint32_t>(warps_.size()));
    WalkingWarp& warp = warps_.emplace_back();
    warp.block = block;
    warp.turns.resize(way_.loops.size());
    warp.half_way.resize(way_.loops.size());
    // Warps that need not decide alike take turns.
    const double own = (index + 0.5) / static_cast<double>(work_.warps_per_block);
    for (const Place& place : way_.places) warp.chances.push_back(place.is_common ? 0.5 : own);
  }

  /// What is seldom executed may never come in the turns that are walked. How much more the warps
  /// start than they did here; at least 1, since what comes too often has been waited for.
  double share_left_out() const {
    const double expected = way_.instructions * static_cast<double>(warps_.size());
    return issued_ > 0 ? std::max(1.0, expected / issued_) : 1;
  }

  /// nullptr: all warps have ended.
  Scheduler* first_to_issue() {
    Scheduler* first = nullptr;
    for (Scheduler& scheduler : schedulers_) {
      if (!scheduler.is_known) look(scheduler);
      if (scheduler.when < (first == nullptr ? kNever : first->when)) first = &scheduler;
    }
    return first;
  }

  /// The warp that may start first; of several the one that went last, else the oldest.
  void look(Scheduler& scheduler) const {
    scheduler.is_known = true;
    scheduler.when = kNever;
    for (const std::uint32_t i : scheduler.warps) {
      const WalkingWarp& warp = warps_[i];
      if (warp.ended || warp.waits_at_barrier) continue;
      const double start = start_of(warp, scheduler);
      if (start < scheduler.when || (start == scheduler.when && i == scheduler.last)) {
        scheduler.when = start;
        scheduler.chosen = i;
      }
    }
  }

  double start_of(const WalkingWarp& warp, const Scheduler& scheduler) const {
    const Operation& operation = operations_[warp.next];
    double start = std::max(warp.ready, scheduler.slot);
    for (unsigned i = 0; i < IssueControl::kScoreboards; ++i) {
      if ((operation.control.wait_mask >> i & 1U) != 0)
        start = std::max(start, warp.released.at(i));
    }
    if (operation.step == AsyncStep::wait) {
      for (std::size_t i = 0; i + operation.groups_under_way < warp.groups.size(); ++i) {
        start = std::max(start, warp.groups[i]);
      }
    }
    // What the load/store unit is asked for waits in its queue, and not at the scheduler.
    if (operation.unit == Unit::none || operation.unit == Unit::load_store) return start;
    return std::max(start, scheduler.free.at(static_cast<std::size_t>(operation.unit)));
  }

  void issue(Scheduler& scheduler) {
    WalkingWarp& warp = warps_[scheduler.chosen];
    const Operation& operation = operations_[warp.next];
    const double start = scheduler.when;
    issued_ += 1;
    scheduler.slot = start + 1;
    scheduler.last = scheduler.chosen;
    scheduler.is_known = false;
    execute(operation, start, scheduler, warp);
    warp.ready = start + std::max(1U, operation.control.stall_cycles);
    if (operation.fences) warp.ready = std::max(warp.ready, start + work_.gpu.l2_latency);
    ++warp.next;
    if (operation.is_barrier) {
      arrive(warp, start);
    } else {
      go_on(warp);
    }
  }

  void execute(const Operation& operation, double start, Scheduler& scheduler, WalkingWarp& warp) {
    double begun = start;
    if (operation.unit == Unit::load_store) {
      begun = std::max(start, load_store_free_);
      load_store_free_ = begun + operation.busy;
    } else if (operation.unit != Unit::none) {
      scheduler.free.at(static_cast<std::size_t>(operation.unit)) = start + operation.busy;
    }
    double done = begun + std::max(0.0, operation.busy - 1) + operation.latency;
    if (operation.port > 0) {
      port_free_ = std::max(port_free_, begun) + operation.port;
      done = std::max(done, port_free_ + operation.latency);
    }
    if (operation.fetches) {
      done += operation.recent * std::max(0.0, warp.fetched - done);
      warp.fetched = std::max(warp.fetched, done);
    }
    const auto release = [&](unsigned scoreboard, double when) {
      if (scoreboard >= IssueControl::kScoreboards) return;
      warp.released.at(scoreboard) = std::max(warp.released.at(scoreboard), when);
    };
    release(operation.control.write_barrier, done);
    release(operation.control.read_barrier, begun + kOperandsRead);
    follow_copies(operation, done, warp);
  }

  static void follow_copies(const Operation& operation, double done, WalkingWarp& warp) {
    if (operation.step == AsyncStep::copy) warp.open_group = std::max(warp.open_group, done);
    if (operation.step == AsyncStep::commit) {
      warp.groups.push_back(warp.open_group);
      warp.open_group = 0;
    }
    if (operation.step != AsyncStep::wait) return;
    while (warp.groups.size() > operation.groups_under_way) warp.groups.pop_front();
  }

  void arrive(WalkingWarp& warp, double start) {
    Arrived& arrived = arrived_[warp.block];
    arrived.latest = std::max(arrived.latest, start);
    warp.waits_at_barrier = true;
    if (++arrived.warps < work_.warps_per_block) return;
    const double through = arrived.latest + work_.gpu.shared_latency;
    arrived = {};
    for (WalkingWarp& other : warps_) {
      if (other.block != warp.block) continue;
      other.waits_at_barrier = false;
      other.ready = std::max(other.ready, through);
      go_on(other);
    }
    for (Scheduler& scheduler : schedulers_) scheduler.is_known = false;
  }

  void go_on(WalkingWarp& warp) {
    if (warp.next < way_.places[warp.place].last) return;
    ++warp.place;
    advance(warp);
  }

  /// To the next instruction.
  void advance(WalkingWarp& warp) {
    while (warp.place < way_.places.size()) {
      const Place& place = way_.places[warp.place];
      switch (place.kind) {
        case Place::Kind::code:
          warp.next = place.first;
          return;
        case Place::Kind::maybe:
          warp.place =
              comes(warp.chances[warp.place], place.probability) ? warp.place + 1 : place.behind;
          break;
        case Place::Kind::loop:
          warp.turns[place.loop] = 0;
          warp.half_way[place.loop] = warp.ready;
          ++warp.place;
          break;
        case Place::Kind::turn:
          end_turn(warp, place);
          break;
      }
    }
    warp.ended = true;
    end_ = std::max(end_, warp.ready);
  }

  /// As often as it is probable, at even distances.
  static bool comes(double& chance, double probability) {
    chance += probability;
    if (chance < 1) return false;
    chance -= 1;
    return true;
  }

  void end_turn(WalkingWarp& warp, const Place& place) {
    const LoopOfWay& loop = way_.loops[place.loop];
    const std::uint32_t done = ++warp.turns[place.loop];
    // The first turns are not yet like the others.
    const std::uint32_t half = loop.turns / 2;
    if (done == half) warp.half_way[place.loop] = warp.ready;
    if (done < loop.turns) {
      warp.place = place.behind;
      return;
    }
    MeasuredTurns& measured = measured_[place.loop];
    measured.cycles += (warp.ready - warp.half_way[place.loop]) / (loop.turns - half);
    measured.entries += 1;
    ++warp.place;
  }

  /// What the turns that were not walked take: of loops in a turn of this one.
  double not_walked(std::uint32_t outer) const {
    double cycles = 0;
    for (std::uint32_t i = 0; i < way_.loops.size(); ++i) {
      const LoopOfWay& loop = way_.loops[i];
      if (loop.outer != outer || measured_[i].entries == 0) continue;
      const double inner = not_walked(i);
      const double turn = measured_[i].cycles / measured_[i].entries;
      cycles += loop.entries * ((loop.times - loop.turns) * turn + loop.times * inner);
    }
    return cycles;
  }

  const Work& work_;
  const std::vector<Operation>& operations_;
  const WarpWay& way_;
  std::vector<WalkingWarp> warps_;
  std::vector<MeasuredTurns> measured_;  ///< of each loop
  std::vector<Arrived> arrived_;         ///< of each block
  std::vector<Scheduler> schedulers_;
  double load_store_free_ = 0, port_free_ = 0;
  double end_ = 0;
  double issued_ = 0;  ///< instructions, by all warps
};

}  // namespace

SmWalks::SmWalks(const Work& work)
    : work_(work),
      steps_(find_steps(work.program, work.executed,
                        static_cast<double>(work.blocks * work.warps_per_block))),
      operations_(machine_operations(work)) {}

std::optional<double> SmWalks::cycles_of_blocks(std::uint64_t blocks) const {
  // Of all warps together: the first is aimed at, since it takes some milliseconds.
  constexpr double kEnough = 60'000, kTooMany = 300'000;
  constexpr std::uint32_t kMostTurns = 24, kFewTurns = 8, kFewestTurns = 2;
  const auto walking = static_cast<double>(blocks * work_.warps_per_block);
  std::uint32_t turns = kMostTurns;
  WarpWay way = warp_way(work_, steps_, turns);
  while (turns > kFewestTurns && way.instructions * walking > kEnough) {
    turns -= turns > kFewTurns ? 4 : turns > 4 ? 2 : 1;
    way = warp_way(work_, steps_, turns);
  }
  if (way.instructions * walking > kTooMany) return std::nullopt;
  return SmWalk(work_, operations_, way, blocks).run();
}

}  // namespace simgpu::model
