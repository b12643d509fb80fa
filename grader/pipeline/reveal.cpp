#include "grader/pipeline/reveal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "grader/report/text.h"

namespace rooflab {
namespace {

std::string parameter_words(const Values& parameters) {
  std::vector<std::string> words;
  for (const auto& [name, value] : parameters) {
    words.push_back(
        std::visit([&](const auto& one) { return fmt::format("{} = {}", name, one); }, value));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

RevealedCase reveal_case(const JudgedRun& run, Verdict verdict) {
  constexpr std::size_t kMostPrinted = 4'000;  // characters
  JudgedRun open = run;
  open.context.hidden = false;
  RevealedCase revealed{.task = run.task.id,
                        .name = run.spec.name,
                        .parameters = parameter_words(run.spec.parameters),
                        .verdict = verdict,
                        .diagnostics = judge(open).diagnostics,
                        .printed = shorten(sanitize(run.outcome.printed), kMostPrinted)};
  // A hidden case has no number by which a command could run it.
  for (Diagnostic& story : revealed.diagnostics) story.commands.clear();
  return revealed;
}

}  // namespace rooflab
