#include <fmt/format.h>

#include <algorithm>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr double kSectorBytes = 32;
/// Sectors against those that the bytes asked for would fill. A row that starts off a boundary
/// takes 5 for 4; every second float takes twice as many.
constexpr double kManySectors = 1.5;
constexpr double kManyBankConflicts = 0.25;  // of all wavefronts
constexpr double kMuchDivergence = 0.2;      // of all branches
constexpr double kLowOccupancy = 0.2;
constexpr double kMuchArithmetic = 1.5;  // times what the case takes

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

void add_uncoalesced(std::vector<Diagnostic>& stories, const simgpu::KernelCounters& counters,
                     const DiagnoseContext& context) {
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
  story.help = "let threadIdx.x run along a row, so that one request is one stretch of memory";
  stories.push_back(std::move(story));
}

void add_bank_conflicts(std::vector<Diagnostic>& stories, const simgpu::KernelCounters& counters,
                        const DiagnoseContext& context) {
  const std::uint64_t wavefronts =
      counters.shared_load_wavefronts + counters.shared_store_wavefronts;
  const std::uint64_t conflicts =
      counters.shared_load_bank_conflicts + counters.shared_store_bank_conflicts;
  if (ratio(conflicts, wavefronts) < kManyBankConflicts) return;
  Diagnostic story = begin_story("RL0502", context);
  story.message = fmt::format("{:.0f} % of the shared-memory wavefronts are bank conflicts",
                              100 * ratio(conflicts, wavefronts));
  story.evidence.push_back(fmt::format("{} conflicts in {} wavefronts", conflicts, wavefronts));
  story.help =
      "pad the rows of the shared array by one element, or change which index runs over the lanes";
  stories.push_back(std::move(story));
}

void add_divergence(std::vector<Diagnostic>& stories, const simgpu::KernelCounters& counters,
                    const DiagnoseContext& context) {
  if (ratio(counters.divergent_branches, counters.branches) < kMuchDivergence) return;
  Diagnostic story = begin_story("RL0503", context);
  story.message = fmt::format("{:.0f} % of the branches split their warp",
                              100 * ratio(counters.divergent_branches, counters.branches));
  story.help =
      "let whole warps take the same side: branch on values that are equal for 32 neighbouring "
      "threads";
  stories.push_back(std::move(story));
}

void add_low_occupancy(std::vector<Diagnostic>& stories, const simgpu::KernelRecord& kernel,
                       const Timing& timing, const DiagnoseContext& context) {
  if (kernel.theoretical_occupancy >= kLowOccupancy || timing.limiter != "latency") return;
  Diagnostic story = begin_story("RL0504", context);
  story.message =
      fmt::format("only {:.0f} % of the warps fit on an SM, limited by {}: too few to hide latency",
                  100 * kernel.theoretical_occupancy, kernel.occupancy_limiter);
  story.help =
      "use fewer registers or less shared memory per block, or give each thread more independent "
      "work";
  stories.push_back(std::move(story));
}

void add_few_blocks(std::vector<Diagnostic>& stories, const simgpu::KernelRecord& kernel,
                    const DiagnoseContext& context) {
  if (!leaves_multiprocessors_idle(kernel)) return;
  Diagnostic story = begin_story("RL0594", context);
  story.message = fmt::format(
      "the grid's {} {} leave most multiprocessors without work: it takes {:.0f} times as long as "
      "if all had some",
      kernel.grid.count(), kernel.grid.count() == 1 ? "block" : "blocks",
      kernel.time.wave_quantisation);
  story.help = kCutIntoMoreBlocks;
  stories.push_back(std::move(story));
}

/// Only where arithmetic is the bound: a few operations for each byte may well be done twice.
void add_needless_arithmetic(std::vector<Diagnostic>& stories,
                             const simgpu::KernelCounters& counters, const Timing& timing,
                             const DiagnoseContext& context) {
  double done = 0;
  for (const auto& [type, flops] : counters.flops) done += static_cast<double>(flops);
  if (timing.bound != "compute" || done < kMuchArithmetic * timing.flops) return;
  Diagnostic story = begin_story("RL0593", context);
  story.message = fmt::format("the kernel does {:.1f} times the arithmetic that the case takes",
                              done / timing.flops);
  story.evidence.push_back(
      fmt::format("{:.3g} floating-point operations of {:.3g}", done, timing.flops));
  story.help =
      "leave out what adds nothing to the result: tiles that a mask hides altogether, and what "
      "another thread computes too";
  stories.push_back(std::move(story));
}

}  // namespace

bool leaves_multiprocessors_idle(const simgpu::KernelRecord& kernel) {
  constexpr double kFewBlocks = 2;  // times as long as if all multiprocessors had work
  return kernel.time.wave_quantisation >= kFewBlocks;
}

std::vector<Diagnostic> explain_slowness(const Timing& timing, const simgpu::KernelRecord& kernel,
                                         const DiagnoseContext& context) {
  std::vector<Diagnostic> stories;
  if (timing.efficiency >= timing.target_efficiency) return stories;
  add_few_blocks(stories, kernel, context);
  add_needless_arithmetic(stories, kernel.counters, timing, context);
  add_uncoalesced(stories, kernel.counters, context);
  add_bank_conflicts(stories, kernel.counters, context);
  add_divergence(stories, kernel.counters, context);
  add_low_occupancy(stories, kernel, timing, context);
  return stories;
}

}  // namespace rooflab
