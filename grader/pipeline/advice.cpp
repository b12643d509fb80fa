#include "grader/pipeline/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rooflab {
namespace {

struct Limiter {
  const char* words;
  const char* tip;
};

const Limiter& describe(const std::string& limiter) {
  static const std::map<std::string, Limiter> known = {
      {"issue",
       {"instruction issue",
        "do more arithmetic per instruction: vector loads, unrolled loops, fewer index sums"}},
      {"fp32", {"fp32 arithmetic", "this is the roof itself; only fewer operations help"}},
      {"fp64",
       {"fp64 arithmetic", "are all these double operations needed? a literal 1.0 is a double"}},
      {"fp16", {"fp16 arithmetic", "tensor cores multiply halves many times faster"}},
      {"integer", {"integer arithmetic", "move index sums out of the inner loop"}},
      {"special", {"special functions", "divide, sqrt and exp less often in the inner loop"}},
      {"tensor", {"the tensor cores", "this is the roof itself; only fewer operations help"}},
      {"shared",
       {"shared memory",
        "hold a patch of values per thread in registers, so that each load serves more "
        "multiply-adds, and avoid bank conflicts"}},
      {"l1",
       {"the L1 cache",
        "make a warp's accesses touch fewer sectors, or load tiles into shared memory once"}},
      {"l2",
       {"L2 traffic",
        "load each value once per block into shared memory, and let neighbouring threads read "
        "neighbouring addresses"}},
      {"dram", {"DRAM traffic", "read each byte once: coalesce, and reuse what was loaded"}},
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
std::pair<std::string, double> runner_up(const simgpu::TimeBreakdown& time) {
  std::pair<std::string, double> next{"", 0};
  for (const auto& [name, us] : time.terms) {
    if (name != time.limiter && us > next.second) next = {name, us};
  }
  return next;
}

}  // namespace

std::string advice_for(const simgpu::TimeBreakdown& time) {
  if (time.limiter.empty() || time.total_us <= 0) return {};
  const auto term = time.terms.find(time.limiter);
  std::string advice = "limited by " + words_of(time.limiter);
  if (term != time.terms.end()) {
    advice += fmt::format(" ({:.3g} of {:.3g} us)", term->second, time.total_us);
  }
  advice += fmt::format(": {}", describe(time.limiter).tip);
  const auto [next, next_us] = runner_up(time);
  if (term == time.terms.end() || next.empty()) return advice;
  // The time model joins its terms by a norm that is at least their maximum, so this is the most to
  // gain.
  const double gain = time.total_us / (next_us + time.launch_us);
  if (gain < 1.05) return advice;
  return advice + fmt::format("; without it {} would limit, up to {:.1f}x faster (modelled)",
                              words_of(next), gain);
}

}  // namespace rooflab
