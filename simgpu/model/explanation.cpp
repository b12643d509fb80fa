#include "simgpu/model/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace simgpu {
namespace {

struct Limiter {
  const char* words;
  const char* tip;
};

const Limiter& describe(const std::string& limiter) {
  static const std::map<std::string, Limiter> known = {
      {"issue",
       {"instruction issue",
        "do more work per instruction: unrolled loops, fewer index sums, and vector loads where "
        "addresses are multiples of 16 bytes"}},
      {"fp32",
       {"fp32 arithmetic",
        "the fp32 units have work all the time, so only fewer fp32 instructions help: a multiply "
        "and an add in one FMA, and none that the result does not need"}},
      {"fp64",
       {"fp64 arithmetic", "are all these double operations needed? a literal 1.0 is a double"}},
      {"fp16",
       {"fp16 arithmetic",
        "only fewer operations help; of a product of matrices, tensor cores do halves many times "
        "faster"}},
      {"integer",
       {"integer arithmetic",
        "move index sums out of the inner loop; a division or remainder by what the compiler does "
        "not know is some twenty instructions, seventy to ninety of 64 bits"}},
      {"special",
       {"special functions and conversions",
        "divide, sqrt, exp and convert between types less often in the inner loop"}},
      {"tensor",
       {"the tensor cores",
        "they have work all the time, so only fewer operations help, such as none for padding"}},
      {"shared",
       {"shared memory",
        "hold values that are used several times in registers, such as a patch of a product for "
        "each thread, so that each load serves more arithmetic"}},
      {"exchange",
       {"exchanges between lanes",
        "let each thread add up more of its own before lanes add theirs together, so that there "
        "are "
        "fewer shuffles"}},
      {"constant",
       {"the constant cache",
        "let all lanes of a warp read the same constant at a time, or keep a table that they index "
        "differently in shared memory"}},
      {"l1",
       {"the L1 cache",
        "make a warp's accesses touch fewer sectors; load what several threads use into shared "
        "memory once"}},
      {"l2",
       {"L2 traffic",
        "let neighbouring threads read neighbouring addresses, and load what several threads of "
        "a block use into shared memory once"}},
      {"atomics",
       {"atomics on one address",
        "add up in registers first, then across the warp (__shfl_down_sync, __reduce_add_sync) and "
        "the block, and let one thread of each block do the atomic; or spread them over several "
        "addresses and add these up at the end"}},
      {"shared_atomics",
       {"atomics in shared memory",
        "add up in registers, or across the warp (__shfl_down_sync, __reduce_add_sync), before one "
        "lane does the atomic; or give each warp a copy of its own; float atomics of shared memory "
        "are loops, which take a round for each lane on the same word"}},
      {"dram", {"DRAM traffic", "read each byte once: coalesce, and reuse what was loaded"}},
      {"host_loads",
       {"loads from memory of the host",
        "they cross PCIe each time: copy the data to device memory once, and load it from there"}},
      {"host_stores",
       {"stores to memory of the host",
        "they cross PCIe: keep results in device memory, and copy what the host needs once"}},
      {"latency",
       {"latency",
        "give the multiprocessor more independent work: more warps resident, or more loads in "
        "flight per thread"}},
      {"launch", {"launches", "do more work in one kernel"}},
  };
  static const Limiter other = {"", "look at the terms in the report"};
  const auto found = known.find(limiter);
  return found == known.end() ? other : found->second;
}

std::string words_of(const std::string& limiter) {
  const std::string words = describe(limiter).words;
  return words.empty() ? limiter : words;
}

/// The largest term besides the limiter.
std::pair<std::string, double> runner_up(const TimeBreakdown& time) {
  std::pair<std::string, double> next{"", 0};
  for (const auto& [name, us] : time.terms) {
    if (name != time.limiter && us > next.second) next = {name, us};
  }
  return next;
}

/// The term of the limiter; the launch has none of its own.
double limiter_time(const TimeBreakdown& time) {
  const auto term = time.terms.find(time.limiter);
  return term == time.terms.end() ? time.launch_us : term->second;
}

/// The time model joins its terms by a norm that is at least their maximum, so this is the most to
/// gain.
double most_gain(const TimeBreakdown& time) {
  const auto [next, next_us] = runner_up(time);
  if (!time.terms.contains(time.limiter) || next.empty()) return 1;
  return std::max(1.0, time.total_us / (next_us + time.launch_us));
}

constexpr double kWorthTelling = 1.05;  // times faster

std::string duration(double us) {
  return us >= 1e4 ? fmt::format("{:.4g} ms", us / 1e3) : fmt::format("{:.4g} us", us);
}

}  // namespace

Explanation explain(const KernelRecord& kernel, int sm_count) {
  const TimeBreakdown& time = kernel.time;
  Explanation why;
  why.limiter = words_of(time.limiter);
  why.change = describe(time.limiter).tip;
  why.proof = proof_of(kernel, sm_count);
  if (!why.proof.change.empty()) why.change = why.proof.change;
  if (unevenness(kernel) > 1) why.change = kShareEvenly;
  why.next_limiter = runner_up(time).first;
  why.most_gain = most_gain(time);
  why.exposed_us = std::max(0.0, time.total_us - time.launch_us - limiter_time(time));
  const double at_a_time = static_cast<double>(kernel.blocks_per_sm) * sm_count;
  if (at_a_time > 0) why.waves = static_cast<double>(kernel.grid.count()) / at_a_time;
  if (time.limiter == "launch") {
    why.exposed_us = 0;
    why.meaning = fmt::format("starting the kernel takes longer than its work: {} of {}",
                              duration(time.launch_us), duration(time.total_us));
  } else if (time.limiter == "latency") {
    why.meaning = fmt::format(
        "warps wait for their own results for {} of {}, and no resource is busy all the time",
        duration(limiter_time(time)), duration(time.total_us));
    if (unevenness(kernel) > 1) {
      why.meaning +=
          fmt::format(", the longest {:.1f} times as long as the mean one", time.uneven_warps);
    }
  } else {
    why.meaning = fmt::format("{} alone takes {} of {}", why.limiter, duration(limiter_time(time)),
                              duration(time.total_us));
    if (unevenness(kernel) > 1) {
      why.meaning += fmt::format(
          ", {:.1f} times as long as if all multiprocessors and their schedulers did the same",
          time.uneven_sms);
    }
  }
  return why;
}

std::string words_of_limiter(const std::string& limiter) { return words_of(limiter); }

double limiter_us(const TimeBreakdown& time) { return limiter_time(time); }

double time_without_limiter(const TimeBreakdown& time, double least_us) {
  if (!time.terms.contains(time.limiter)) return std::min(time.total_us, least_us);
  const double left = std::max(runner_up(time).second, least_us);
  return std::min(time.total_us, left + time.launch_us);
}

std::string explain_in_words(const KernelRecord& kernel, int sm_count) {
  const TimeBreakdown& time = kernel.time;
  const Explanation why = explain(kernel, sm_count);
  std::string text = fmt::format("{}: {} modelled, {} {} of {} threads\n  {}\n  to be faster: {}",
                                 kernel.name, duration(time.total_us), kernel.grid.count(),
                                 kernel.grid.count() == 1 ? "block" : "blocks",
                                 kernel.block.count(), why.meaning, why.change);
  if (why.most_gain >= kWorthTelling) {
    text += fmt::format("; then {} limits, up to {:.1f}x faster", words_of(why.next_limiter),
                        why.most_gain);
  }
  if (!why.proof.counter.empty()) {
    text += fmt::format("\n  proof: {}, {} = {:.10g}", why.proof.says, why.proof.counter,
                        why.proof.value);
  }
  std::vector<std::pair<std::string, double>> terms(time.terms.begin(), time.terms.end());
  std::ranges::stable_sort(terms, [](const auto& a, const auto& b) { return a.second > b.second; });
  text += "\n  alone: ";
  constexpr double kVisible = 1e-3;  // of the largest
  std::string separator;
  for (const auto& [name, us] : terms) {
    if (us <= kVisible * terms.front().second) continue;
    text += fmt::format("{}{} {}", separator, name, duration(us));
    separator = ", ";
  }
  text += fmt::format("{}launch {}\n  latency that nothing hides: {}", separator,
                      duration(time.launch_us), duration(why.exposed_us));
  if (kernel.blocks_per_sm > 0) {
    text += fmt::format(
        "\n  waves: {:.2f}, {} {} at a time on each of {} multiprocessors ({}); the busiest has "
        "{:.2f} times the mean\n",
        why.waves, kernel.blocks_per_sm, kernel.blocks_per_sm == 1 ? "block" : "blocks", sm_count,
        kernel.occupancy_limiter, time.wave_quantisation);
  } else {
    text += "\n";
  }
  return text;
}

}  // namespace simgpu
