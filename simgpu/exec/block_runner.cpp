#include "simgpu/exec/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "simgpu/checkers/memory_races.h"
#include "simgpu/exec/lane_paths.h"
#include "simgpu/exec/launch_budget.h"
#include "simgpu/exec/mbarrier.h"
#include "simgpu/exec/messages.h"
#include "simgpu/exec/opcodes/opcode.h"
#include "simgpu/exec/unwritten_registers.h"

namespace simgpu {
namespace {

/// A warp's turn: long enough to keep its registers in the cache, short enough that a warp spinning
/// on another one's store lets it run. Where lanes may be waiting for those of their own warp, it
/// pays to see it soon.
constexpr std::int64_t kInstructionQuantum = 4096, kShortQuantum = 256;
/// Instructions after which it is worth looking whether a block goes round in circles.
constexpr std::uint64_t kLongSpin = std::uint64_t{1} << 20;
constexpr std::size_t kMostPrinted = std::size_t{1} << 20;

std::vector<AccessFacts> access_facts(const LoweredKernel& kernel) {
  std::vector<AccessFacts> all;
  all.reserve(kernel.info.instructions.size());
  for (const InstructionInfo& info : kernel.info.instructions) {
    AccessFacts& facts = all.emplace_back();
    facts.used_bytes = info.used_bytes;
    facts.meets_atomics = info.meets_atomics;
    facts.reads_unchanged = info.reads_unchanged;
    if (info.shared_array == 0) continue;
    const KernelInfo::SharedArray& array = kernel.info.shared_arrays.at(info.shared_array - 1);
    facts.array_begin = array.offset;
    facts.array_end = array.offset + array.bytes;
  }
  return all;
}

/// What it takes to begin a block, in instructions: memory is cleared. Small beside the block's own
/// instructions, but of a grid of 2^63 empty blocks it is all there is.
std::uint64_t work_to_begin(const LaunchContext& launch) {
  constexpr std::uint64_t kEachBlock = 8, kBytesOfAnInstruction = 512;
  std::uint64_t of_a_warp = std::uint64_t{kWarpSize} * launch.kernel.info.local_bytes_per_thread;
  for (const SlotRange& range : launch.kernel.zeroed) of_a_warp += range.bytes;
  const std::uint64_t cleared =
      BlockMemorySizes(launch).shared + warps_of_block(launch.request) * of_a_warp;
  return kEachBlock + cleared / kBytesOfAnInstruction;
}

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
      traffic_(launch.request.l1_bytes_per_block, launch.log_entries),
      checkers_(launch.checkers
                    ? std::make_unique<BlockCheckers>(launch.memory, access_facts(launch.kernel),
                                                      launch.window_bytes)
                    : nullptr),
      counts_(launch.kernel.code.size()),
      guarded_threads_(launch.kernel.code.size()),
      shared_sites_(launch.kernel.memory_sites),
      global_sites_(launch.kernel.memory_sites),
      own_(launch),
      begin_work_(work_to_begin(launch)) {
  const LoweredKernel& kernel = launch.kernel;
  const Dim3& shape = launch.request.block;
  const auto warps = static_cast<std::uint32_t>(warps_of_block(launch.request));
  if (checkers_) {
    for (const Lowered& in : kernel.code) {
      parts_for_good_.push_back(in.run == hidden::kBranch && only_exits(kernel, in.reconvergence));
      leaves_by_exit_ = leaves_by_exit_ || kernel.spellings[in.index] == "exit";
    }
  }
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.info.instructions[i].starts_block) basic_blocks_.push_back(i);
  }
  work_.resize(basic_blocks_.size());
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.hidden[i]) continue;
    const ByPipe<std::uint32_t> work = work_of(kernel.info.instructions[i]);
    for (std::size_t k = 0; k < work.size(); ++k) work_[kernel.code[i].basic_block][k] += work[k];
  }
  of_warps_.resize(warps * basic_blocks_.size());
  entered_.resize(warps * basic_blocks_.size());
  warps_.resize(warps);
  async_copies_.resize(warps);
  polls_.resize(warps);
  undefined_.resize(checkers_ ? warps : 0);
  tries_.resize(warps);
  coordinates_.resize(std::size_t{3} * warps * kWarpSize);
  for (std::uint32_t i = 0; i < warps; ++i) {
    Warp& warp = warps_[i];
    warp.index = static_cast<std::uint16_t>(i);
    warp.regs = own_.registers(i);
    warp.code = kernel.code.data();
    warp.counts = of_warps_.data() + i * basic_blocks_.size();
    warp.guarded_threads = guarded_threads_.data();
    warp.lists = kernel.lists.data();
    warp.block = this;
    for (const LoweredKernel::Constant& constant : kernel.constants) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        std::memcpy(warp.regs + constant.offset + std::size_t{lane} * constant.bytes,
                    &constant.bits, constant.bytes);
      }
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const std::uint32_t thread = i * kWarpSize + lane;
      const std::uint32_t xyz[3] = {thread % shape.x, thread / shape.x % shape.y,
                                    thread / shape.x / shape.y};
      for (unsigned axis = 0; axis < 3; ++axis) {
        coordinates_[(std::size_t{axis} * warps + i) * kWarpSize + lane] = xyz[axis];
      }
    }
  }
}

Dim3 BlockRunner::thread(const Warp& warp, unsigned lane) const {
  return {thread_coordinate(warp, 0)[lane], thread_coordinate(warp, 1)[lane],
          thread_coordinate(warp, 2)[lane]};
}

bool BlockRunner::has_printed_enough() const { return printed_.size() >= kMostPrinted; }

void BlockRunner::print(const std::string& text) {
  if (printed_.size() < kMostPrinted) {
    printed_.append(text, 0, kMostPrinted - printed_.size());
  }
}

void BlockRunner::forget_allocations() {
  for (SitePattern<std::uint64_t>& site : global_sites_) {
    site.known_low = 1;
    site.known_high = 0;
  }
}

void BlockRunner::start(std::uint64_t block) {
  if (std::exchange(is_under_way_, true)) take_counts();  // of a block that has failed
  block_ = block;
  other_work_ += begin_work_;
  began_at_ = instructions_;
  spin_detector_.begin_block();
  lanes_take_turns_ = false;
  const Dim3& grid = launch_.request.grid;
  block_index_ = {static_cast<std::uint32_t>(block % grid.x),
                  static_cast<std::uint32_t>(block / grid.x % grid.y),
                  static_cast<std::uint32_t>(block / grid.x / grid.y)};
  const auto threads = static_cast<std::uint32_t>(launch_.request.block.count());
  own_.begin_block();
  collecting_.fill({});
  collected_.fill({});
  arrived_.fill(0);
  arrival_.fill(0);
  printed_.clear();
  for (Warp& warp : warps_) {
    const std::uint32_t left = threads - warp.index * kWarpSize;
    const std::uint32_t lanes = left >= kWarpSize ? 0xFFFFFFFFU : (1U << left) - 1;
    warp.dead = ~lanes;
    warp.existed = lanes;
    warp.state = WarpState::ready;
    warp.clock = 0;
    warp.slots = 0;
    warp.loads = 0;
    warp.load_cycles = 0;
    warp.waited = 0;
    warp.slept_ns = 0;
    warp.stack.reset(lanes);
    warp.calls.clear();
    async_copies_[warp.index].clear();
    polls_[warp.index].in = nullptr;
    tries_[warp.index] = {};
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
  polling_rounds_ = 0;
  flags_.clear();
  traffic_.begin_block(block);
  if (checkers_) {
    for (UndefinedValues& values : undefined_) values.clear();
    checkers_->begin_block(block, own_.shared_bytes(), static_cast<std::uint32_t>(warps_.size()),
                           own_.local_bytes());
    if (!launch_.kernel.unwritten.empty()) follow_unwritten();
    const SlotRange& reserved = launch_.kernel.reserved_shared;
    if (reserved.bytes != 0) checkers_->initialised_shared(reserved.offset, reserved.bytes);
  }
}

void BlockRunner::follow_unwritten() {
  for (Warp& warp : warps_) {
    begin_unwritten(launch_.kernel, undefined_[warp.index], warp.existed);
    warp.follows = true;
  }
}

void BlockRunner::run_warp(Warp& warp) {
  const std::uint64_t before = warp.clock;
  if (warp.others.empty() && warp.wait.in == nullptr) [[likely]] {
    run_lanes_together(warp);
  } else {
    run_groups(warp);
  }
  if (lanes_take_turns_) [[unlikely]]
    part_idle_lanes(warp);
  instructions_ += warp.clock - before;
  check_budget(warp.resume != nullptr ? warp.resume : warp.code, warp);
}

void BlockRunner::run_lanes_together(Warp& warp) {
  warp.quantum = lanes_take_turns_ ? kShortQuantum : kInstructionQuantum;
  warp.memory_quantum = kMemoryQuantum;
  const Lowered* in = warp.resume;
  if (in == nullptr) {
    in = warp.go(0);
  } else {
    warp.active = warp.mask = warp.stack.active();
  }
  warp.gave_way = false;
  try {
    run_from(in, warp);
  } catch (const WaitForLanes& waits) {
    wait_for_lanes(warp, waits.wait);
  }
  if (!warp.gave_way) warp.waiting_turns = 0;
}

void BlockRunner::run_from(const Lowered* in, Warp& warp) {
  if (warp.follows) [[unlikely]] {
    while (in != nullptr) {
      look_at(in, warp);
      in = in->run(in, warp);
      if (!unwritten_stores_.empty()) mark_unwritten(warp);
    }
    return;
  }
  while (in != nullptr) in = in->run(in, warp);
}

void BlockRunner::sleep_on(Warp& warp, const std::byte* barrier) const {
  warp.sleeps_on = barrier;
  std::memcpy(&warp.slept_on, barrier, sizeof(warp.slept_on));
}

bool BlockRunner::sleeps(const Warp& warp) {
  if (warp.sleeps_on == nullptr || !warp.others.empty()) return false;
  std::uint64_t now = 0;
  std::memcpy(&now, warp.sleeps_on, sizeof(now));
  return Mbarrier::decode(now).odd == Mbarrier::decode(warp.slept_on).odd;
}

void BlockRunner::report_endless(const Lowered* at, const Warp& warp,
                                 const std::string& why) const {
  const std::uint32_t lanes = warp.stack.empty() ? 1 : warp.stack.active();
  fail(at, warp, static_cast<unsigned>(__builtin_ctz(lanes | 0x80000000U)),
       {.code = "RL0307",
        .message = "The kernel does not come to an end: " + why,
        .action = "runs"});
}

void BlockRunner::check_budget(const Lowered* at, const Warp& warp) const {
  if (warp.clock > launch_.warp_instructions) [[unlikely]] {
    fail_too_long(
        at, warp,
        fmt::format("this warp alone has executed {} instructions, which take about {:.0f} "
                    "modelled ms, and has not come to its end",
                    warp.clock, modelled_us(warp.clock, launch_.gpu) / 1000));
  }
  // Many warps of a block that does not end would take many times as long until one of them is
  // told; together they do no more than one may that computes all by itself.
  if (launch_.checkers && instructions_ - began_at_ > launch_.warp_instructions) [[unlikely]] {
    fail_too_long(at, warp,
                  fmt::format("the warps of this block have executed {} instructions together, and "
                              "have not come to their end",
                              instructions_ - began_at_));
  }
  if (work() > launch_.instruction_budget || launch_.memory.undo_is_full()) [[unlikely]] {
    fail_too_long(at, warp, long_launch_in_words(launch_));
  }
}

void BlockRunner::fail_too_long(const Lowered* at, const Warp& warp, const std::string& why) const {
  const std::uint32_t lanes = warp.stack.empty() ? 1 : warp.stack.active();
  fail(at, warp, static_cast<unsigned>(__builtin_ctz(lanes | 0x80000000U)),
       {.code = "RL0319", .message = "The kernel takes too long: " + why, .action = "runs"});
}

/// A kernel that looks at the clock sees something new each time; one that shares memory with the
/// host may.
bool BlockRunner::spins(std::uint64_t changes, std::uint64_t least_instructions) {
  constexpr std::size_t kMostBytes = std::size_t{4} << 20;
  if (instructions_ - began_at_ < least_instructions) return false;
  if (launch_.kernel.info.reads_clock || launch_.memory.shares_memory()) return false;
  if (own_.bytes_of_threads() > kMostBytes) return false;
  const SpinDetector::View view{.warps = warps_,
                                .register_bytes = launch_.kernel.register_bytes,
                                .control = launch_.kernel.control,
                                .shared = own_.all_shared(),
                                .local = own_.all_local(),
                                .frames = own_.all_frames(),
                                .changes = changes};
  return spin_detector_.spins(view);
}

void BlockRunner::report_spinning() const {
  const auto running = std::ranges::find(warps_, WarpState::ready, &Warp::state);
  const Warp& warp = running != warps_.end() ? *running : warps_.front();
  report_endless(warp.resume != nullptr ? warp.resume : warp.code, warp,
                 "this thread goes round in a loop, and no thread that can run changes anything "
                 "that could end it");
}

void BlockRunner::report_too_long() const {
  const Warp& warp =
      *std::ranges::find_if(warps_, [](const Warp& each) { return each.state != WarpState::done; });
  fail_too_long(warp.resume != nullptr ? warp.resume : warp.code, warp,
                long_launch_in_words(launch_));
}

void BlockRunner::spend(std::uint64_t instructions, const Lowered* at, const Warp& warp) {
  other_work_ += instructions;
  check_budget(at, warp);
}

void BlockRunner::run(std::uint64_t block) {
  start(block);
  while (round()) {
    const bool stuck = is_stuck();
    if (!stuck && !spins(changes(), kLongSpin)) continue;
    if (let_waiting_lanes_go(false)) continue;
    if (stuck) report_stuck();
    report_spinning();
  }
}

bool BlockRunner::round() {
  bool ran = false;
  bool at_barrier = false;
  bool progress = false;
  bool tries = false;
  bool polls = true;
  for (Warp& warp : warps_) {
    if (warp.state == WarpState::ready) {
      if (sleeps(warp)) {
        ++warp.waiting_turns;
      } else {
        warp.sleeps_on = nullptr;
        run_warp(warp);
      }
      ran = true;
      polls = polls && (warp.gave_way || warp.state != WarpState::ready);
      progress = progress || warp.state != WarpState::ready || !waits_for_long(warp);
      tries = tries || tries_[warp.index].times >= kTriesInVain;
    }
    at_barrier = at_barrier || warp.state == WarpState::at_barrier;
  }
  if (at_barrier && release_barriers()) ran = progress = true;
  if (!ran && at_barrier) report_deadlock();
  stuck_ = ran && !progress;
  polling_rounds_ = ran && polls ? polling_rounds_ + 1 : 0;
  if (tries && all_try_in_vain()) [[unlikely]]
    let_waiting_lanes_go(true);
  return ran;
}

const Lowered* BlockRunner::give_way(Warp& warp, const Lowered* next, Waiting waiting) {
  warp.resume = next;
  warp.gave_way = true;
  if (waiting == Waiting::yes) ++warp.waiting_turns;
  if (waiting == Waiting::no) warp.waiting_turns = 0;
  return nullptr;
}

bool BlockRunner::same_as_before(const Warp& warp, const Lowered* in,
                                 std::span<const std::byte> loaded,
                                 std::span<const std::byte> addresses) {
  return same_poll(polls_[warp.index], in, loaded, addresses);
}

void BlockRunner::report_stuck() const {
  const Warp& warp = *std::ranges::find(warps_, WarpState::ready, &Warp::state);
  const std::string why =
      "this thread reads the same value again and again, and no thread that can run will change it";
  report_endless(warp.resume > warp.code ? warp.resume - 1 : warp.resume, warp, why);
}

void BlockRunner::fail(const Lowered* in, const Warp& warp, unsigned lane, Failure failure) const {
  LaunchFailure thrown;
  thrown.status = failure.status.value_or(failure.code.status());
  Finding& finding = thrown.finding;
  finding.code = failure.code;
  finding.detail = failure.place.detail;
  finding.kernel = launch_.kernel.info.name;
  finding.where = site_of(launch_.kernel.info, in->index);
  finding.where.block = block_index_;
  finding.where.thread = thread(warp, lane);
  finding.where.warp = warp.index;
  finding.where.action = std::move(failure.action);
  finding.object = std::move(failure.place.words);
  finding.name = std::move(failure.place.name);
  finding.message = std::move(failure.message);
  throw thrown;
}

}  // namespace simgpu
