#include "grader/pipeline/too_slow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "grader/diagnose/story.h"
#include "grader/pipeline/score.h"

namespace rooflab {
namespace {

std::string milliseconds(double us) {
  return us < 1000 ? fmt::format("{:.0f} us", us) : fmt::format("{:.3g} ms", us / 1000);
}

std::string points_in_words(double points) {
  return points == static_cast<int>(points) ? fmt::format("{:.0f}", points)
                                            : fmt::format("{:.2f}", points);
}

double max_points_of(const Timing& timing) {
  return timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
}

}  // namespace

bool is_cut_short(const RunOutcome& outcome) {
  return std::ranges::any_of(outcome.activity.kernels, &simgpu::KernelRecord::at_least);
}

void bound(Timing& timing) {
  timing.at_least = true;
  timing.dram_bytes.count.reset();
  timing.dram_bytes.points = 0;
}

void leave_uncompared_share(Timing& timing) {
  const std::array<double*, 3> earned = {&timing.points, &timing.launches.points,
                                         &timing.dram_bytes.points};
  double sum = 0;
  for (const double* points : earned) sum += *points;
  const double most = kUncomparedShare * max_points_of(timing);
  if (sum <= most) return;
  for (double* points : earned) *points = rounded_points(*points * most / sum);
}

Diagnostic explain_too_slow(const Timing& timing, const RunOutcome& outcome, bool is_compared,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0597", context);
  story.message = fmt::format(
      "right, but too slow to {} here: {} takes {}{} (modelled), and the roofline is {}",
      timing.at_least ? "time" : "simulate", timing.name, timing.at_least ? "at least " : "",
      milliseconds(timing.time_us), milliseconds(timing.roofline_us));
  const auto& kernels = outcome.activity.kernels;
  const auto cut = std::ranges::find_if(kernels, [](const simgpu::KernelRecord& kernel) {
    return kernel.at_least || kernel.sampled;
  });
  if (cut != kernels.end()) {
    story.context = "kernel " + cut->name;
    story.evidence.push_back(fmt::format(
        "simulating all of kernel {} would take minutes, so that it ran in part", cut->name));
  }
  const double most = timing.points + timing.launches.points + timing.dram_bytes.points;
  const double of = max_points_of(timing);
  if (of > 0) {
    story.evidence.push_back(fmt::format("at most {} of {} speed points are left at that time",
                                         points_in_words(most), points_in_words(of)));
  }
  story.notes.emplace_back(
      is_compared ? "the answers of the other cases are right and keep their points; of this one, "
                    "what the blocks that ran have written was compared, and is right"
                  : "the answers of the other cases are right and keep their points; those of this "
                    "one could not be compared, so that it earns at most a quarter of its points");
  story.help = fmt::format("let the kernel do less for the same result: {}",
                           timing.limit.change.empty()
                               ? "read each value from memory once, and use it several times"
                               : timing.limit.change);
  return story;
}

}  // namespace rooflab
