#include "grader/pipeline/too_slow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

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

std::string silence_of_part(const Timing& timing, const RunOutcome& outcome,
                            const Judgement& judgement) {
  if (judgement.shows_too_little) {
    return "the blocks that ran write only a part of the outputs between them, so that others do "
           "more than they, and how long these take is not known";
  }
  if (!timing.at_least) return {};
  if (timing.time_us < timing.roofline_us) {
    return "no call is faster than the roofline, so a bound below it says nothing";
  }
  const auto& kernels = outcome.activity.kernels;
  const auto cut = std::ranges::find_if(kernels, &simgpu::KernelRecord::at_least);
  if (cut == kernels.end()) return {};
  if (cut->counters.warp_instructions == 0) {
    return fmt::format(
        "most of what kernel {} does while it is simulated is nothing that a GPU would do, so how "
        "long it takes is not known",
        cut->name);
  }
  const auto behind = std::count_if(
      cut + 1, kernels.end(), [](const simgpu::KernelRecord& kernel) { return kernel.at_least; });
  if (behind != 0) {
    return fmt::format("{} {} behind it did not run, and how long {} is not known", behind,
                       behind == 1 ? "launch" : "launches", behind == 1 ? "it takes" : "they take");
  }
  if (!judgement.is_uncompared || cut->sampled_blocks == 0) return {};
  return fmt::format(
      "its blocks may wait for each other, so only the first {} ran, and how long the others take "
      "is not known",
      cut->sampled_blocks);
}

void bound(Timing& timing) {
  timing.at_least = true;
  timing.modelled.reset();
  timing.dram_bytes.count.reset();
  timing.dram_bytes.points = 0;
}

void take_points_of_silence(Timing& timing, const RunOutcome& outcome, const Judgement& judgement) {
  if (silence_of_part(timing, outcome, judgement).empty()) return;
  timing.points = 0;
  timing.efficiency = 0;
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

Diagnostic explain_too_slow(const Timing& timing, const RunOutcome& outcome,
                            const Judgement& judgement, const DiagnoseContext& context) {
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
  const std::string silence = silence_of_part(timing, outcome, judgement);
  if (!silence.empty()) story.evidence.push_back(silence);
  const double most = timing.points + timing.launches.points + timing.dram_bytes.points;
  const double of = max_points_of(timing);
  if (of > 0 && most > 0) {
    story.evidence.push_back(fmt::format("at most {} of {} speed points are left at that time",
                                         points_in_words(most), points_in_words(of)));
  } else if (of > 0) {
    story.evidence.push_back(
        fmt::format("none of its {} speed points are left", points_in_words(of)));
  }
  std::string note = "the answers of the other cases are right and keep their points; ";
  if (!judgement.is_uncompared) {
    note += "of this one, what the blocks that ran have written was compared, and is right";
  } else {
    note += "those of this one could not be compared";
    if (silence.empty()) note += ", so that it earns at most a quarter of its points";
  }
  story.notes.push_back(std::move(note));
  story.help = fmt::format("let the kernel do less for the same result: {}",
                           timing.limit.change.empty()
                               ? "read each value from memory once, and use it several times"
                               : timing.limit.change);
  return story;
}

}  // namespace rooflab
