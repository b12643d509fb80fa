#include "grader/pipeline/judge_repeats.h"

#include <algorithm>
#include <limits>

#include "grader/pipeline/check.h"
#include "grader/spec/median.h"

namespace rooflab {
namespace {

Judgement wrong(Repeat repeat, const TensorCheck& check, const JudgedRun& run) {
  return {Verdict::wrong_answer, {explain_repeat(repeat, check, run.context)}, Telling::cause};
}

/// The shortest time of a fresh call that has one.
double shortest_us(const std::vector<FreshCall>& fresh) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const FreshCall& call : fresh) {
    if (call.time_us > 0) shortest = std::min(shortest, call.time_us);
  }
  return shortest;
}

}  // namespace

std::optional<Judgement> judge_repeats(const JudgedRun& run) {
  const RunOutcome& outcome = run.outcome;
  if (run.oracle == nullptr) return std::nullopt;
  if (!outcome.drawn_outputs.empty()) {
    const auto checks =
        wrong_tensors(run.problem, run.oracle->expect(run.problem), outcome.drawn_outputs);
    if (!checks.empty()) return wrong(Repeat::drawn, checks.front(), run);
  }
  for (const FreshCall& call : outcome.fresh) {
    const auto checks = wrong_tensors(call.problem, run.oracle->expect(call.problem), call.outputs);
    if (checks.empty()) continue;
    const bool is_stale =
        wrong_tensors(run.problem, run.oracle->expect(run.problem), call.outputs).empty();
    return wrong(is_stale ? Repeat::stale : Repeat::fresh, checks.front(), run);
  }
  if (!outcome.sampling) return std::nullopt;
  if (outcome.sampling->early > 0) {
    return Judgement{Verdict::suspect,
                     {explain_early_return(outcome.sampling->early, run.context)}};
  }
  if (outcome.sampling->slower_on_fresh) {
    return Judgement{Verdict::suspect,
                     {explain_slower_on_fresh(shortest_us(outcome.fresh),
                                              median_of(outcome.samples_us), run.context)}};
  }
  return std::nullopt;
}

}  // namespace rooflab
