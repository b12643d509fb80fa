#include "simgpu/model/warp_path.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "simgpu/model/issue_clock.h"
#include "simgpu/model/latency.h"
#include "simgpu/model/loop_nest.h"
#include "simgpu/model/meetings.h"
#include "simgpu/model/polls.h"
#include "simgpu/model/wait_trace.h"
#include "simgpu/model/warp_clock.h"

namespace simgpu::model {
namespace {

/// Leads a warp through the steps. @tparam Clock WarpClock or IssueClock
template <class Clock>
class Walk {
 public:
  explicit Walk(const Work& work, WaitTrace* trace = nullptr) : warp_(work, trace) {}

  void follow(const Step& step) {
    constexpr double kRounding = 1e-3;
    const typename Clock::Moment begin = warp_.moment();
    const double part = warp_.part();
    if (step.times < 1 - kRounding) warp_.enter_part(part * step.times);
    turn(step);
    const double first_end = warp_.now();
    if (step.times < 1 - kRounding) {
      warp_.enter_part(part);
      warp_.weigh(begin, step.times);
    }
    if (step.times <= 1 + kRounding) return;
    if (const auto known = turns_.find(&step); known != turns_.end()) {
      warp_.repeat(begin, (step.times - 1) * known->second.cycles, known->second.charges);
      return;
    }
    // Copies that are waited for some turns later need as many turns until the waits are those of
    // the loop itself and no longer of what was issued before it.
    const int turns = step.waits ? 8 : 1;
    if (step.waits) {
      for (int i = 0; i < turns; ++i) turn(step);
    }
    const typename Clock::Moment last = warp_.moment();
    for (int i = 0; i < turns; ++i) turn(step);
    const double cycles = (warp_.now() - last.time) / turns;
    const Turn& known = turns_[&step] = {cycles, warp_.charges_since(last)};
    warp_.repeat(last, first_end + (step.times - 1) * cycles - warp_.now(), known.charges);
  }

  double cycles() const { return warp_.now(); }

 private:
  void turn(const Step& step) {
    if (step.body.empty()) {
      const typename Clock::Moment begin = warp_.moment();
      warp_.run(step.code);
      if (step.drains) warp_.drain(begin);
      return;
    }
    for (const Step& inner : step.body) follow(inner);
  }

  Clock warp_;
  struct Turn {
    double cycles = 0;
    std::vector<WaitTrace::Charge> charges;
  };
  std::unordered_map<const Step*, Turn> turns_;  // of a loop that follows itself
};

template <class Clock>
double cycles_by(const Work& work, const std::vector<Step>& steps, WaitTrace* trace) {
  Walk<Clock> walk(work, trace);
  for (const Step& step : steps) walk.follow(step);
  return walk.cycles();
}

/// Of the mean of `warps` warps, which sleep so long in all.
double cycles_of(const Work& work, double warps, std::uint64_t slept_ns,
                 WaitTrace* trace = nullptr) {
  const std::vector<Step> steps = find_steps(work.program, work.executed, warps);
  const double cycles = work.control.empty() ? cycles_by<WarpClock>(work, steps, trace)
                                             : cycles_by<IssueClock>(work, steps, trace);
  const double slept_us = static_cast<double>(slept_ns) / 1e3 / warps;
  return cycles + slept_us * work.gpu.clock_under_load_mhz();
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

/// The warps of the mean block that go one way.
class WarpsOfWay {
 public:
  WarpsOfWay(const Work& work, const WarpWays::Way& way)
      : loads_(way.loads), own_(work), slept_ns_(way.slept_ns), warps_(way.blocks) {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      // What became of an instruction's loads in L2 is not known way by way.
      loads_[i].at_l2 = work.loads_of(i).at_l2;
      loads_[i].from_dram = work.loads_of(i).from_dram;
    }
    own_.executed = std::span(way.executed).first(work.program.size());
    own_.loads = loads_;
  }
  WarpsOfWay(const WarpsOfWay&) = delete;
  WarpsOfWay& operator=(const WarpsOfWay&) = delete;

  double cycles(WaitTrace* trace = nullptr) const {
    return cycles_of(own_, static_cast<double>(warps_), slept_ns_, trace);
  }
  WarpTimes times(const std::vector<Loop>& polls) const {
    return times_of(own_, polls, static_cast<double>(warps_), cycles());
  }

 private:
  LoadCountsByPc loads_;
  Work own_;
  std::uint64_t slept_ns_;
  std::uint64_t warps_;
};

/// Of the longest warp of each of these blocks, how many of them take that long and how long.
struct LongestWay {
  std::size_t way = 0;
  double blocks = 0, cycles = 0;
};

std::vector<LongestWay> longest_ways(const Work& work, const WarpWays& ways) {
  std::vector<double> cycles;
  for (const WarpWays::Way& way : ways.ways) cycles.push_back(WarpsOfWay(work, way).cycles());
  std::vector<LongestWay> longest;
  for (const WarpWays::Mix& mix : ways.mixes) {
    if (mix.ways.empty()) continue;
    const std::size_t way = *std::ranges::max_element(
        mix.ways, {}, [&](std::size_t candidate) { return cycles[candidate]; });
    longest.push_back({way, static_cast<double>(mix.blocks), cycles[way]});
  }
  return longest;
}

void add_shares(std::vector<double>& sum, const WaitTrace& trace, double weight) {
  const std::vector<double> cycles = trace.by_instruction();
  const double all = std::accumulate(cycles.begin(), cycles.end(), 0.0);
  if (all <= 0) return;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * cycles[i] / all;
}

}  // namespace

double warp_cycles(const Work& work) {
  const double warps = static_cast<double>(work.blocks * work.warps_per_block);
  return cycles_of(work, warps, work.counters.slept_ns);
}

std::vector<double> waited_for(const Work& work, bool of_longest_block) {
  std::vector<double> shares(work.program.size());
  const WorkBalance& balance = work.balance;
  if (!balance.ways || balance.ways->mixes.empty()) {
    WaitTrace trace(work.program.size());
    const auto warps = static_cast<double>(work.blocks * work.warps_per_block);
    cycles_of(work, warps, work.counters.slept_ns, &trace);
    add_shares(shares, trace, 1);
    return shares;
  }
  std::vector<LongestWay> longest = longest_ways(work, *balance.ways);
  if (of_longest_block && !longest.empty()) {
    longest = {*std::ranges::max_element(longest, {}, &LongestWay::cycles)};
  }
  std::map<std::size_t, double> cycles;  // by way, so that each is followed once
  for (const LongestWay& one : longest) cycles[one.way] += one.blocks * one.cycles;
  for (const auto& [way, weight] : cycles) {
    WaitTrace trace(work.program.size());
    WarpsOfWay(work, balance.ways->ways[way]).cycles(&trace);
    add_shares(shares, trace, weight);
  }
  return shares;
}

BlockCycles block_cycles(const Work& work, double mean_warp) {
  const WorkBalance& balance = work.balance;
  const std::vector<Loop> polls = find_polls(work.program, work.executed);
  if (!balance.ways || balance.ways->mixes.empty()) {
    const auto warps = static_cast<double>(work.blocks * work.warps_per_block);
    const double mean = balance.kept_waiting * mean_warp * balance.longest_of_block;
    return {mean, mean * balance.longest, times_of(work, polls, warps, mean_warp).stalled(work)};
  }
  std::vector<WarpTimes> of_way;
  for (const WarpWays::Way& way : balance.ways->ways) {
    of_way.push_back(WarpsOfWay(work, way).times(polls));
  }
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
