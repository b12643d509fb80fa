#include "simgpu/exec/block_runner.h"

#include <algorithm>
#include <cstring>

#include "simgpu/checkers/memory_races.h"

namespace simgpu {
namespace {

/// Instructions after which it is worth looking whether a block goes round in circles.
constexpr std::uint64_t kLongSpin = std::uint64_t{1} << 20;
/// Of registers and local memory, that are compared after each turn.
constexpr std::size_t kMostComparedBytes = std::size_t{4} << 20;

}  // namespace

std::uint64_t block_bytes(const LaunchContext& launch) {
  const BlockMemorySizes sizes(launch);
  const std::uint64_t per_thread = std::uint64_t{sizes.local} + sizes.frame;
  const std::uint64_t per_shared_byte = launch.checkers ? 1 + MemoryRaces::kMostRecordBytes : 1;
  return sizes.shared * per_shared_byte +
         warps_of_block(launch.request) *
             (kWarpSize * per_thread + launch.kernel.register_bytes +
              launch.kernel.basic_blocks * (sizeof(ExecutionCount) + sizeof(std::uint64_t)));
}

BlockRunner::BlockRunner(const LaunchContext& launch)
    : launch_(launch),
      block_(launch),
      counts_(launch.kernel, static_cast<std::uint32_t>(warps_of_block(launch.request))),
      lanes_(launch.kernel, block_.changes, block_.undefined,
             LaneWaits(launch.kernel, block_.checkers.get(), block_.position), launch.observer),
      warps_(warps_of_block(launch.request)) {
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    warps_[i].index = static_cast<std::uint16_t>(i);
    set_up(warps_[i]);
  }
}

/// For all blocks.
void BlockRunner::set_up(Warp& warp) {
  const LoweredKernel& kernel = launch_.kernel;
  warp.regs = block_.memory.registers(warp.index);
  warp.code = kernel.code.data();
  warp.counts = counts_.of_warp(warp.index);
  warp.guarded_threads = counts_.guarded();
  warp.lists = kernel.lists.data();
  warp.block = &block_;
  for (const LoweredKernel::Constant& constant : kernel.constants) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(warp.regs + constant.offset + std::size_t{lane} * constant.bytes, &constant.bits,
                  constant.bytes);
    }
  }
}

void BlockRunner::start(std::uint64_t block, std::uint64_t at) {
  counts_.begin_block();
  block_.begin_block(block, at);
  for (Warp& warp : warps_) begin(warp);
  block_.undefined.begin_block(warps_);
  if (launch_.observer != nullptr) launch_.observer->begin_block(block);
  lanes_.begin_block();
  spin_detector_.begin_block();
  quiet_polls_.begin_block();
  polling_rounds_ = 0;
}

/// For this block.
void BlockRunner::begin(Warp& warp) {
  const auto threads = static_cast<std::uint32_t>(launch_.request.block.count());
  const std::uint32_t left = threads - warp.index * kWarpSize;
  const std::uint32_t lanes = left >= kWarpSize ? 0xFFFFFFFFU : (1U << left) - 1;
  warp.dead = ~lanes;
  warp.existed = lanes;
  warp.state = WarpState::ready;
  warp.clock = 0;
  static_cast<WarpTimes&>(warp) = {};
  warp.stack.reset(lanes);
  warp.calls.clear();
  warp.poll.in = nullptr;
  warp.tries = {};
  warp.others.clear();
  warp.wait = {};
  warp.sleeps_on = nullptr;
  warp.follows = false;
  warp.waiting_turns = 0;
  warp.resume = nullptr;
  for (const SlotRange& range : launch_.kernel.zeroed) {
    std::memset(warp.regs + range.offset, 0, range.bytes);
  }
}

void BlockRunner::run(std::uint64_t block) {
  start(block);
  while (round()) {
    const std::uint64_t changes = block_.changes.of_global();
    const bool is_endless = stuck_ ? repeats(changes) : spins(changes, kLongSpin);
    if (is_endless && !let_waiting_lanes_go(false)) report_waiting();
  }
}

void BlockRunner::run_warp(Warp& warp) {
  constexpr int kMostTurns = 4096;
  constexpr std::uint64_t kMostLooking = std::uint64_t{1} << 20;  ///< instructions of short turns
  const std::uint64_t begin = warp.clock;
  vain_looks_.begin_block();
  for (int turns = 1;; ++turns) {
    const std::uint64_t before = warp.clock;
    warp.sleeps_on = nullptr;
    lanes_.give_turn(warp);
    block_.budget.add_instructions(warp.clock - before, warp);
    if (!launch_.backwards || warp.state != WarpState::ready || waits(warp)) return;
    if (turns >= kMostTurns && warp.clock - begin >= kMostLooking) return;
  }
}

/// Whether a turn more would find the warp as it is: it looks for what is not there, and has come
/// round to a state that it was in before. One that only counts its looks goes on some day, whoever
/// stores where it looks.
bool BlockRunner::waits(const Warp& warp) {
  if (!LaneScheduler::looks_in_vain(warp)) return false;
  if (block_.memory.bytes_of_threads() > kMostComparedBytes) return true;
  SpinDetector::View seen = view({&warp, 1}, block_.changes.effects());
  seen.shared = {};  // effects() are of shared memory, too
  return vain_looks_.spins(seen);
}

bool BlockRunner::round() {
  bool ran = false;
  bool at_barrier = false;
  bool progress = false;
  bool tries = false;
  bool polls = true;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    Warp& warp = warps_[launch_.backwards ? warps_.size() - 1 - i : i];
    if (warp.state == WarpState::ready) {
      if (LaneScheduler::sleeps(warp)) {
        ++warp.waiting_turns;
      } else {
        run_warp(warp);
      }
      ran = true;
      polls = polls && (warp.gave_way || warp.state != WarpState::ready);
      progress = progress || warp.state != WarpState::ready || !LaneScheduler::waits_for_long(warp);
      tries = tries || LaneScheduler::tries_often(warp);
    }
    at_barrier = at_barrier || warp.state == WarpState::at_barrier;
  }
  if (at_barrier && block_.barriers.let_go(warps_)) ran = progress = true;
  if (!ran && at_barrier) block_.failures.report_deadlock(warps_);
  const bool was_stuck = stuck_;
  stuck_ = ran && !progress;
  if (stuck_ && !was_stuck) spin_detector_.begin_block();
  polling_rounds_ = ran && polls ? polling_rounds_ + 1 : 0;
  if (tries && lanes_.all_try_in_vain(warps_)) [[unlikely]]
    let_waiting_lanes_go(true);
  return ran;
}

bool BlockRunner::let_waiting_lanes_go(bool only_useful) {
  if (!lanes_.let_waiting_lanes_go(warps_, only_useful)) return false;
  stuck_ = false;
  spin_detector_.begin_block();
  return true;
}

/// A kernel that looks at the clock sees something new each time; one that shares memory with the
/// host may.
bool BlockRunner::spins(std::uint64_t changes, std::uint64_t least_instructions) {
  if (block_.budget.instructions_of_block() < least_instructions) return false;
  if (launch_.kernel.info.reads_clock || launch_.memory.shares_memory()) return false;
  if (block_.memory.bytes_of_threads() > kMostComparedBytes) return false;
  return spin_detector_.spins(view(warps_, changes));
}

/// Nobody has looked at the clock since all wait, or they would not seem to.
bool BlockRunner::repeats(std::uint64_t changes) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  if (block_.memory.bytes_of_threads() > kMostBytes) return false;
  for (Warp& warp : warps_) warp.sleeps_on = nullptr;
  return spin_detector_.spins(view(warps_, changes));
}

bool BlockRunner::polls_in_circles(std::uint64_t new_values) {
  if (polling_rounds_ == 0) quiet_polls_.begin_block();
  if (block_.memory.bytes_of_threads() > kMostComparedBytes) return true;
  return polling_rounds_ != 0 && quiet_polls_.spins(view(warps_, new_values));
}

SpinDetector::View BlockRunner::view(std::span<const Warp> warps, std::uint64_t changes) const {
  return {.warps = warps,
          .register_bytes = launch_.kernel.register_bytes,
          .control = launch_.kernel.control,
          .shared = block_.memory.all_shared(),
          .local = block_.memory.all_local(),
          .frames = block_.memory.all_frames(),
          .changes = changes};
}

void BlockRunner::report_waiting() const {
  if (stuck_) block_.failures.report_stuck(warps_);
  block_.failures.report_spinning(warps_);
}

void BlockRunner::report_too_long() const {
  const Warp& warp =
      *std::ranges::find_if(warps_, [](const Warp& each) { return each.state != WarpState::done; });
  block_.failures.report_over_budget(warp, warp.goes_on_at());
}

void BlockRunner::clear_counts() {
  counts_.clear();
  block_.counted = {};
  block_.sites.clear_counts();
  block_.traffic.clear_loads();
}

std::unique_ptr<BlockTraffic::Log> BlockRunner::take_traffic() {
  block_.budget.keep_sectors();
  std::unique_ptr<BlockTraffic::Log> log = block_.traffic.take();
  counts_.end_block(warps_, *log, block_.traffic.loads_of_block(), block_.counted);
  return log;
}

std::vector<RawFinding> BlockRunner::take_findings() {
  return block_.checkers ? block_.checkers->take_findings() : std::vector<RawFinding>{};
}

}  // namespace simgpu
