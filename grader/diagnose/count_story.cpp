#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

constexpr std::size_t kMostKernels = 5;  ///< that a story names

/// What the launches of one kernel took together.
struct KernelTotal {
  std::string name;
  std::uint64_t launches = 0;
  double dram_bytes = 0;
};

std::vector<KernelTotal> totals_by_kernel(const simgpu::Activity& activity) {
  std::map<std::string, KernelTotal> totals;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    KernelTotal& total = totals[kernel_name(kernel.name)];
    total.name = kernel_name(kernel.name);
    ++total.launches;
    total.dram_bytes += static_cast<double>(kernel.counters.dram_read_bytes) +
                        static_cast<double>(kernel.counters.dram_write_bytes);
  }
  std::vector<KernelTotal> all;
  all.reserve(totals.size());
  for (auto& [name, total] : totals) all.push_back(std::move(total));
  return all;
}

std::string bytes_text(double bytes) {
  constexpr double kKibi = 1024;
  if (bytes < kKibi) return fmt::format("{:.0f} B", bytes);
  if (bytes < kKibi * kKibi) return fmt::format("{:.3g} KiB", bytes / kKibi);
  return fmt::format("{:.4g} MiB", bytes / (kKibi * kKibi));
}

std::string times_text(std::uint64_t launches) {
  return launches == 1 ? "once" : fmt::format("{} times", launches);
}

/// "add 3 times, tanh once", most launched first.
std::string launched_kernels(const simgpu::Activity& activity) {
  std::vector<KernelTotal> totals = totals_by_kernel(activity);
  std::ranges::stable_sort(totals, std::ranges::greater(), &KernelTotal::launches);
  std::string text;
  for (std::size_t i = 0; i < std::min(totals.size(), kMostKernels); ++i) {
    text +=
        fmt::format("{}{} {}", i > 0 ? ", " : "", totals[i].name, times_text(totals[i].launches));
  }
  if (totals.size() > kMostKernels) {
    text += fmt::format(" and {} further kernels", totals.size() - kMostKernels);
  }
  return text;
}

/// What one launch costs before its kernel starts, on average; 0 when the device told nothing.
double launch_cost_us(const simgpu::Activity& activity) {
  double sum = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) sum += kernel.time.launch_us;
  return activity.kernels.empty() ? 0 : sum / static_cast<double>(activity.kernels.size());
}

Diagnostic launches_story(const Counted& launches, const simgpu::Activity& activity,
                          const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0591", context);
  story.message =
      fmt::format("{:.0f} launches where {} can do it: ", *launches.count,
                  launches.full < 2 ? "one kernel" : fmt::format("{:.0f}", launches.full));
  if (const double us = launch_cost_us(activity); us > 0) {
    story.message += fmt::format("each costs about {:.1f} us, and ", us);
  }
  story.message += "what one kernel leaves for the next crosses memory twice";
  story.evidence.push_back("launched: " + launched_kernels(activity));
  story.help =
      "do the steps in one kernel, from the first load to the last store, with what is between "
      "them in registers";
  return story;
}

Diagnostic nothing_launched_story(const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0591", context);
  story.message = "the timed call launches no kernel of its own: there is no launch to be counted";
  story.help = "write a kernel that does the work, and launch it within the call";
  return story;
}

Diagnostic bytes_story(const Timing& timing, const simgpu::Activity& activity,
                       const DiagnoseContext& context) {
  const double moved = *timing.dram_bytes.count;
  Diagnostic story = begin_story("RL0592", context);
  story.message = fmt::format(
      "{} cross DRAM where {} must, {:.2f} times as many: something is stored and loaded again, or "
      "loaded more than once",
      bytes_text(moved), bytes_text(timing.bytes), moved / timing.bytes);
  std::vector<KernelTotal> totals = totals_by_kernel(activity);
  std::ranges::stable_sort(totals, std::ranges::greater(), &KernelTotal::dram_bytes);
  double told = 0;
  for (std::size_t i = 0; i < std::min(totals.size(), kMostKernels); ++i) {
    story.evidence.push_back(fmt::format("{}, launched {}: {}", totals[i].name,
                                         times_text(totals[i].launches),
                                         bytes_text(totals[i].dram_bytes)));
    told += totals[i].dram_bytes;
  }
  if (moved - told >= 1) {
    story.evidence.push_back(
        fmt::format("further kernels, copies and fills: {}", bytes_text(moved - told)));
  }
  story.help =
      "keep what lies between two steps in registers or shared memory, and read each input once; "
      "an intermediate in memory is written once and read at least once";
  return story;
}

bool misses_points(const Counted& counted) {
  return counted.count && counted.points < counted.max_points;
}

}  // namespace

std::vector<Diagnostic> explain_counts(const Timing& timing, const simgpu::Activity& activity,
                                       const DiagnoseContext& context) {
  std::vector<Diagnostic> stories;
  if (misses_points(timing.launches)) {
    stories.push_back(*timing.launches.count > 0
                          ? launches_story(timing.launches, activity, context)
                          : nothing_launched_story(context));
  }
  if (misses_points(timing.dram_bytes) && timing.bytes > 0) {
    stories.push_back(bytes_story(timing, activity, context));
  }
  return stories;
}

}  // namespace rooflab
