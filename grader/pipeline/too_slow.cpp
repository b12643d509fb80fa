#include "grader/pipeline/too_slow.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

std::string milliseconds(double us) {
  return us < 1000 ? fmt::format("{:.0f} us", us) : fmt::format("{:.3g} ms", us / 1000);
}

std::string points_in_words(double points) {
  return points == static_cast<int>(points) ? fmt::format("{:.0f}", points)
                                            : fmt::format("{:.2f}", points);
}

}  // namespace

bool is_cut_short(const RunOutcome& outcome) {
  return std::ranges::any_of(outcome.activity.kernels, &simgpu::KernelRecord::at_least);
}

bool works_on_samples(const simgpu::Activity& activity) {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for (const simgpu::KernelRecord& kernel : activity.kernels) {
    if (kernel.sampled) first = std::min(first, kernel.sequence);
    last = std::max(last, kernel.sequence);
  }
  for (const simgpu::MemoryRecord& copy : activity.memory) last = std::max(last, copy.sequence);
  return first < last;
}

void bound(Timing& timing) {
  timing.at_least = true;
  timing.dram_bytes.count.reset();
  timing.dram_bytes.points = 0;
}

Diagnostic explain_too_slow(const Timing& timing, const RunOutcome& outcome,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0597", context);
  story.message = fmt::format(
      "right, but too slow to time here: {} takes at least {} (modelled), and the roofline is {}",
      timing.name, milliseconds(timing.time_us), milliseconds(timing.roofline_us));
  const auto& kernels = outcome.activity.kernels;
  const auto cut = std::ranges::find_if(kernels, &simgpu::KernelRecord::at_least);
  if (cut != kernels.end()) {
    story.context = "kernel " + cut->name;
    story.evidence.push_back(fmt::format(
        "simulating all of kernel {} would take minutes, so that it ran in part", cut->name));
  }
  const double most = timing.points + timing.launches.points;
  const double of = timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
  if (of > 0) {
    story.evidence.push_back(fmt::format("at most {} of {} speed points are left at that time",
                                         points_in_words(most), points_in_words(of)));
  }
  story.notes.emplace_back(
      "the answers of the other cases are right and keep their points; those "
      "of this one were not compared");
  story.help = fmt::format("let the kernel do less for the same result: {}",
                           timing.limit.change.empty()
                               ? "read each value from memory once, and use it several times"
                               : timing.limit.change);
  return story;
}

}  // namespace rooflab
