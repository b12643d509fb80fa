#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "simgpu/isa/issue_control.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/loop_nest.h"
#include "simgpu/model/machine_operations.h"
#include "simgpu/model/wait_trace.h"
#include "simgpu/model/work.h"

namespace simgpu::model {

/// A warp on its way through machine code: it starts its instructions in order, each as many cycles
/// behind the one before as ptxas says, and not before the scoreboards that it waits for are
/// released. What takes a known time is in the stall cycles, so that registers are not looked at.
class IssueClock {
 public:
  explicit IssueClock(const Work& work, WaitTrace* trace = nullptr) : work_(work), trace_(trace) {
    for (std::size_t i = 0; i < work.program.size(); ++i) latency_.push_back(latency_of(i, work));
  }

  /// A moment, to tell what happened since.
  struct Moment {
    double time;
    std::size_t charges;  // so far
  };
  Moment moment() const { return {now_, trace_ == nullptr ? 0 : trace_->charges()}; }
  double now() const { return now_; }

  /// What follows is executed in this part of the turns, until the part before is set again.
  double enter_part(double part) { return std::exchange(part_, part); }
  double part() const { return part_; }

  /// Starts all instructions of the stretches, one after the other.
  void run(const std::vector<Stretch>& code) {
    for (const Stretch& stretch : code) {
      const Moment begin = moment();
      for (std::size_t i = stretch.first; i < stretch.last; ++i) start(i);
      if (stretch.probability < 1) weigh(begin, stretch.probability);
    }
  }

  /// Waits for all that was begun since a moment.
  void drain(const Moment& since) {
    for (const Pending& board : boards_) {
      if (board.set >= since.time) wait_for(board);
    }
    for (; !groups_.empty(); groups_.pop_front()) wait_for(groups_.front());
  }

  /// Who was waited for since a moment.
  std::vector<WaitTrace::Charge> charges_since(const Moment& since) const {
    return trace_ == nullptr ? std::vector<WaitTrace::Charge>{} : trace_->since(since.charges);
  }

  /// Lets time pass in which what was begun since a moment is begun anew.
  /// @param like who is waited for meanwhile
  void repeat(const Moment& since, double cycles, const std::vector<WaitTrace::Charge>& like) {
    shift(since.time, cycles);
    if (trace_ != nullptr) trace_->charge_like(like, cycles);
    now_ += cycles;
  }

  /// What happened since a moment happens with a probability below one: the time is that of the
  /// mean, and so is what is left under way.
  void weigh(const Moment& since, double probability) {
    const double end = now_;
    now_ = since.time + probability * (end - since.time);
    if (trace_ != nullptr) trace_->stretch(since.charges, end - since.time, now_ - end);
    for_each_since(since.time, [&](Pending& pending) {
      pending.ready = now_ + probability * std::max(0.0, pending.ready - end);
      pending.set = std::min(pending.set, now_);
    });
  }

 private:
  /// Something that is under way.
  struct Pending {
    double ready = 0;  ///< when it is done
    double set = -1;   ///< when it began
    WaitTrace::Node node = WaitTrace::kNone;
  };

  template <class Change>
  void for_each_since(double time, const Change& change) {
    const auto look = [&](Pending& pending) {
      if (pending.set >= time) change(pending);
    };
    std::ranges::for_each(boards_, look);
    std::ranges::for_each(groups_, look);
    look(open_group_);
    look(fetched_);
  }

  void shift(double since, double cycles) {
    for_each_since(since, [&](Pending& pending) {
      pending.ready += cycles;
      pending.set += cycles;
    });
  }

  void wait_for(const Pending& pending) { wait_until(pending.ready, pending.node); }

  void wait_until(double time, WaitTrace::Node node) {
    if (time <= now_) return;
    if (trace_ != nullptr) trace_->charge(node, time - now_);
    now_ = time;
  }

  void start(std::size_t index) {
    const InstructionInfo& instruction = work_.program[index];
    const IssueControl& control = work_.control[index];
    for (unsigned i = 0; i < IssueControl::kScoreboards; ++i) {
      if ((control.wait_mask >> i & 1U) != 0) wait_for(boards_.at(i));
    }
    if (instruction.async_step == AsyncStep::wait) {
      for (; groups_.size() > instruction.groups_under_way; groups_.pop_front()) {
        wait_for(groups_.front());
      }
    }
    const WaitTrace::Node node =
        trace_ == nullptr ? WaitTrace::kNone : trace_->start(index, now_, WaitTrace::kNone);
    begin(index, node);
    double next = now_ + std::max(1U, control.stall_cycles);
    if (instruction.cls == InstructionClass::barrier || instruction.fences) {
      next = std::max(next, now_ + latency_[index]);
    }
    wait_until(next, node);
  }

  /// Notes what is under way from now on.
  void begin(std::size_t index, WaitTrace::Node node) {
    const IssueControl& control = work_.control[index];
    const Pending result{ready(index), now_, node};
    set(control.write_barrier, result);
    set(control.read_barrier, {now_ + kOperandsRead, now_, node});
    const AsyncStep step = work_.program[index].async_step;
    if (step == AsyncStep::copy && result.ready > open_group_.ready) open_group_ = result;
    if (step == AsyncStep::commit) groups_.push_back(std::exchange(open_group_, {}));
  }

  /// When an instruction's results are there. Those of loads not before what the same warp has had
  /// fetched already, where they ask for that.
  double ready(std::size_t index) {
    const double own = now_ + latency_[index];
    const LoadCounts loads = work_.loads_of(index);
    if (loads.requests == 0) return own;
    const double there = own + recent_share(loads) * std::max(0.0, fetched_.ready - own);
    if (there > fetched_.ready) fetched_ = {there, now_, WaitTrace::kNone};
    return there;
  }

  void set(unsigned scoreboard, const Pending& pending) {
    if (scoreboard >= IssueControl::kScoreboards) return;
    Pending& board = boards_.at(scoreboard);
    if (pending.ready > board.ready) board = pending;
  }

  const Work& work_;
  WaitTrace* trace_;             // nullptr: nobody asks who is waited for
  std::vector<double> latency_;  // of results, by instruction
  double now_ = 0;
  double part_ = 1;  // of the turns, in which what runs is executed
  std::array<Pending, IssueControl::kScoreboards> boards_;
  Pending fetched_;             // when all data of loads so far is there
  Pending open_group_;          // the asynchronous copies since the last commit
  std::deque<Pending> groups_;  // those that nothing has waited for
};

}  // namespace simgpu::model
