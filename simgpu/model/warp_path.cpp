#include "simgpu/model/warp_path.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/load_uses.h"
#include "simgpu/model/loop_nest.h"
#include "simgpu/model/meetings.h"
#include "simgpu/model/memory_order.h"
#include "simgpu/model/polls.h"

namespace simgpu::model {
namespace {

/// A warp on its way: the time, and what is under way.
class Warp {
 public:
  explicit Warp(const Work& work) : work_(work), uses_(work) {
    for (int cls = 0; cls < kInstructionClasses; ++cls) {
      of_class_[cls] = latency_of(static_cast<InstructionClass>(cls), work);
    }
    for (std::size_t i = 0; i < work.program.size(); ++i) {
      latency_.push_back(latency_of_result(i));
    }
  }

  /// A moment, to tell what happened since.
  struct Moment {
    double time;
    std::size_t writes;  // so far
  };
  Moment moment() const { return {now_, writes_.size()}; }
  double now() const { return now_; }

  /// What follows is executed in this part of the turns, until the part before is set again.
  double enter_part(double part) { return std::exchange(part_, part); }
  double part() const { return part_; }

  /// Starts all instructions of the stretches, which are straight code.
  void run(const std::vector<Stretch>& code) {
    begin_code();
    stores_.clear();
    for (const Stretch& stretch : code) {
      const double part = enter_part(part_ * stretch.probability);
      if (stretch.probability < 1) arms_.push_back({stretch.probability, now_});
      for (std::size_t i = stretch.first; i < stretch.last; ++i) {
        start(i, stretch.probability);
      }
      enter_part(part);
    }
    now_ = std::max(now_ + issued_, last());
  }

  /// Waits for all that was begun since a moment.
  void drain(const Moment& since) {
    for_each_written(since, [&](const Value& value, const UnderWay&) {
      now_ = std::max(now_, value.data.ready);
    });
    now_ = std::max({now_, fetched_, open_group_});
    for (const double group : groups_) now_ = std::max(now_, group);
  }

  /// Lets time pass in which what was written since a moment is written anew.
  void repeat(const Moment& since, double cycles) {
    for_each_written(since, [&](Value& value, const UnderWay&) { value.data.ready += cycles; });
    shift_copies(since, cycles);
    now_ += cycles;
  }

  /// What happened since a moment happens with a probability below one: the time is that of the
  /// mean. What is left under way is so in that part of the turns, and in full.
  void weigh(const Moment& since, double probability) {
    const double end = now_;
    now_ = since.time + probability * (end - since.time);
    keep_parts(since, end - since.time, probability);
    for_each_written(since, [&](Value& value, const UnderWay& before) {
      value.data.ready += now_ - end;
      value.data = in_mean(value.data, before, probability);
      if (value.data.part < 1) in_parts_.insert(value.slot);
    });
    shift_copies(since, now_ - end);
  }

 private:
  /// Of what is under way in a part of the turns, that much less is left after `cycles` in another
  /// part of them as both parts must have in common: the case of a switch that comes next in the
  /// code need not be the one that comes next.
  void keep_parts(const Moment& since, double cycles, double probability) {
    for (std::size_t i = since.writes; i < writes_.size(); ++i) in_parts_.erase(writes_[i].slot);
    for (auto slot = in_parts_.begin(); slot != in_parts_.end();) {
      UnderWay& data = values_[*slot].data;
      if (data.ready <= since.time) {
        slot = in_parts_.erase(slot);
        continue;
      }
      const double part = std::min(1.0, data.part / part_);
      const double in_common = std::max(0.0, part + probability - 1) / part;
      data.ready += (probability - in_common) * cycles;
      ++slot;
    }
  }

  /// A value is waited for in a part of the turns, of which as many as possible are those that read
  /// it: where the cases of a switch follow each other, each waits for what the one before left.
  struct UnderWay {
    double ready = 0;
    double part = 1;
    AwaitedLoad load = {};
  };
  /// What is left from now on of a value that is written with this probability.
  UnderWay in_mean(const UnderWay& written, const UnderWay& before, double probability) const {
    if (probability == 1) return written;
    const double left = std::max(0.0, written.ready - now_);
    const double left_before = std::max(0.0, before.ready - now_);
    const double longest = std::max(left, left_before);
    const UnderWay& later = written.ready >= before.ready ? written : before;
    if (longest == 0) return {later.ready, 1, later.load};
    const double mean = written.part * left + (1 - probability) * before.part * left_before;
    return {now_ + longest, std::min(1.0, mean / longest), later.load};
  }
  struct Value {
    UnderWay data;
    std::uint32_t slot = 0;
    std::uint64_t seen = 0;     // by which walk over the writes
    std::uint64_t version = 0;  // how often it was written
  };
  struct Write {
    std::uint32_t slot;
    UnderWay before;  // of the value in its place
  };
  /// A short branch, whose instructions have predicates.
  struct Arm {
    double probability;
    double latest;  // as latest_
  };
  struct Store {
    const InstructionInfo* instruction;
    std::uint64_t version;  // of the register with its address
    double start;
  };

  static constexpr std::uint32_t kPassed = 1U << 31;

  template <class Change>
  void for_each_written(const Moment& since, const Change& change) {
    ++walks_;
    for (std::size_t i = since.writes; i < writes_.size(); ++i) {
      Value& value = values_[writes_[i].slot];
      if (std::exchange(value.seen, walks_) == walks_) continue;
      change(value, writes_[i].before);
    }
  }

  void shift_copies(const Moment& since, double cycles) {
    if (open_group_ > since.time) open_group_ += cycles;
    if (fetched_ > since.time) fetched_ += cycles;
    for (double& group : groups_) {
      if (group > since.time) group += cycles;
    }
  }

  void start(std::size_t index, double probability) {
    const InstructionInfo& instruction = work_.program[index];
    const InstructionSpills spills = work_.spills_of(index);
    issued_ += probability * (spills.loads + spills.stores);
    const double start = step(index, probability,
                              std::max(spills.loads > 0 ? refilled() : now_, after_stores(index)));
    if (!instruction.issues) return;
    if (instruction.only_stores) stores_.push_back({&instruction, version_of(instruction), start});
    const double slots = issue_cycles(instruction);
    issued_ += probability * slots;
    double& latest = probability < 1 ? arms_.back().latest : latest_;
    latest = std::max(latest, start + slots);
    if (const double ready = follow_copies(index, start); ready > 0) {
      now_ = std::max({now_ + issued_, last(), ready});
    } else if (instruction.fences) {
      // It comes back when L2 has all that went before.
      now_ = std::max(now_ + issued_, last()) + probability * work_.gpu.l2_latency;
    } else if (instruction.cls == InstructionClass::barrier) {
      // Nothing moves across a barrier, and nothing passes before it is through.
      now_ = std::max(now_ + issued_, last() - 1 + latency_[index]);
    } else {
      return;
    }
    begin_code();
    if (probability < 1) arms_.push_back({probability, now_});
  }

  void begin_code() {
    issued_ = 0;
    latest_ = now_;
    arms_.clear();
  }

  /// When the last instruction of the straight code starts, in the mean. Short branches add what
  /// they wait for where each is taken in turns of its own; where all are taken, it is the longest.
  double last() const {
    double longest = 0, sum = 0;
    for (const Arm& arm : arms_) {
      const double delay = std::max(0.0, arm.latest - latest_);
      longest = std::max(longest, delay);
      sum += arm.probability * delay;
    }
    return latest_ + std::min(longest, sum);
  }

  /// Cycles before the warp's next instruction. A tensor instruction has to wait for the one before
  /// it, which a warp with few others beside it is held up by. Only where the latency of an mma is
  /// known by itself: the guess for other GPUs holds some of that.
  double issue_cycles(const InstructionInfo& instruction) const {
    const double slots = instruction.issue_slots();
    if (instruction.cls != InstructionClass::tensor || work_.gpu.tensor_latency == 0) return slots;
    return std::max(slots, tensor_cycles(instruction, work_.gpu));
  }

  /// Asynchronous copies: for a wait, when what it waits for is done; 0 for other instructions.
  double follow_copies(std::size_t index, double start) {
    const InstructionInfo& instruction = work_.program[index];
    switch (instruction.async_step) {
      case AsyncStep::copy:
        open_group_ = std::max(open_group_, ready(index, start));
        return 0;
      case AsyncStep::wait_all:
      case AsyncStep::commit:
        groups_.push_back(std::exchange(open_group_, 0));
        break;
      case AsyncStep::wait:
      case AsyncStep::wait_phase:
        break;
      case AsyncStep::none:
        return 0;
    }
    if (instruction.async_step == AsyncStep::commit) return 0;
    const std::optional<std::size_t> left = groups_left(index);
    if (!left) return 0;
    double ready = start + 1;
    for (; groups_.size() > *left; groups_.pop_front()) {
      ready = std::max(ready, groups_.front());
    }
    return ready;
  }

  /// Groups of copies that a wait leaves under way; nothing where it waits for none of the warp's.
  /// At an mbarrier it is the mean, less where it was more now and then: the last turns of a loop
  /// that is some turns ahead leave fewer.
  std::optional<std::size_t> groups_left(std::size_t index) const {
    const InstructionInfo& wait = work_.program[index];
    if (wait.async_step != AsyncStep::wait_phase) return wait.groups_under_way;
    const CopyWaits<std::uint64_t> waits = work_.loads_of(index).at_mbarriers;
    if (waits.waits == 0) return std::nullopt;
    return (waits.groups_left + waits.waits / 4) / waits.waits;
  }

  /// When a spilled register can be there again: the assembler loads it ahead, as it does others.
  double refilled() const {
    return now_ + of_class_[static_cast<int>(InstructionClass::local_load)];
  }

  /// When the instruction can start, but not before `start`; its results follow by its latency.
  double step(std::size_t index, double probability, double start) {
    const InstructionInfo& instruction = work_.program[index];
    const UnderWay* latest = nullptr;  // of the operands
    double operands = start;
    const auto read = [&](std::uint32_t slot) {
      const auto written = values_.find(slot);
      if (written == values_.end()) return;
      UnderWay& data = written->second.data;
      if (latest == nullptr || data.ready > latest->ready) latest = &data;
      operands = std::max(operands, time_of(data, index, start));
    };
    for (const std::uint32_t slot : instruction.reads) read(slot);
    for (const std::uint32_t word : instruction.reads_passed) read(kPassed | word);
    UnderWay result{operands, part_};
    if (instruction.issues) {
      result = {ready(index, operands), part_, uses_.result_of(index)};
    } else if (latest != nullptr && latest->load.instruction != AwaitedLoad::kNone) {
      result = *latest;  // What the assembler folds away passes its operand on.
    }
    const auto write = [&](std::uint32_t slot) {
      Value& value = values_[slot];
      const UnderWay before = value.data;
      value.data = in_mean(result, before, probability);
      value.slot = slot;
      ++value.version;
      writes_.push_back({slot, before});
    };
    for (const std::uint32_t slot : instruction.writes) write(slot);
    for (const std::uint32_t word : instruction.writes_passed) write(kPassed | word);
    return operands;
  }

  /// When an instruction that reads a value from `start` on can have it, in the mean of the turns
  /// in which it is read. What is folded away does not wait itself.
  double time_of(UnderWay& data, std::size_t reader, double start) const {
    const double longer = work_.program[reader].issues ? uses_.longer(data.load, reader) : 0;
    return start + std::min(1.0, data.part / part_) * std::max(0.0, data.ready + longer - start);
  }

  std::uint64_t version_of(const InstructionInfo& access) const {
    const auto base = values_.find(access.operands.front());
    return base == values_.end() ? 0 : base->second.version;
  }

  /// When a load can start behind the stores of the same straight code that may store to its place:
  /// a warp starts its instructions in order, and the assembler cannot move the load before them.
  double after_stores(std::size_t index) const {
    const InstructionInfo& load = work_.program[index];
    double start = 0;
    if (!may_load(load) || stores_.empty()) return start;
    const std::uint64_t version = version_of(load);
    for (const Store& store : stores_) {
      const bool same_base =
          store.instruction->operands.front() == load.operands.front() && store.version == version;
      if (may_meet(*store.instruction, load, same_base)) start = std::max(start, store.start);
    }
    return start;
  }

  /// When an instruction's results are there. Those of loads not before what the same warp has had
  /// fetched already, where they ask for that.
  double ready(std::size_t index, double start) {
    const double own = start + latency_[index];
    const LoadCounts loads = work_.loads_of(index);
    if (loads.requests == 0) return own;
    const double recent =
        static_cast<double>(loads.of_recent) / static_cast<double>(loads.requests);
    const double there = own + recent * std::max(0.0, fetched_ - own);
    fetched_ = std::max(fetched_, there);
    return there;
  }

  /// That of the chain, where the assembler makes several instructions of it.
  double latency_of_result(std::size_t index) const {
    const auto of = [&](InstructionClass cls) { return of_class_[static_cast<std::size_t>(cls)]; };
    const MachineSequence& sequence = work_.program[index].sequence;
    if (sequence.empty()) return latency_of(index, work_);
    return sequence.chained_simple * of(InstructionClass::integer) +
           sequence.chained_special * of(InstructionClass::special) +
           sequence.chained_fp64 * of(InstructionClass::fp64);
  }

  const Work& work_;
  LoadUses uses_;
  double of_class_[kInstructionClasses];
  std::vector<double> latency_;  // of results, by instruction
  double now_ = 0;
  double issued_ = 0;      // instructions since now_
  double latest_ = 0;      // no instruction since then starts later
  std::vector<Arm> arms_;  // but for those of short branches
  // By register, and by word of .param variables behind kPassed.
  std::unordered_map<std::uint32_t, Value> values_;
  std::vector<Store> stores_;                   // of this straight code
  double part_ = 1;                             // of the turns, in which what runs is executed
  std::unordered_set<std::uint32_t> in_parts_;  // values that are under way in a part of the turns
  std::vector<Write> writes_;
  std::uint64_t walks_ = 0;
  double fetched_ = 0;         // when all data of loads so far is there
  double open_group_ = 0;      // when the asynchronous copies since the last commit are done
  std::deque<double> groups_;  // the same of committed groups that nothing has waited for
};

/// Leads a warp through the steps.
class Walk {
 public:
  explicit Walk(const Work& work) : warp_(work) {}

  void follow(const Step& step) {
    constexpr double kRounding = 1e-3;
    const Warp::Moment begin = warp_.moment();
    const double part = warp_.part();
    if (step.times < 1 - kRounding) warp_.enter_part(part * step.times);
    turn(step);
    const double first_end = warp_.now();
    if (step.times < 1 - kRounding) {
      warp_.enter_part(part);
      warp_.weigh(begin, step.times);
    }
    if (step.times <= 1 + kRounding) return;
    if (const auto known = cycles_of_turn_.find(&step); known != cycles_of_turn_.end()) {
      warp_.repeat(begin, (step.times - 1) * known->second);
      return;
    }
    // Copies that are waited for some turns later need as many turns until the waits are those of
    // the loop itself and no longer of what was issued before it.
    const int turns = step.waits ? 8 : 1;
    if (step.waits) {
      for (int i = 0; i < turns; ++i) turn(step);
    }
    const Warp::Moment last = warp_.moment();
    for (int i = 0; i < turns; ++i) turn(step);
    const double cycles = (warp_.now() - last.time) / turns;
    cycles_of_turn_[&step] = cycles;
    warp_.repeat(last, first_end + (step.times - 1) * cycles - warp_.now());
  }

  double cycles() const { return warp_.now(); }

 private:
  void turn(const Step& step) {
    if (step.body.empty()) {
      const Warp::Moment begin = warp_.moment();
      warp_.run(step.code);
      if (step.drains) warp_.drain(begin);
      return;
    }
    for (const Step& inner : step.body) follow(inner);
  }

  Warp warp_;
  std::unordered_map<const Step*, double> cycles_of_turn_;  // as it follows itself
};

/// Of the mean of `warps` warps, which sleep so long in all.
double cycles_of(const Work& work, double warps, std::uint64_t slept_ns) {
  const std::vector<Step> steps = find_steps(work.program, work.executed, warps);
  Walk walk(work);
  for (const Step& step : steps) walk.follow(step);
  const double slept_us = static_cast<double>(slept_ns) / 1e3 / warps;
  return walk.cycles() + slept_us * work.gpu.clock_under_load_mhz();
}

/// What a warp does: the mean one of many, or those of a block that do most of everything.
struct WarpTimes {
  double cycles = 0;
  double meetings = 0;
  double beyond_l1 = 0;  // requests

  void take_longest(const WarpTimes& other) {
    cycles = std::max(cycles, other.cycles);
    meetings = std::max(meetings, other.meetings);
    beyond_l1 = std::max(beyond_l1, other.beyond_l1);
  }
  double stalled(const Work& work) const {
    return cycles > 0 ? std::min(1.0, waits_together(work, meetings, beyond_l1) / cycles) : 0;
  }
};

WarpTimes times_of(const Work& work, const std::vector<Loop>& polls, double warps, double cycles) {
  return {cycles, meetings_of_a_warp(work, polls, warps), loads_beyond_l1(work, warps)};
}

/// Of the warps of the mean block that go this way.
WarpTimes times_of(const Work& work, const std::vector<Loop>& polls, const WarpWays::Way& way) {
  LoadCountsByPc loads = way.loads;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    // What became of an instruction's loads in L2 is not known way by way.
    loads[i].at_l2 = work.loads_of(i).at_l2;
    loads[i].from_dram = work.loads_of(i).from_dram;
  }
  Work own = work;
  own.executed = std::span(way.executed).first(work.program.size());
  own.loads = loads;
  const auto warps = static_cast<double>(way.blocks);
  return times_of(own, polls, warps, cycles_of(own, warps, way.slept_ns));
}

}  // namespace

double warp_cycles(const Work& work) {
  const double warps = static_cast<double>(work.blocks * work.warps_per_block);
  return cycles_of(work, warps, work.counters.slept_ns);
}

BlockCycles block_cycles(const Work& work, double mean_warp) {
  const WorkBalance& balance = work.balance;
  const std::vector<Loop> polls = find_polls(work.program, work.executed);
  if (!balance.ways || balance.ways->mixes.empty()) {
    const auto warps = static_cast<double>(work.blocks * work.warps_per_block);
    const double mean = mean_warp * balance.longest_of_block;
    return {mean, mean * balance.longest, times_of(work, polls, warps, mean_warp).stalled(work)};
  }
  std::vector<WarpTimes> of_way;
  for (const WarpWays::Way& way : balance.ways->ways) of_way.push_back(times_of(work, polls, way));
  double cycles = 0, stalled = 0, blocks = 0, longest = 0;
  for (const WarpWays::Mix& mix : balance.ways->mixes) {
    WarpTimes block;
    for (const std::size_t way : mix.ways) block.take_longest(of_way[way]);
    const auto alike = static_cast<double>(mix.blocks);
    cycles += alike * block.cycles;
    stalled += alike * block.cycles * block.stalled(work);
    blocks += alike;
    longest = std::max(longest, block.cycles);
  }
  const double mean = cycles / blocks;
  return {balance.kept_waiting * mean,
          balance.kept_waiting * std::max(longest, mean * balance.longest),
          cycles > 0 ? stalled / cycles : 0};
}

}  // namespace simgpu::model
