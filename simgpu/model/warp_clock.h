#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "simgpu/model/latency.h"
#include "simgpu/model/limiters.h"
#include "simgpu/model/load_uses.h"
#include "simgpu/model/loop_nest.h"
#include "simgpu/model/memory_order.h"
#include "simgpu/model/wait_trace.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// A warp on its way: the time, and what is under way.
class WarpClock {
 public:
  explicit WarpClock(const Work& work, WaitTrace* trace = nullptr)
      : work_(work), uses_(work), trace_(trace) {
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
    std::size_t writes;   // so far
    std::size_t charges;  // likewise
  };
  Moment moment() const {
    return {now_, writes_.size(), trace_ == nullptr ? 0 : trace_->charges()};
  }
  double now() const { return now_; }

  /// What follows is executed in this part of the turns, until the part before is set again.
  double enter_part(double part) { return std::exchange(part_, part); }
  double part() const { return part_; }

  /// Starts all instructions of the stretches, which are straight code.
  void run(const std::vector<Stretch>& code) {
    begin_code();
    stores_.clear();
    for (const Stretch& stretch : code) {
      if (stretch.stores_if) not_before_ = std::max(not_before_, branch_start_);
      const double part = enter_part(part_ * stretch.probability);
      if (stretch.probability < 1) arms_.push_back({stretch.probability, now_});
      for (std::size_t i = stretch.first; i < stretch.last; ++i) {
        start(i, stretch.probability);
      }
      enter_part(part);
    }
    end_code();
  }

  /// Waits for all that was begun since a moment.
  void drain(const Moment& since) {
    for_each_written(since, [&](const Value& value, const UnderWay&) {
      wait_until(value.data.ready, value.data.node);
    });
    wait_until(fetched_, last_fetch_);
    wait_until(open_group_.ready, open_group_.node);
    for (const Group& group : groups_) wait_until(group.ready, group.node);
  }

  /// Who was waited for since a moment.
  std::vector<WaitTrace::Charge> charges_since(const Moment& since) const {
    return trace_ == nullptr ? std::vector<WaitTrace::Charge>{} : trace_->since(since.charges);
  }

  /// Lets time pass in which what was written since a moment is written anew.
  /// @param like who is waited for meanwhile
  void repeat(const Moment& since, double cycles, const std::vector<WaitTrace::Charge>& like) {
    for_each_written(since, [&](Value& value, const UnderWay&) { value.data.ready += cycles; });
    shift_copies(since, cycles);
    if (trace_ != nullptr) trace_->charge_like(like, cycles);
    now_ += cycles;
  }

  /// What happened since a moment happens with a probability below one: the time is that of the
  /// mean. What is left under way is so in that part of the turns, and in full.
  void weigh(const Moment& since, double probability) {
    const double end = now_;
    now_ = since.time + probability * (end - since.time);
    if (trace_ != nullptr) trace_->stretch(since.charges, end - since.time, now_ - end);
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
    WaitTrace::Node node = WaitTrace::kNone;
  };
  /// What is left from now on of a value that is written with this probability.
  UnderWay in_mean(const UnderWay& written, const UnderWay& before, double probability) const {
    if (probability == 1) return written;
    const double left = std::max(0.0, written.ready - now_);
    const double left_before = std::max(0.0, before.ready - now_);
    const double longest = std::max(left, left_before);
    const UnderWay& later = written.ready >= before.ready ? written : before;
    if (longest == 0) return {later.ready, 1, later.load, later.node};
    const double mean = written.part * left + (1 - probability) * before.part * left_before;
    return {now_ + longest, std::min(1.0, mean / longest), later.load, later.node};
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
    WaitTrace::Node node = WaitTrace::kNone;
  };
  /// Asynchronous copies that are waited for together.
  struct Group {
    double ready = 0;  // when they are done
    WaitTrace::Node node = WaitTrace::kNone;
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
    if (open_group_.ready > since.time) open_group_.ready += cycles;
    if (fetched_ > since.time) fetched_ += cycles;
    for (Group& group : groups_) {
      if (group.ready > since.time) group.ready += cycles;
    }
  }

  void start(std::size_t index, double probability) {
    const InstructionInfo& instruction = work_.program[index];
    const InstructionSpills spills = work_.spills_of(index);
    issued_ += probability * (spills.loads + spills.stores);
    const double start =
        step(index, probability,
             std::max({spills.loads > 0 ? refilled() : now_, after_stores(index), not_before_}));
    const bool is_branch = instruction.cls == InstructionClass::control;
    if (is_branch && !instruction.reads.empty()) branch_start_ = start;
    if (!instruction.issues) return;
    if (instruction.only_stores) stores_.push_back({&instruction, version_of(instruction), start});
    const double slots = issue_cycles(instruction);
    issued_ += probability * slots;
    const WaitTrace::Node node =
        trace_ == nullptr ? WaitTrace::kNone : trace_->issue(started_, probability * slots);
    note_latest(probability, start + slots, node);
    if (const Group done = follow_copies(index, start); done.ready > 0) {
      end_code();
      wait_until(done.ready, done.node);
    } else if (instruction.fences) {
      // It comes back when L2 has all that went before.
      end_code();
      wait_until(now_ + probability * work_.gpu.l2_latency, node);
    } else if (instruction.cls == InstructionClass::barrier) {
      // Nothing moves across a barrier, and nothing passes before it is through.
      const double through = last() - 1 + latency_[index];
      end_code();
      wait_until(through, node);
    } else {
      note_order(instruction, start);
      return;
    }
    begin_code();
    if (probability < 1) arms_.push_back({probability, now_});
  }

  /// What keeps later instructions from starting early: the stores before a barrier of a warp, and
  /// a division that waits to know which way it goes.
  void note_order(const InstructionInfo& instruction, double start) {
    const bool is_warp_barrier =
        instruction.cls == InstructionClass::warp_exchange && instruction.writes.empty();
    if (is_warp_barrier) {
      for (const Store& store : stores_) not_before_ = std::max(not_before_, store.start);
    }
    if (instruction.sequence.branches) not_before_ = std::max(not_before_, start);
  }

  void begin_code() {
    issued_ = 0;
    latest_ = now_;
    latest_node_ = WaitTrace::kNone;
    arms_.clear();
    if (trace_ != nullptr) trace_->begin_code();
  }

  /// Lets the time pass that the straight code takes.
  void end_code() {
    const double end = std::max(now_ + issued_, last());
    if (trace_ != nullptr) charge_code(end);
    now_ = end;
  }

  void charge_code(double end) {
    if (now_ + issued_ >= last()) {
      trace_->charge_issue(end - now_);
      return;
    }
    trace_->charge_chain(latest_node_, now_, latest_, latest_ - now_);
    const double beyond = end - latest_;
    if (beyond <= 0) return;
    double sum = 0;
    for (const Arm& arm : arms_) sum += arm.probability * std::max(0.0, arm.latest - latest_);
    for (const Arm& arm : arms_) {
      if (arm.latest <= latest_) continue;
      trace_->charge_chain(arm.node, latest_, arm.latest,
                           beyond * arm.probability * (arm.latest - latest_) / sum);
    }
  }

  /// Nothing else happens until then.
  void wait_until(double time, WaitTrace::Node node) {
    if (time <= now_) return;
    if (trace_ != nullptr) trace_->charge(node, time - now_);
    now_ = time;
  }

  void note_latest(double probability, double time, WaitTrace::Node node) {
    double& latest = probability < 1 ? arms_.back().latest : latest_;
    if (time <= latest) return;
    latest = time;
    (probability < 1 ? arms_.back().node : latest_node_) = node;
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
  Group follow_copies(std::size_t index, double start) {
    const InstructionInfo& instruction = work_.program[index];
    switch (instruction.async_step) {
      case AsyncStep::copy:
        if (const double done = ready(index, start); done > open_group_.ready) {
          open_group_ = {done, started_};
        }
        return {};
      case AsyncStep::wait_all:
      case AsyncStep::commit:
        groups_.push_back(std::exchange(open_group_, {}));
        break;
      case AsyncStep::wait:
      case AsyncStep::wait_phase:
        break;
      case AsyncStep::none:
        return {};
    }
    if (instruction.async_step == AsyncStep::commit) return {};
    const std::optional<std::size_t> left = groups_left(index);
    if (!left) return {};
    Group done{start + 1, started_};
    for (; groups_.size() > *left; groups_.pop_front()) {
      if (groups_.front().ready > done.ready) done = groups_.front();
    }
    return done;
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
    WaitTrace::Node awaited = WaitTrace::kNone;
    const auto read = [&](std::uint32_t slot) {
      const auto written = values_.find(slot);
      if (written == values_.end()) return;
      UnderWay& data = written->second.data;
      if (latest == nullptr || data.ready > latest->ready) latest = &data;
      const double there = time_of(data, index, start);
      if (there <= operands) return;
      operands = there;
      awaited = data.node;
    };
    for (const std::uint32_t slot : instruction.reads) read(slot);
    for (const std::uint32_t word : instruction.reads_passed) read(kPassed | word);
    if (trace_ != nullptr) {
      started_ = instruction.issues ? trace_->start(index, operands, awaited) : awaited;
    }
    UnderWay result{operands, part_, {}, started_};
    if (instruction.issues) {
      result = {ready(index, operands), part_, uses_.result_of(index), started_};
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
    const double there = own + recent_share(loads) * std::max(0.0, fetched_ - own);
    if (there > fetched_) {
      fetched_ = there;
      last_fetch_ = started_;
    }
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
  WaitTrace* trace_;                            // nullptr: nobody asks who is waited for
  WaitTrace::Node started_ = WaitTrace::kNone;  // the instruction that step() saw last
  double of_class_[kInstructionClasses];
  std::vector<double> latency_;  // of results, by instruction
  double now_ = 0;
  double issued_ = 0;        // instructions since now_
  double latest_ = 0;        // no instruction since then starts later
  double branch_start_ = 0;  // of the last one that decides something
  double not_before_ = 0;    // no later instruction starts sooner
  WaitTrace::Node latest_node_ = WaitTrace::kNone;
  std::vector<Arm> arms_;  // but for those of short branches
  // By register, and by word of .param variables behind kPassed.
  std::unordered_map<std::uint32_t, Value> values_;
  std::vector<Store> stores_;                   // of this straight code
  double part_ = 1;                             // of the turns, in which what runs is executed
  std::unordered_set<std::uint32_t> in_parts_;  // values that are under way in a part of the turns
  std::vector<Write> writes_;
  std::uint64_t walks_ = 0;
  double fetched_ = 0;  // when all data of loads so far is there
  WaitTrace::Node last_fetch_ = WaitTrace::kNone;
  Group open_group_;          // the asynchronous copies since the last commit
  std::deque<Group> groups_;  // those that nothing has waited for
};

}  // namespace simgpu::model
