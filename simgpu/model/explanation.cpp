#include "simgpu/model/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "simgpu/time_band.h"

namespace simgpu {
namespace {

/// What usually helps.
const char* tip_of(Limiter limiter) {
  switch (limiter) {
    case Limiter::issue:
      return "do more work per instruction: unrolled loops, fewer index sums, and vector loads "
             "where addresses are multiples of 16 bytes";
    case Limiter::fp32:
      return "the fp32 units have work all the time, so only fewer fp32 instructions help: a "
             "multiply and an add in one FMA, and none that the result does not need";
    case Limiter::fp64:
      return "are all these double operations needed? a literal 1.0 is a double";
    case Limiter::fp16:
      return "only fewer operations help; of a product of matrices, tensor cores do halves many "
             "times faster";
    case Limiter::integer:
      return "move index sums out of the inner loop; a division or remainder by what the compiler "
             "does not know is some twenty instructions, seventy to ninety of 64 bits";
    case Limiter::special:
      return "divide, sqrt, exp and convert between types less often in the inner loop";
    case Limiter::tensor:
      return "they have work all the time, so only fewer operations help, such as none for padding";
    case Limiter::shared:
      return "hold values that are used several times in registers, such as a patch of a product "
             "for each thread, so that each load serves more arithmetic";
    case Limiter::exchange:
      return "let each thread add up more of its own before lanes add theirs together, so that "
             "there are fewer shuffles";
    case Limiter::constant:
      return "let all lanes of a warp read the same constant at a time, or keep a table that they "
             "index differently in shared memory";
    case Limiter::l1:
      return "make a warp's accesses touch fewer sectors; load what several threads use into "
             "shared memory once";
    case Limiter::l2:
      return "let neighbouring threads read neighbouring addresses, and load what several threads "
             "of a block use into shared memory once";
    case Limiter::dram:
      return "read each byte once: coalesce, and reuse what was loaded";
    case Limiter::atomics:
      return "add up in registers first, then across the warp (__shfl_down_sync, "
             "__reduce_add_sync) and the block, and let one thread of each block do the atomic; or "
             "spread them over several addresses and add these up at the end";
    case Limiter::shared_atomics:
      return "add up in registers, or across the warp (__shfl_down_sync, __reduce_add_sync), "
             "before one lane does the atomic; or give each warp a copy of its own; float atomics "
             "of shared memory are loops, which take a round for each lane on the same word";
    case Limiter::latency:
      return "give the multiprocessor more independent work: more warps resident, or more loads in "
             "flight per thread";
    case Limiter::launch:
      return "do more work in one kernel";
    case Limiter::host_loads:
      return "they cross PCIe each time: copy the data to device memory once, and load it from "
             "there";
    case Limiter::host_stores:
    case Limiter::managed_stores:
      return "they cross PCIe: keep results in device memory, and copy what the host needs once";
  }
  return "";
}

/// The largest term besides the limiter.
struct RunnerUp {
  std::optional<Limiter> limiter;
  double us = 0;
};
RunnerUp runner_up(const TimeBreakdown& time) {
  RunnerUp next;
  for (const auto& [limiter, us] : time.terms) {
    if (limiter != time.limiter && us > next.us) next = {limiter, us};
  }
  return next;
}

bool has_term(const TimeBreakdown& time) {
  return time.limiter && time.terms.contains(*time.limiter);
}

/// The term of the limiter; the launch has none of its own.
double limiter_time(const TimeBreakdown& time) {
  return has_term(time) ? time.terms.at(*time.limiter) : time.launch_us;
}

/// The time model joins its terms by a norm that is at least their maximum, so this is the most to
/// gain.
double most_gain(const TimeBreakdown& time) {
  const RunnerUp next = runner_up(time);
  if (!has_term(time) || !next.limiter) return 1;
  return std::max(1.0, time.total_us / (next.us + time.launch_us));
}

constexpr double kWorthTelling = 1.05;  // times faster

bool is_in_milliseconds(double us) { return us >= 1e4; }

std::string duration(double us) {
  return is_in_milliseconds(us) ? fmt::format("{:.4g} ms", us / 1e3) : fmt::format("{:.4g} us", us);
}

/// " (430 to 540)", in the unit of the kernel's time.
std::string band_in_words(const KernelRecord& kernel) {
  const double time_us = kernel.time.total_us;
  const std::string words =
      in_words(band_of(kernel), time_us, is_in_milliseconds(time_us) ? 1e3 : 1);
  return words.empty() ? words : fmt::format(" ({})", words);
}

}  // namespace

Explanation explain(const KernelRecord& kernel, int sm_count) {
  const TimeBreakdown& time = kernel.time;
  Explanation why;
  if (time.limiter) {
    why.limiter = words_of(*time.limiter);
    why.change = tip_of(*time.limiter);
  }
  why.proof = proof_of(kernel, sm_count);
  if (!why.proof.change.empty()) why.change = why.proof.change;
  if (unevenness(kernel) > 1) why.change = kShareEvenly;
  why.next_limiter = runner_up(time).limiter;
  why.most_gain = most_gain(time);
  why.exposed_us = std::max(0.0, time.total_us - time.launch_us - limiter_time(time));
  const double at_a_time = static_cast<double>(kernel.blocks_per_sm) * sm_count;
  if (at_a_time > 0) why.waves = static_cast<double>(kernel.grid.count()) / at_a_time;
  if (time.limiter == Limiter::launch) {
    why.exposed_us = 0;
    why.meaning = fmt::format("starting the kernel takes longer than its work: {} of {}",
                              duration(time.launch_us), duration(time.total_us));
  } else if (time.limiter == Limiter::latency) {
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

double limiter_us(const TimeBreakdown& time) { return limiter_time(time); }

double time_without_limiter(const TimeBreakdown& time, double least_us) {
  if (!has_term(time)) return std::min(time.total_us, least_us);
  const double left = std::max(runner_up(time).us, least_us);
  return std::min(time.total_us, left + time.launch_us);
}

std::string explain_in_words(const KernelRecord& kernel, int sm_count) {
  const TimeBreakdown& time = kernel.time;
  const Explanation why = explain(kernel, sm_count);
  std::string text = fmt::format("{}: {} modelled{}, {} {} of {} threads\n  {}\n  to be faster: {}",
                                 kernel.name, duration(time.total_us), band_in_words(kernel),
                                 kernel.grid.count(), kernel.grid.count() == 1 ? "block" : "blocks",
                                 kernel.block.count(), why.meaning, why.change);
  if (why.next_limiter && why.most_gain >= kWorthTelling) {
    text += fmt::format("; then {} limits, up to {:.1f}x faster", words_of(*why.next_limiter),
                        why.most_gain);
  }
  if (!why.proof.counter.empty()) {
    text += fmt::format("\n  proof: {}, {} = {:.10g}", why.proof.says, why.proof.counter,
                        why.proof.value);
  }
  std::vector<std::pair<Limiter, double>> terms(time.terms.begin(), time.terms.end());
  std::ranges::stable_sort(terms, [](const auto& a, const auto& b) { return a.second > b.second; });
  text += "\n  alone: ";
  constexpr double kVisible = 1e-3;  // of the largest
  std::string separator;
  for (const auto& [limiter, us] : terms) {
    if (us <= kVisible * terms.front().second) continue;
    text += fmt::format("{}{} {}", separator, name_of(limiter), duration(us));
    separator = ", ";
  }
  text += fmt::format("{}launch {}\n  latency that nothing hides: {}", separator,
                      duration(time.launch_us), duration(why.exposed_us));
  if (kernel.blocks_per_sm > 0) {
    text += fmt::format(
        "\n  waves: {:.2f}, {} {} at a time on each of {} multiprocessors ({}); the busiest has "
        "{:.2f} times the mean\n",
        why.waves, kernel.blocks_per_sm, kernel.blocks_per_sm == 1 ? "block" : "blocks", sm_count,
        words_of(kernel.occupancy_limiter), time.wave_quantisation);
  } else {
    text += "\n";
  }
  return text;
}

}  // namespace simgpu
