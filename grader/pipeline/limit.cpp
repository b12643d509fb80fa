#include "grader/pipeline/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/pipeline/counts.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/timing.h"
#include "grader/report/limit_gain.h"
#include "grader/report/text.h"
#include "simgpu/model/explanation.h"

namespace rooflab {
namespace {

using simgpu::Limiter;

constexpr double kAllOfIt = 0.95;  ///< of a term, and more, is all that the case asks for
constexpr std::size_t kLongestKernel = 40;

double share(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 0; }

/// The share of the wavefronts of shared memory that are bank conflicts, where these are many
/// enough to be told.
double conflict_share(const simgpu::KernelCounters& c) {
  constexpr double kManyConflicts = 0.25;
  const auto conflicts =
      static_cast<double>(c.shared_load_bank_conflicts + c.shared_store_bank_conflicts);
  const auto wavefronts = static_cast<double>(c.shared_load_wavefronts + c.shared_store_wavefronts);
  const double share_of_all = share(conflicts, wavefronts);
  return share_of_all >= kManyConflicts ? share_of_all : 0;
}

bool is_arithmetic(std::optional<Limiter> limiter) {
  return limiter == Limiter::fp32 || limiter == Limiter::fp16 || limiter == Limiter::tensor;
}

/// What helps a kernel that is bound by its arithmetic: where all of it is the case's own, nothing
/// in the kernel does.
std::string change_of_arithmetic(double least) {
  constexpr double kMuchMore = 1.25;  // times the case's operations
  if (!(least > 0) || kMuchMore * least >= 1) return {};
  return fmt::format(
      "the kernels do {:.2g} times the operations that the case takes: leave out what the result "
      "does not need",
      1 / least);
}

/// What stays of the sectors of global memory if neighbouring threads use neighbouring addresses; 1
/// where they do already.
double share_when_coalesced(const simgpu::KernelCounters& c) {
  constexpr double kManySectors = 1.5;  // for each that the bytes fill: as RL0501 has it
  double touched = 0;
  double kept = 0;
  const auto add = [&](std::uint64_t sectors, std::uint64_t requests, std::uint64_t bytes) {
    const auto all = static_cast<double>(sectors);
    const double needed = std::max(static_cast<double>(bytes) / static_cast<double>(kSectorBytes),
                                   static_cast<double>(requests));
    touched += all;
    kept += all > kManySectors * needed ? needed : all;
  };
  add(c.global_load_sectors, c.global_load_requests, c.global_load_bytes);
  add(c.global_store_sectors, c.global_store_requests, c.global_store_bytes);
  return touched > 0 ? kept / touched : 1;
}

/// The share of a term that stays, whatever becomes of the kernels: what the case itself asks for,
/// and the wavefronts that are no bank conflicts.
double least_share(const simgpu::KernelRecord& slowest, const simgpu::Activity& activity,
                   const Work& work) {
  const std::optional<Limiter> limiter = slowest.time.limiter;
  if (limiter == Limiter::shared) {
    const double conflicts = conflict_share(slowest.counters);
    return conflicts > 0 ? 1 - conflicts : 0;
  }
  if (limiter == Limiter::l1) {
    const double coalesced = share_when_coalesced(slowest.counters);
    return coalesced < kAllOfIt ? coalesced : 0;
  }
  if (limiter == Limiter::dram) return share(work.compulsory_bytes, dram_bytes(activity));
  double sectors = 0;
  double flops = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    sectors += static_cast<double>(kernel.counters.l2_read_sectors) +
               static_cast<double>(kernel.counters.l2_write_sectors);
    for (const auto& [type, count] : kernel.counters.flops) flops += static_cast<double>(count);
  }
  if (limiter == Limiter::l2)
    return share(work.compulsory_bytes, sectors * static_cast<double>(kSectorBytes));
  return is_arithmetic(limiter) ? share(total_flops(work), flops) : 0;
}

/// Accesses that are scattered lengthen both caches' terms: what mends one mends the other.
/// @return the times with that of the cache which does not limit as it will be then, if L1 goes on
/// to find the same share of what is asked for
simgpu::TimeBreakdown with_one_cause(const simgpu::KernelRecord& kernel) {
  simgpu::TimeBreakdown time = kernel.time;
  if (time.limiter != Limiter::l1 && time.limiter != Limiter::l2) return time;
  const Limiter other = time.limiter == Limiter::l1 ? Limiter::l2 : Limiter::l1;
  const auto term = time.terms.find(other);
  if (term != time.terms.end()) term->second *= share_when_coalesced(kernel.counters);
  return time;
}

/// A demangled name without its result, its parameters and the namespace that has no name.
std::string short_name(std::string kernel) {
  for (const std::string& part : {std::string("(anonymous namespace)::"), std::string("void ")}) {
    const std::size_t at = kernel.find(part);
    if (at != std::string::npos) kernel.erase(at, part.size());
  }
  return shorten(one_line(kernel.substr(0, kernel.find_first_of("<("))), kLongestKernel);
}

/// Whether a few multiprocessors do all of a kernel's work, and that is the first thing to mend:
/// not where bank conflicts take a third of the time, since these are a slip, and the size of the
/// grid may be what the tiles ask for.
bool has_few_blocks(const simgpu::KernelRecord& kernel) {
  if (kernel.time.limiter == Limiter::launch || !leaves_multiprocessors_idle(kernel)) return false;
  constexpr double kMuch = 1.0 / 3;
  const double conflicts =
      kernel.time.limiter == Limiter::shared ? conflict_share(kernel.counters) : 0;
  return conflicts * simgpu::limiter_us(kernel.time) < kMuch * kernel.time.total_us;
}

/// The kernel's time if all multiprocessors had their part of it. What they have in common does not
/// change.
double time_when_spread(const simgpu::TimeBreakdown& time) {
  double least = (time.total_us - time.launch_us) / time.wave_quantisation;
  for (const Limiter common : {Limiter::l2, Limiter::dram, Limiter::atomics}) {
    const auto term = time.terms.find(common);
    if (term != time.terms.end()) least = std::max(least, term->second);
  }
  return std::min(time.total_us, least + time.launch_us);
}

/// What is neither a kernel's own work nor a copy's: the device waits for the host's launches.
double launching_us(const simgpu::Activity& activity, double call_us) {
  double busy = 0;
  for (const auto& kernel : activity.kernels) busy += kernel.time.total_us - kernel.time.launch_us;
  for (const auto& copy : activity.memory) busy += copy.time_us;
  return std::max(0.0, call_us - busy);
}

/// What a kernel's time is of the call's, at most 1: less than its own where kernels ran side by
/// side.
double part_of_call(const simgpu::Activity& activity, double call_us) {
  double sum = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) sum += kernel.time.total_us;
  return share(call_us, sum);
}

/// The case's own bound takes over where a change would bring the call below it.
void keep_to_roofline(Limit& limit, double roofline_us, double call_us) {
  const double least = std::min(roofline_us, call_us);
  if (limit.without_us >= least) return;
  limit.without_us = least;
  limit.next = "the roofline";
}

/// What saves launches. A graph, where the program launches one already or may not, is no advice.
std::string change_of_launches(const simgpu::Activity& activity, bool may_use_graphs) {
  const auto launched = activity.api_calls.find("cudaGraphLaunch");
  const bool has_graph = launched != activity.api_calls.end() && launched->second > 0;
  std::string change = "do the work of several kernels in one";
  if (may_use_graphs && !has_graph) change += ", or launch them as one graph";
  return change;
}

Limit launch_limit(const simgpu::Activity& activity, double call_us, double cost_us,
                   bool may_use_graphs) {
  Limit limit;
  limit.cost_us = cost_us;
  limit.without_us = call_us;
  const simgpu::KernelRecord& first = activity.kernels.front();
  if (activity.kernels.size() == 1) {
    limit.what = "the launch itself";
    limit.least = true;
    limit.change =
        "every launch costs this time, whatever its kernel does; give each launch more work";
    limit.counter = "launch__grid_size";
    limit.counter_value = static_cast<double>(first.grid.count());
    limit.proof = "one kernel that has next to nothing to do";
    return limit;
  }
  limit.what = "launches";
  limit.without_us = call_us - cost_us + first.time.launch_us;
  limit.next = "the kernels' own work";
  limit.change = change_of_launches(activity, may_use_graphs);
  // Nsight Compute looks at one kernel at a time; Nsight Systems counts them.
  limit.counter = "cuda_gpu_kern_sum Instances";
  limit.counter_value = static_cast<double>(activity.kernels.size());
  limit.proof =
      fmt::format("the kernels themselves work for {}", format_time_us(call_us - cost_us));
  return limit;
}

/// Calls of the runtime that allocate or free memory, and wait for the device as they do.
struct Allocations {
  double us = 0;
  std::uint64_t count = 0;
};

Allocations allocations_of(const simgpu::Activity& activity) {
  static constexpr std::array kNames{"cudaMalloc",      "cudaFree",       "cudaMallocManaged",
                                     "cudaMallocPitch", "cudaMallocHost", "cudaHostAlloc",
                                     "cudaFreeHost"};
  Allocations all;
  for (const simgpu::ApiRecord& call : activity.calls) {
    if (std::ranges::find(kNames, call.name) == kNames.end()) continue;
    all.us += call.time_us;
    ++all.count;
  }
  return all;
}

Limit allocation_limit(const Allocations& allocations, double call_us, double cost_us) {
  Limit limit;
  limit.what = "allocating memory";
  limit.cost_us = cost_us;
  limit.without_us = call_us - cost_us;
  limit.next = "the kernels' own work";
  limit.change =
      "allocate once and keep the memory for later calls, or ask cudaMallocAsync, whose pool has "
      "it "
      "at hand; best, need none";
  limit.counter = "cuda_api_sum cudaMalloc and cudaFree Calls";
  limit.counter_value = static_cast<double>(allocations.count);
  limit.proof = "cudaMalloc and cudaFree take long, and cudaFree waits for the device";
  return limit;
}

/// Of a call whose first limit is the case's own.
std::string without_a_change(const Timing& timing) {
  const bool has_full_marks = timing.efficiency >= timing.target_efficiency;
  if (has_full_marks) return "There is nothing to gain here";
  return fmt::format(
      "The model sees no single change that would make the call much faster, but full marks are at "
      "{} of the roofline, and it is at {}: look at what it does beside the case's own bytes and "
      "operations",
      format_percent(timing.target_efficiency), format_percent(timing.efficiency));
}

}  // namespace

Limit limit_of(const simgpu::Activity& activity, const Work& work, double roofline_us,
               double call_us, int sm_count, bool may_use_graphs) {
  const simgpu::KernelRecord* slowest = slowest_kernel(activity);
  if (slowest == nullptr || !slowest->time.limiter) return {};
  const double launching = launching_us(activity, call_us);
  if (const Allocations allocations = allocations_of(activity);
      allocations.us > launching / 2 && launching > call_us / 2) {
    return allocation_limit(allocations, call_us, std::min(allocations.us, launching));
  }
  if (launching > call_us / 2) return launch_limit(activity, call_us, launching, may_use_graphs);

  const bool few_blocks = has_few_blocks(*slowest);
  simgpu::KernelRecord explained = *slowest;
  explained.time = with_one_cause(*slowest);
  if (!few_blocks) explained.time.wave_quantisation = 1;  // else it would be told as the cause
  const simgpu::Explanation why = simgpu::explain(explained, sm_count);
  const double least = least_share(*slowest, activity, work);
  Limit limit;
  limit.least = !few_blocks && least >= kAllOfIt;
  limit.kernel = short_name(slowest->name);
  limit.without_us = call_us;
  const double part = part_of_call(activity, call_us);
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    if (kernel.name != slowest->name) continue;
    const double own = simgpu::limiter_us(kernel.time);
    const double without = few_blocks
                               ? time_when_spread(kernel.time)
                               : simgpu::time_without_limiter(with_one_cause(kernel), least * own);
    limit.cost_us += part * (few_blocks ? kernel.time.total_us - without : own);
    limit.without_us -= part * (kernel.time.total_us - without);
  }
  limit.what = few_blocks ? "too few blocks" : why.limiter;
  limit.change = few_blocks ? kCutIntoMoreBlocks : why.change;
  if (!few_blocks && is_arithmetic(slowest->time.limiter)) {
    if (std::string change = change_of_arithmetic(least); !change.empty()) {
      limit.change = std::move(change);
    }
  }
  if (!few_blocks && why.next_limiter) limit.next = simgpu::words_of(*why.next_limiter);
  keep_to_roofline(limit, roofline_us, call_us);
  limit.counter = why.proof.counter;
  limit.counter_value = why.proof.value;
  limit.proof = why.proof.says;
  const double bytes = slowest->time.limiter == Limiter::dram ? dram_bytes(activity) : 0;
  if (bytes > 0 && work.compulsory_bytes > 0 && !few_blocks) {
    limit.proof += fmt::format(", {:.2f}x the compulsory bytes", bytes / work.compulsory_bytes);
  }
  return limit;
}

std::string advice_of(const Limit& limit, const Timing& timing) {
  const double call_us = timing.time_us;
  if (limit.what.empty() || !(call_us > 0)) return {};
  std::string text = fmt::format("limited by {}: {} of {} ({:.0f} %); {} ({} = {})", limit.what,
                                 format_time_us(limit.cost_us), format_time_us(call_us),
                                 100 * limit.cost_us / call_us, limit.proof, limit.counter,
                                 format_count(limit.counter_value));
  const bool gains = is_worth_changing(limit, call_us);
  if (!gains && limit.least) {
    return text + ": all that the case asks for. " + without_a_change(timing) + " (modelled)";
  }
  text += fmt::format(". To be faster: {}", limit.change);
  if (!gains) {
    text += fmt::format(". Without it {} would limit as much (modelled)",
                        limit.next.empty() ? "something else" : limit.next);
  } else {
    text += fmt::format(". Without it {}{} (modelled)", format_time_us(limit.without_us),
                        limit.next.empty() ? "" : ", where " + limit.next + " would limit");
  }
  return text;
}

}  // namespace rooflab
