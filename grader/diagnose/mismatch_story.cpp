#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "grader/diagnose/diagnose.h"
#include "grader/diagnose/story.h"

namespace rooflab {
namespace {

/// Whether the output is what the mistake makes, element by element.
bool reproduces(const TensorCheck& check, const KnownMistake& mistake) {
  const auto same_tensor = [&](const Expected& output) { return output.tensor == check.tensor; };
  const auto output = std::find_if(mistake.outputs.begin(), mistake.outputs.end(), same_tensor);
  if (output == mistake.outputs.end() || output->value.size() != check.got.size()) return false;
  for (std::size_t i = 0; i < check.got.size(); ++i) {
    if (!(std::abs(check.got[i] - output->value[i]) <= output->tolerance[i])) return false;
  }
  return true;
}

Diagnostic story_of_mistake(const KnownMistake& mistake, const TensorCheck& check,
                            const DiagnoseContext& context) {
  Diagnostic story = begin_story(mistake.code, context);
  story.message = mistake.cause;
  story.help = mistake.advice;
  story.notes.push_back(fmt::format(
      "all {} elements are what that mistake gives, within the tolerance", check.got.size()));
  add_effect(story, check, context);
  return story;
}

Diagnostic story_of_unwritten(const TensorCheck& check, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0403", context);
  story.message = check.unwritten_count == check.got.size()
                      ? fmt::format("{} was never written", check.tensor)
                      : fmt::format("{} of {} elements of {} were never written",
                                    check.unwritten_count, check.got.size(), check.tensor);
  story.help = check.unwritten_count == check.got.size()
                   ? "is the kernel launched at all, with a grid that is not empty, and does it "
                     "store its result?"
                   : "does the grid cover the last, partial tile in both directions?";
  TensorCheck missing = check;
  missing.wrong = check.unwritten;
  missing.wrong_count = check.unwritten_count;
  add_effect(story, missing, context);
  return story;
}

Diagnostic story_of_nan(const TensorCheck& check, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0402", context);
  story.message = fmt::format("{} of {} elements of {} are not a number", check.nan_count,
                              check.got.size(), check.tensor);
  story.help =
      "look for a division by zero, the root of a negative number, or a value that was never set";
  add_effect(story, check, context);
  return story;
}

}  // namespace

Diagnostic explain_mismatch(const TensorCheck& check, const std::vector<KnownMistake>& mistakes,
                            const DiagnoseContext& context) {
  if (check.unwritten_count > 0) return story_of_unwritten(check, context);
  for (const KnownMistake& mistake : mistakes) {
    if (reproduces(check, mistake)) return story_of_mistake(mistake, check, context);
  }
  if (check.nan_count > 0) return story_of_nan(check, context);
  Diagnostic story = begin_story("RL0401", context);
  story.message = fmt::format("{} of {} elements of {} are wrong", check.wrong_count,
                              check.got.size(), check.tensor);
  story.help = "take the smallest case that fails and work out its first wrong element by hand";
  add_effect(story, check, context);
  return story;
}

Diagnostic explain_changed_input(const std::string& tensor, std::uint64_t changed,
                                 std::uint64_t total, const DiagnoseContext& context) {
  Diagnostic story = begin_story("RL0405", context);
  story.message = fmt::format("the input {} was changed", tensor);
  story.evidence.push_back(
      fmt::format("{} of {} bytes of {} are not what was passed in", changed, total, tensor));
  story.help =
      "write only to the output; const on the kernel's input pointers lets the compiler find this";
  return story;
}

}  // namespace rooflab
