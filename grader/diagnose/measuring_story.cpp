#include <fmt/format.h>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {

Diagnostic explain_repeat(Repeat repeat, const TensorCheck& check, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0420", context);
  switch (repeat) {
    case Repeat::drawn:
      story.message = "one of the timed calls, drawn at random, gave a wrong result";
      break;
    case Repeat::fresh:
      story.message = "with inputs that no call before had, the result is wrong";
      break;
    case Repeat::stale:
      story.message = "a call with new inputs returned the result of the inputs before";
      break;
  }
  add_effect(story, check, context);
  story.notes.emplace_back(
      "the function is called several times in one process, with new inputs at the same addresses, "
      "too");
  story.help =
      "compute the result in every call from what its arguments point to: keep nothing between "
      "calls, in static variables, in device memory or by address";
  return story;
}

Diagnostic explain_slower_on_fresh(double fresh_us, double time_us,
                                   const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0595", context);
  story.message =
      "calls with inputs that it has seen before are faster, so their time does not count";
  story.evidence.push_back(
      fmt::format("time {:.2f} us with the same inputs again, {:.2f} us or more with others",
                  time_us, fresh_us));
  story.help = "do all the work in every call: keep no results, and none of the steps to them";
  return story;
}

Diagnostic explain_early_return(int calls, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0596", context);
  story.message = "the call came back before its outputs were written, so its time does not count";
  story.evidence.push_back(
      fmt::format("{} call{}: an output was read right after the reply and was not written yet",
                  calls, calls == 1 ? "" : "s"));
  story.help = "leave the call's end, its clock and its reply to the grader";
  return story;
}

Diagnostic explain_noise(const Timing& timing, double points_in_doubt,
                         const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0902", context);
  story.message = "the time is too noisy to give points for, measured twice";
  if (timing.measured) {
    story.evidence.push_back(fmt::format(
        "{}: between {:.2f} and {:.2f} us with 95 % confidence, from {} samples", timing.name,
        timing.measured->low_us, timing.measured->high_us, timing.measured->samples));
  }
  story.evidence.push_back(fmt::format(
      "{:.2f} points lie between the two, more than a twentieth of the case's", points_in_doubt));
  if (timing.measured && !timing.measured->clocks_watched) {
    story.notes.emplace_back("the GPU's clocks were not watched, since NVML is not there");
  }
  story.help =
      "see that nothing else uses this GPU, and grade again; if it stays so on an idle GPU, look "
      "for times in the code that vary from call to call";
  return story;
}

}  // namespace rooflab
