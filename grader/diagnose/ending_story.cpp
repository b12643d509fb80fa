#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <csignal>
#include <string_view>
#include <tuple>
#include <utility>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/link_error.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

std::optional<double> number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

/// The declared cause whose factor explains got / expected, or nullptr.
const RatioHint* matching_ratio(const std::string& name, const Value& got, const Value& expected,
                                const std::vector<RatioHint>& ratios) {
  const auto g = number(got), e = number(expected);
  if (!g || !e || *e == 0) return nullptr;
  for (const RatioHint& hint : ratios) {
    if (hint.result == name && std::abs(*g / *e / hint.ratio - 1) < 1e-6) return &hint;
  }
  return nullptr;
}

/// " is wrong", or what the number has to do with the right one.
std::string relation_of_number(const Value& got, const Value& expected) {
  constexpr double kNear = 1e-9;
  const auto g = number(got), e = number(expected);
  if (!g || !e || *e == 0 || *g == 0) return " is wrong";
  const double ratio = *g / *e;
  const auto near = [](double value, double other) { return std::abs(value / other - 1) < kNear; };
  if (near(*g * *e, 1)) {
    return " is the reciprocal of what it should be: a quotient is upside down";
  }
  if (near(ratio, -1)) return " has the wrong sign";
  // A quotient below 1 becomes 0, and so do many other mistakes.
  if (*g == std::trunc(*e) && *g != *e) {
    return fmt::format(
        " should be {} and is {}: the quotient was cut to a whole number, as C++ divides integers; "
        "divide doubles",
        text_of(expected), text_of(got));
  }
  const double whole = std::round(ratio), parts = std::round(1 / ratio);
  if (whole >= 2 && near(ratio, whole)) {
    return fmt::format(" is wrong: {:.0f} times what it should be", whole);
  }
  if (parts >= 2 && near(1 / ratio, parts)) {
    return fmt::format(" is wrong: 1/{:.0f} of what it should be", parts);
  }
  return " is wrong";
}

struct Ending {
  Code code;
  std::string message;
  std::string help;
};

/// What was thrown. An error of CUDA_CHECK names the cause and the next step itself.
Ending ending_by_exception(const RunOutcome& outcome, bool hidden) {
  Ending ending{"RL0604", "the function threw an exception", "check what each CUDA call gets"};
  if (hidden) return ending;
  const Thrown& thrown = outcome.thrown;
  // Of CUDA's errors CUDA_CHECK tells the line; others say themselves what they want.
  if (thrown.line == 0) {
    ending.help = "the message is of whoever threw: look at the values that your code gave to it";
  }
  ending.message = thrown.line == 0 ? "the function threw: " + outcome.detail : outcome.detail;
  if (!thrown.advice.empty()) ending.help = "look at " + thrown.advice + ".";
  return ending;
}

const char* help_for_killer(const Killer& killer) {
  if (killer.too_many_processes) {
    return "no task needs processes or threads of its own: remove what starts them";
  }
  if (killer.signal == SIGABRT) {
    return "host code gave up: look for abort, a failed assert, an index beyond the end of a "
           "vector, or memory that was freed twice";
  }
  if (killer.signal == SIGFPE) return "host code divided an integer by zero";
  return "host code wrote or read memory that is not its own, or called itself without end: check "
         "indexes, pointers and recursion outside kernels";
}

/// What the compiler calls the first error; empty when it names none.
std::string first_error_text(const std::string& messages) {
  constexpr std::string_view kError = "error: ";
  const std::size_t error = messages.find(kError);
  if (error == std::string::npos) return {};
  const std::size_t start = error + kError.size();
  return messages.substr(start, messages.find('\n', start) - start);
}

/// The shared memory that a kernel declares and that it may, in bytes, where ptxas refuses it:
/// "uses too much shared data (0xd200 bytes, 0xc000 max)".
std::optional<std::pair<std::uint64_t, std::uint64_t>> too_much_shared(
    const std::string& messages) {
  constexpr std::string_view kRefusal = "uses too much shared data (0x";
  constexpr std::string_view kBetween = " bytes, 0x";
  const std::size_t refusal = messages.find(kRefusal);
  if (refusal == std::string::npos) return std::nullopt;
  const char* const end = messages.data() + messages.size();
  std::pair<std::uint64_t, std::uint64_t> bytes;
  const auto used =
      std::from_chars(messages.data() + refusal + kRefusal.size(), end, bytes.first, 16);
  const std::string_view rest(used.ptr, static_cast<std::size_t>(end - used.ptr));
  if (used.ec != std::errc() || !rest.starts_with(kBetween)) return std::nullopt;
  const auto most = std::from_chars(used.ptr + kBetween.size(), end, bytes.second, 16);
  if (most.ec != std::errc()) return std::nullopt;
  return bytes;
}

/// Why the compiler was ended, where it was: the pipeline says so on a line of its own, the last.
std::string why_stopped(const std::string& messages) {
  const std::size_t start = messages.rfind("the compiler was stopped");
  const bool own_line = start == 0 || (start != std::string::npos && messages[start - 1] == '\n');
  if (!own_line || messages.find('\n', start) + 1 < messages.size()) return {};
  return messages.substr(start, messages.find('\n', start) - start);
}

/// File and line of the first error in what nvcc ("x.cu(12): error: ") or gcc ("x.cu:12:5: error:
/// ") says, where it is in a file of the student's; else the task's file and 0.
std::pair<std::string, std::uint32_t> first_error_place(const std::string& messages,
                                                        const DiagnoseContext& context) {
  const std::size_t error = messages.find(" error: ");
  if (error == std::string::npos) return {context.file, 0};
  const std::size_t start = messages.rfind('\n', error) + 1;  // npos + 1 is the beginning
  const std::string place = messages.substr(start, error - start);
  const std::size_t number = place.find_first_of("(:");
  const std::string file = student_path(place.substr(0, number), context);
  const bool is_own = file == context.file || context.sources.contains(file);
  std::uint32_t line = 0;
  if (is_own && number != std::string::npos) {
    std::from_chars(place.data() + number + 1, place.data() + place.size(), line);
  }
  return {line > 0 ? file : context.file, line};
}

/// A function that the linker misses, with the definition that comes nearest.
void tell_missing_function(Diagnostic& story, const MissingFunction& missing,
                           const DiagnoseContext& context) {
  story.message = fmt::format("nothing defines {}, which the task calls", missing.called);
  story.help = "define it with just these parameters, outside of any namespace, and not static";
  if (missing.line == 0) return;
  story.file = missing.file;
  story.line = missing.line;
  story.labels.push_back(
      label_at(missing.file, missing.line, 0,
               missing.same_name
                   ? "this is another one: it has other parameters, or is static or in a namespace"
                   : "did you mean this one?",
               context));
  if (missing.same_name) {
    story.help = fmt::format("{} is another function: {}", missing.nearest, story.help);
  }
}

/// How a call of a hidden case ended: which signal, limit or error it was is the submission's
/// choice, and could tell the sizes.
Ending without_details(Ending ending) {
  if (ending.code == "RL0605") {
    ending.message = "the process was killed";
    ending.help =
        "host code accessed memory that is not its own, divided by zero, or gave up: check "
        "indexes, pointers and recursion outside kernels";
  } else if (ending.code == "RL0606") {
    ending.message = "the call left a CUDA error behind";
  } else if (ending.code == "RL0607") {
    ending.message = "no result within the time limit";
  } else if (ending.code == "RL0609") {
    ending.message = "the process printed more than the limit";
    ending.help = "write only what the task asks for, and write it once";
  }
  return ending;
}

Ending ending_of(const RunOutcome& outcome, const DiagnoseContext& context) {
  using End = RunOutcome::End;
  switch (outcome.end) {
    case End::exited:
      return {"RL0603", "the process ended before the function returned",
              "remove calls of exit and abort, from constructors of static objects too"};
    case End::exception:
      return ending_by_exception(outcome, context.hidden);
    case End::killed:
      return {"RL0605", fmt::format("the process was killed by {}", outcome.detail),
              help_for_killer(outcome.killer)};
    case End::time_limit:
      return {"RL0607", outcome.detail.empty() ? "no result within the time limit" : outcome.detail,
              "look for a loop that does not end, on the host and in the kernel, for a wait that "
              "nothing ends, and for work that doubles with each step"};
    case End::memory_limit:
      return {"RL0608", "the process used more memory than the limit",
              "allocate only what the sizes of the case ask for"};
    case End::output_limit:
      if (!outcome.detail.empty()) {
        return {"RL0609", outcome.detail, "write only what the task asks for, and write it once"};
      }
      return {"RL0609", "the process printed more than the limit",
              "remove prints from inner loops and from every thread"};
    case End::disk_limit:
      return {"RL0610", "the process wrote more to disk than the limit",
              "write only the files that the task asks for, if any, and write them once"};
    case End::device_fault:
      return {"RL0901", fmt::format("the grader failed: {}", outcome.detail),
              "this is not your fault; try again, and report it"};
    case End::returned:
    case End::not_implemented:
      break;
  }
  const std::string& error = outcome.cuda_error;
  return {"RL0606",
          error.empty() ? "the call left a CUDA error behind"
                        : fmt::format("the call left a CUDA error behind: {}", error),
          "check the launch configuration: threads per block, shared memory, an empty grid"};
}

/// An error that was left behind may be of a call long before: the device has seen the first one.
void add_first_failed_call(Diagnostic& story, const simgpu::Activity& activity,
                           const DiagnoseContext& context) {
  if (!activity.failed_call || activity.failed_call->where.line == 0) return;
  const simgpu::FailedCall& failed = *activity.failed_call;
  const std::string file = student_path(failed.where.file, context);
  if (file != context.file && !context.sources.contains(file)) return;
  story.file = file;
  story.line = failed.where.line;
  const bool is_launch = failed.function.find("LaunchKernel") != std::string::npos;
  story.labels.push_back(label_at(
      failed.where.file, failed.where.line, 0,
      fmt::format("this {} failed with {}", is_launch ? "launch" : "call", failed.error), context));
}

}  // namespace

Diagnostic explain_end(const RunOutcome& outcome, const DiagnoseContext& context) {
  Ending ending = ending_of(outcome, context);
  if (context.hidden) ending = without_details(std::move(ending));
  Diagnostic story = begin_story(ending.code, context);
  story.message = ending.message;
  story.help = ending.help;
  if (!context.case_name.empty()) story.evidence.push_back("case " + context.case_name);
  if (context.hidden) {
    story.notes.emplace_back("this case is hidden: what the code printed or threw is not shown");
  } else if (outcome.end == RunOutcome::End::exception) {
    add_failed_call(story, outcome, context);
  } else if (ending.code == "RL0606") {
    add_first_failed_call(story, outcome.activity, context);
  }
  return story;
}

void add_failed_call(Diagnostic& story, const RunOutcome& outcome, const DiagnoseContext& context) {
  const Thrown& thrown = outcome.thrown;
  if (context.hidden || outcome.end != RunOutcome::End::exception || thrown.line == 0) return;
  const std::string file = student_path(thrown.file, context);
  if (file != context.file && !context.sources.contains(file)) return;
  const bool is_told = std::ranges::any_of(story.labels, [&](const Label& label) {
    return label.file == file && label.line == thrown.line;
  });
  if (is_told) return;  // by the device's finding
  const bool only_asks = outcome.detail.starts_with("cudaGetLastError") ||
                         outcome.detail.starts_with("cudaPeekAtLastError");
  story.file = file;
  story.line = thrown.line;
  story.labels.push_back(label_at(thrown.file, thrown.line, 0,
                                  only_asks ? "a call before this line failed" : "this call failed",
                                  context));
}

Diagnostic explain_results(const Values& got, const Values& expected,
                           const std::vector<RatioHint>& ratios, const CaseSpec& spec,
                           const DiagnoseContext& context) {
  const RatioHint* factor = nullptr;
  std::string message = "a result is missing";
  std::vector<std::string> evidence;
  bool any_wrong = false;
  for (const auto& [name, right] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) {
      evidence.push_back(fmt::format("{}: no result", name));
      continue;
    }
    evidence.push_back(context.hidden ? name + " is wrong"
                                      : fmt::format("{}: expected {}, got {}", name, text_of(right),
                                                    text_of(found->second)));
    if (!any_wrong)
      message = name + (context.hidden ? " is wrong" : relation_of_number(found->second, right));
    any_wrong = true;
    // The first known factor is the headline; the other wrong results stay in the evidence.
    const RatioHint* hint = matching_ratio(name, found->second, right, ratios);
    if (hint == nullptr || factor != nullptr) continue;
    factor = hint;
  }
  if (factor != nullptr) {
    message = fmt::format("{} is off by a factor of {:g}: {}", factor->result, factor->ratio,
                          factor->cause);
  }
  Diagnostic story = begin_story(factor != nullptr ? Code("RL0406") : Code("RL0407"), context);
  story.message = message;
  story.evidence = std::move(evidence);
  story.notes.push_back(context.hidden
                            ? "this case is hidden: its values are not shown"
                            : fmt::format("case {}: {}", spec.name, text_of(spec.parameters)));
  story.help = "count by hand for the smallest case, then compare term by term";
  return story;
}

Diagnostic explain_complaint(const Complaint& complaint, const DiagnoseContext& context) {
  Diagnostic story = begin_story(complaint.code, context);
  story.message = complaint.message.text;
  if (context.hidden) {
    const std::string& told = complaint.message.in_public;
    story.message = told.empty() ? "the result is not right" : told;
  }
  story.help = complaint.advice;
  return story;
}

Diagnostic explain_way(const Complaint& complaint, const DiagnoseContext& context) {
  Diagnostic story = explain_complaint(complaint, context);
  const bool is_told = !context.hidden || !complaint.message.in_public.empty();
  story.message =
      "the values are right, but " + (is_told ? story.message : "not how they are computed");
  story.notes.emplace_back("these cases ask for how the values are computed, too");
  return story;
}

Diagnostic explain_remark(const SpeedRemark& remark, const Timing& timing,
                          const DiagnoseContext& context) {
  Diagnostic story = explain_complaint(remark.complaint, context);
  const double most = timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
  if (most > 0) {
    const double points = timing.points + timing.launches.points + timing.dram_bytes.points;
    story.notes.push_back(fmt::format(
        "the answers are right and keep their points; points for speed are {:g} of {:g}", points,
        most));
  }
  return story;
}

Diagnostic explain_cause(const Complaint& cause, const Diagnostic& story,
                         const DiagnoseContext& context) {
  Diagnostic told = explain_complaint(cause, context);
  told.evidence = story.evidence;
  told.notes = story.notes;
  return told;
}

Diagnostic explain_not_implemented(const std::string& file, std::uint32_t line,
                                   const std::string& message, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0601", context);
  story.message = message.empty() ? "still a TODO" : "still a TODO: " + message;
  story.file = student_path(file, context);
  story.line = line;
  story.help = "replace the call of rooflab::todo with your own code";
  return story;
}

Diagnostic explain_compile_error(const std::string& compiler_output,
                                 const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0101", context);
  story.message = first_error_text(compiler_output);
  if (story.message.empty()) story.message = why_stopped(compiler_output);
  if (story.message.empty()) story.message = context.file + " does not compile";
  std::tie(story.file, story.line) = first_error_place(compiler_output, context);
  std::size_t start = 0;
  while (start < compiler_output.size()) {
    const std::size_t end = std::min(compiler_output.find('\n', start), compiler_output.size());
    if (end > start) story.evidence.push_back(compiler_output.substr(start, end - start));
    start = end + 1;
  }
  story.help = "start with the first message: later ones often follow from it";
  if (const auto bytes = too_much_shared(compiler_output)) {
    story.message = fmt::format("a kernel declares {} bytes of shared memory, of at most {}",
                                bytes->first, bytes->second);
    story.help =
        "make the tiles smaller, or keep fewer of them; a block that needs more takes dynamic "
        "shared memory (extern __shared__), as Part 5, Step 6, shows";
  }
  if (const auto missing = missing_function(compiler_output, context)) {
    tell_missing_function(story, *missing, context);
  }
  return story;
}

Diagnostic explain_forbidden(const std::string& function, std::uint32_t line,
                             const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0602", context);
  story.message =
      fmt::format("{} calls {}, which this task does not allow", context.file, function);
  if (line > 0) {
    story.line = line;
    story.labels.push_back(label_at(context.file, line, 0, "this call", context));
  }
  story.help = "the point of this task is to write it yourself";
  return story;
}

Diagnostic explain_suspect(const Timing& timing, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0505", context);
  story.message = "the time is below what the hardware can do, so it does not count";
  story.evidence.push_back(fmt::format(
      "time {:.2f} us, floor {:.2f} us: the work at peak rates, with all that the caches may hold",
      timing.time_us, timing.floor_us));
  story.notes.push_back(fmt::format(
      "the roofline time, which efficiency is measured against, is {:.2f} us", timing.roofline_us));
  story.help = "is all the work done in every call, and is none of it left from an earlier one?";
  return story;
}

Diagnostic explain_work_elsewhere(const std::string& reason, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0506", context);
  story.message = "the result is right, but the GPU did not compute it: " + reason;
  story.help = "let kernels do the work; host code only launches them";
  return story;
}

Diagnostic explain_detour(const std::string& reason, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0614", context);
  story.message = "the result is right, but its data goes over the host: " + reason;
  story.help =
      "keep the tensors on the GPU: kernels can pad, transpose and convert them, too; host code "
      "may read what it needs to launch kernels";
  return story;
}

Diagnostic explain_unrecorded_calls(std::uint64_t most, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0615", context);
  story.message = fmt::format(
      "the call makes more than {} calls of the CUDA runtime, so that the rest cannot be judged",
      most);
  story.help = "what repeats a call without need? One launch can do the work of many";
  return story;
}

Diagnostic explain_unwatched_work(const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0615", context);
  story.message =
      "the call has more work under way on its streams, without order between them, than can be "
      "watched, so that nobody can say whether it is free of races";
  story.help =
      "order the streams with events, or let the host wait now and then; one launch can do the "
      "work of many";
  return story;
}

Diagnostic explain_not_applicable(const std::string& gpu, const std::string& peak,
                                  const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0612", context);
  story.message = fmt::format("the {} has no {} arithmetic, which this task is about", gpu, peak);
  story.help =
      "grade it on a GPU of your course that has it (grader roofline shows their peaks); here it "
      "is "
      "out of no points";
  return story;
}

Diagnostic explain_grader_fault(const std::string& reason, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0901", context);
  story.message = "the grader failed: " + reason;
  story.help = "this is not your fault; try again, and report it if it stays";
  return story;
}

}  // namespace rooflab
