#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"
#include "simgpu/model/proof.h"

namespace rooflab {
namespace {

using simgpu::Limiter;

constexpr double kSectorBytes = 32;
/// Sectors against those that the bytes asked for would fill. A row that starts off a boundary
/// takes 5 for 4; every second float takes twice as many.
constexpr double kManySectors = 1.5;
constexpr double kManyBankConflicts = 0.25;  // of all wavefronts
constexpr double kMuchDivergence = 0.2;      // of all branches
constexpr double kLowOccupancy = 0.2;
constexpr double kMuchArithmetic = 1.5;  // times what the case takes

/// Causes that waste less of a kernel's time cost it nothing: other terms take as long.
constexpr double kNoticeable = 0.04;

/// A cause, and the time that it takes by the terms of the model.
struct Cause {
  Diagnostic story;
  double wasted_us = 0;
};
using Causes = std::vector<Cause>;

/// The longest of these terms of the time model.
double longest_us(const simgpu::KernelRecord& kernel, std::initializer_list<Limiter> terms) {
  double longest = 0;
  for (const Limiter limiter : terms) {
    const auto term = kernel.time.terms.find(limiter);
    if (term != kernel.time.terms.end()) longest = std::max(longest, term->second);
  }
  return longest;
}

/// What a kernel would gain if a share of one term were gone: nothing where another term is as
/// long. There the remedy has a price, such as shared memory for padding, and brings nothing.
double gain_without(const simgpu::KernelRecord& kernel, Limiter limiter, double share) {
  double own = 0;
  double others = 0;
  for (const auto& [term, us] : kernel.time.terms) {
    double& longest = term == limiter ? own : others;
    longest = std::max(longest, us);
  }
  return std::max(0.0, own - std::max(others, own * (1 - share)));
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The global loads, or stores, of a kernel.
struct Accesses {
  const char* name;
  std::uint64_t requests, sectors, bytes;

  /// The fewest sectors that could hold the bytes: at least one for each request.
  double needed() const {
    return std::max(static_cast<double>(bytes) / kSectorBytes, static_cast<double>(requests));
  }
  bool uncoalesced() const { return static_cast<double>(sectors) > kManySectors * needed(); }
};

void add_uncoalesced(Causes& causes, const simgpu::KernelRecord& kernel,
                     const DiagnoseContext& context) {
  const simgpu::KernelCounters& counters = kernel.counters;
  const Accesses loads{"load", counters.global_load_requests, counters.global_load_sectors,
                       counters.global_load_bytes};
  const Accesses stores{"store", counters.global_store_requests, counters.global_store_sectors,
                        counters.global_store_bytes};
  if (!loads.uncoalesced() && !stores.uncoalesced()) return;
  const Accesses& worse = loads.uncoalesced() ? loads : stores;
  Diagnostic story = begin_story("RL0501", context);
  story.message = fmt::format(
      "each warp's {} touches {:.1f} sectors on average: neighbouring threads do not use "
      "neighbouring addresses",
      worse.name, ratio(worse.sectors, worse.requests));
  story.evidence.push_back(fmt::format("{} sectors for {} requests; their bytes fill {:.0f}",
                                       worse.sectors, worse.requests, worse.needed()));
  story.help =
      "let threadIdx.x run along the dimension whose elements lie side by side (the columns of a "
      "row-major matrix), so that one request is one stretch of memory";
  const double needless = 1 - worse.needed() / static_cast<double>(worse.sectors);
  // Warps wait for scattered sectors, too.
  causes.push_back(
      {std::move(story),
       needless * longest_us(kernel, {Limiter::l1, Limiter::l2, Limiter::dram, Limiter::latency})});
}

void add_bank_conflicts(Causes& causes, const simgpu::KernelRecord& kernel,
                        const DiagnoseContext& context) {
  const simgpu::KernelCounters& counters = kernel.counters;
  const std::uint64_t wavefronts =
      counters.shared_load_wavefronts + counters.shared_store_wavefronts;
  const std::uint64_t conflicts =
      counters.shared_load_bank_conflicts + counters.shared_store_bank_conflicts;
  if (ratio(conflicts, wavefronts) < kManyBankConflicts) return;
  Diagnostic story = begin_story("RL0502", context);
  story.message = fmt::format("{:.0f} % of the shared-memory wavefronts are bank conflicts",
                              100 * ratio(conflicts, wavefronts));
  story.evidence.push_back(fmt::format("{} conflicts in {} wavefronts", conflicts, wavefronts));
  story.help = simgpu::advice_against_conflicts(counters);
  causes.push_back(
      {std::move(story), gain_without(kernel, Limiter::shared, ratio(conflicts, wavefronts))});
}

void add_atomics(Causes& causes, const simgpu::KernelRecord& kernel,
                 const DiagnoseContext& context) {
  const simgpu::KernelCounters& counters = kernel.counters;
  for (const Limiter limiter : {Limiter::atomics, Limiter::shared_atomics}) {
    const double wasted = gain_without(kernel, limiter, 1);
    if (wasted <= 0) continue;
    Diagnostic story = begin_story("RL0598", context);
    story.message =
        limiter == Limiter::atomics
            ? fmt::format(
                  "{} atomic operations meet on one address of global memory, and wait for "
                  "each other",
                  simgpu::count_in_words(counters.atomics_on_one_address))
            : fmt::format(
                  "each of {} atomics of warps on shared memory takes {:.0f} cycles: lanes "
                  "meet on one word, and wait for each other",
                  simgpu::count_in_words(counters.shared_atomic_requests),
                  ratio(counters.shared_atomic_wavefronts, counters.shared_atomic_requests));
    story.help =
        "add up in registers first, then across the warp (__shfl_down_sync), then across the "
        "block, and let one thread of each block do the atomic";
    causes.push_back({std::move(story), wasted});
  }
}

void add_divergence(Causes& causes, const simgpu::KernelRecord& kernel,
                    const DiagnoseContext& context) {
  const simgpu::KernelCounters& counters = kernel.counters;
  if (ratio(counters.divergent_branches, counters.branches) < kMuchDivergence) return;
  Diagnostic story = begin_story("RL0503", context);
  story.message = fmt::format("{:.0f} % of the branches split their warp",
                              100 * ratio(counters.divergent_branches, counters.branches));
  story.help =
      "let whole warps take the same side: branch on values that are equal for 32 neighbouring "
      "threads";
  causes.push_back({std::move(story), ratio(counters.divergent_branches, counters.branches) *
                                          longest_us(kernel, {Limiter::issue, Limiter::latency})});
}

void add_low_occupancy(Causes& causes, const simgpu::KernelRecord& kernel,
                       const DiagnoseContext& context) {
  if (kernel.theoretical_occupancy >= kLowOccupancy || kernel.time.limiter != Limiter::latency)
    return;
  if (simgpu::unevenness(kernel) > 1) return;  // more warps would wait for the same few
  Diagnostic story = begin_story("RL0504", context);
  story.message =
      fmt::format("only {:.0f} % of the warps fit on an SM, limited by {}: too few to hide latency",
                  100 * kernel.theoretical_occupancy, words_of(kernel.occupancy_limiter));
  story.help =
      "give each thread more independent work, such as several loads before their first use; or "
      "use "
      "less shared memory or fewer registers, but not so few that values spill to local memory";
  causes.push_back({std::move(story), longest_us(kernel, {Limiter::latency})});
}

void add_few_blocks(Causes& causes, const simgpu::KernelRecord& kernel,
                    const DiagnoseContext& context) {
  if (!leaves_multiprocessors_idle(kernel)) return;
  Diagnostic story = begin_story("RL0594", context);
  story.message = fmt::format(
      "the grid's {} {} leave most multiprocessors without work: it takes {:.0f} times as long as "
      "if all had some",
      kernel.grid.count(), kernel.grid.count() == 1 ? "block" : "blocks",
      kernel.time.wave_quantisation);
  story.help = kCutIntoMoreBlocks;
  causes.push_back(
      {std::move(story), kernel.time.total_us * (1 - 1 / kernel.time.wave_quantisation)});
}

void add_uneven_work(Causes& causes, const simgpu::KernelRecord& kernel,
                     const DiagnoseContext& context) {
  const double times = simgpu::unevenness(kernel);
  const std::optional<Limiter> limiter = kernel.time.limiter;
  if (times <= 1 || !limiter) return;
  Diagnostic story = begin_story("RL0599", context);
  story.message =
      limiter == Limiter::latency
          ? fmt::format(
                "few warps do most of the work: the launch waits {:.1f} times as long for "
                "them as it would if all did the same",
                times)
          : fmt::format(
                "some multiprocessors, or some of their schedulers, do most of the work: "
                "the launch takes {:.1f} times as long as if all did the same",
                times);
  story.help = simgpu::kShareEvenly;
  causes.push_back({std::move(story), longest_us(kernel, {*limiter}) * (1 - 1 / times)});
}

void add_spills(Causes& causes, const simgpu::KernelRecord& kernel,
                const DiagnoseContext& context) {
  const simgpu::KernelCounters& c = kernel.counters;
  if (c.local_spilling_requests == 0) return;
  const std::uint64_t requests = c.global_load_requests + c.global_store_requests +
                                 c.local_load_requests + c.local_store_requests;
  Diagnostic story = begin_story("RL0590", context);
  story.message = fmt::format(
      "threads keep more values than they have registers for ({}): ptxas spills them to local "
      "memory, and {:.0f} % of the warps' accesses to memory are for that",
      kernel.registers_per_thread, 100 * ratio(c.local_spilling_requests, requests));
  story.evidence.push_back(
      fmt::format("{} bytes of local memory for each thread", kernel.local_bytes_per_thread));
  story.help = simgpu::kHoldFewerValues;
  causes.push_back(
      {std::move(story), ratio(c.local_spilling_requests, requests) *
                             longest_us(kernel, {Limiter::l1, Limiter::l2, Limiter::dram})});
}

/// Only where arithmetic is the bound: a few operations for each byte may well be done twice.
void add_needless_arithmetic(Causes& causes, const simgpu::KernelRecord& kernel,
                             const Timing& timing, const DiagnoseContext& context) {
  double done = 0;
  for (const auto& [type, flops] : kernel.counters.flops) done += static_cast<double>(flops);
  if (timing.bound != "compute" || done < kMuchArithmetic * timing.flops) return;
  Diagnostic story = begin_story("RL0593", context);
  story.message =
      fmt::format("the kernel does {:.1f} times the arithmetic that {} takes", done / timing.flops,
                  timing.name.empty() ? "the case" : "case " + timing.name);
  story.evidence.push_back(
      fmt::format("{:.3g} floating-point operations of {:.3g}", done, timing.flops));
  story.help =
      "leave out what adds nothing to the result: tiles that a mask hides altogether, and what "
      "another thread computes too";
  causes.push_back(
      {std::move(story),
       (1 - timing.flops / done) *
           longest_us(kernel, {Limiter::fp32, Limiter::fp64, Limiter::fp16, Limiter::tensor,
                               Limiter::issue, Limiter::shared, Limiter::latency})});
}

/// A wrong index over the lanes scatters accesses of global memory and conflicts in shared memory,
/// and the former is what to mend: it comes first wherever it costs something.
void put_scattered_before_conflicts(Causes& causes) {
  const auto with_code = [&](Code code) {
    return std::ranges::find_if(causes,
                                [=](const Cause& cause) { return cause.story.code == code; });
  };
  const auto scattered = with_code("RL0501");
  const auto conflicts = with_code("RL0502");
  if (scattered != causes.end() && conflicts < scattered) {
    std::rotate(conflicts, scattered, scattered + 1);
  }
}

/// The most expensive first, without those that cost nothing. Without terms, as they come.
std::vector<Diagnostic> told_by_cost(Causes causes, const simgpu::KernelRecord& kernel) {
  if (!kernel.time.terms.empty()) {
    std::erase_if(causes, [&](const Cause& cause) {
      return cause.wasted_us < kNoticeable * kernel.time.total_us;
    });
    std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::wasted_us);
    put_scattered_before_conflicts(causes);
  }
  std::vector<Diagnostic> stories;
  for (Cause& cause : causes) stories.push_back(std::move(cause.story));
  return stories;
}

}  // namespace

bool leaves_multiprocessors_idle(const simgpu::KernelRecord& kernel) {
  constexpr double kFewBlocks = 2;  // times as long as if all multiprocessors had work
  return kernel.time.wave_quantisation >= kFewBlocks;
}

std::vector<Diagnostic> explain_slowness(const Timing& timing, const simgpu::KernelRecord& kernel,
                                         const DiagnoseContext& context) {
  if (timing.efficiency >= timing.target_efficiency) return {};
  Causes causes;
  add_few_blocks(causes, kernel, context);
  add_needless_arithmetic(causes, kernel, timing, context);
  add_uncoalesced(causes, kernel, context);
  add_bank_conflicts(causes, kernel, context);
  add_atomics(causes, kernel, context);
  add_divergence(causes, kernel, context);
  add_spills(causes, kernel, context);
  add_uneven_work(causes, kernel, context);
  add_low_occupancy(causes, kernel, context);
  return told_by_cost(std::move(causes), kernel);
}

}  // namespace rooflab
