#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {

namespace {

/// "21st"
std::string in_digits(int number) {
  constexpr std::array<std::string_view, 4> kEndings{"th", "st", "nd", "rd"};
  const auto last = static_cast<std::size_t>(number % 10);
  const bool is_teen = number / 10 % 10 == 1;
  return fmt::format("{}{}", number, kEndings.at(is_teen || last > 3 ? 0 : last));
}

/// "the second call in a process, with larger arrays than the first,"
std::string which_call(CallOfProcess call) {
  constexpr std::array<std::string_view, 3> kOrdinals{"second", "third", "fourth"};
  const auto index = static_cast<std::size_t>(call.number - 2);
  const std::string ordinal =
      index < kOrdinals.size() ? std::string(kOrdinals.at(index)) : in_digits(call.number);
  const std::string_view arrays =
      call.is_larger ? "larger arrays than the first" : "arrays of its own";
  return fmt::format("the {} call in one process, with {},", ordinal, arrays);
}

std::string message_of(Repeat repeat, CallOfProcess call) {
  const bool is_counted = call.number > 0;
  switch (repeat) {
    case Repeat::drawn:
      return "one of the timed calls, drawn at random, gave a wrong result";
    case Repeat::fresh:
      return is_counted ? which_call(call) + " gives a wrong result"
                        : "with inputs that no call before had, the result is wrong";
    case Repeat::stale:
      return (is_counted ? which_call(call) : "a call with new inputs") +
             " returned the result of the inputs before";
    case Repeat::elsewhere:
      return which_call(call) + " stores its result where an earlier call had its outputs";
    case Repeat::beside:
      return "of two calls on two streams, which may run at the same time, the second gives a "
             "wrong "
             "result";
  }
  return {};
}

void add_how_it_is_called(Diagnostic& story, CallOfProcess call) {
  story.notes.emplace_back(call.number > 0
                               ? "the function is called several times in one process: with other "
                                 "inputs, at other addresses, and of other sizes"
                               : "the function is called several times in one process, with new "
                                 "inputs at the same addresses, too");
}

constexpr const char* kKeepNothing =
    "compute the result in every call from what its arguments point to: keep nothing between "
    "calls, in static variables, in device memory or by address";
constexpr const char* kShareNothing =
    "calls on different streams may overlap: give each call its own memory for what lies between "
    "two kernels, on its stream, in place of a __device__ or static variable that all calls share";
constexpr const char* kKeepWhatFits =
    "compute the result in every call from its own arguments: a buffer that a call leaves behind "
    "has the size of that call, and a CUDA graph its pointers, so take and capture them anew";

}  // namespace

Diagnostic explain_order(const Diagnostic& other) {
  Diagnostic story = other;
  story.code = "RL0556";
  story.message =
      "the result depends on the order of warps and blocks: it is wrong when the last ones come "
      "first";
  story.notes.insert(story.notes.begin(), {"in that order: " + other.message,
                                           "in the usual order everything was right"});
  story.help =
      "whoever reads what another warp has stored has to wait for it: __syncthreads() in a block; "
      "between blocks a second launch, or a counter by atomicAdd behind a __threadfence()";
  return story;
}

Diagnostic explain_repeat(Repeat repeat, CallOfProcess call, const TensorCheck& check,
                          const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0420", context);
  story.message = message_of(repeat, call);
  add_effect(story, check, context);
  if (repeat == Repeat::beside) {
    story.help = kShareNothing;
    return story;
  }
  add_how_it_is_called(story, call);
  const bool is_stale = repeat == Repeat::stale;
  story.help = call.number > 0 && !is_stale ? kKeepWhatFits : kKeepNothing;
  return story;
}

void add_call_of_process(Diagnostic& story, CallOfProcess call) {
  story.message = fmt::format("{} goes wrong: {}", which_call(call), story.message);
  add_how_it_is_called(story, call);
  if (story.help.empty()) story.help = kKeepWhatFits;
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
  if (timing.measured && !timing.measured->other_users.empty()) {
    story.notes.push_back("others are on this GPU: " + in_words(timing.measured->other_users));
  }
  if (timing.measured && timing.measured->disturbed > 0) {
    story.notes.push_back(fmt::format(
        "{} samples were disturbed: the GPU was busy before the call, or somebody else's "
        "work ran beside it",
        timing.measured->disturbed));
  }
  story.help =
      "see that nothing else uses this GPU, and grade again; if it stays so on an idle GPU, look "
      "for times in the code that vary from call to call";
  return story;
}

}  // namespace rooflab
