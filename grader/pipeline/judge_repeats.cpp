#include "grader/pipeline/judge_repeats.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "grader/pipeline/check.h"
#include "grader/spec/median.h"

namespace rooflab {
namespace {

Judgement wrong(Repeat repeat, CallOfProcess call, const TensorCheck& check, const JudgedRun& run) {
  return {
      Verdict::wrong_answer, {explain_repeat(repeat, call, check, run.context)}, Telling::cause};
}

std::size_t bytes_of(const Problem& problem) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : problem.tensors) bytes += tensor.bytes();
  return bytes;
}

CallOfProcess place_of(int number, const Problem& problem, const Problem& first) {
  return {.number = number, .is_larger = bytes_of(problem) > bytes_of(first)};
}

bool are_alike(const Problem& a, const Problem& b) {
  return std::ranges::equal(a.tensors, b.tensors, [](const Tensor& x, const Tensor& y) {
    return x.name == y.name && x.type == y.type && x.shape == y.shape;
  });
}

/// Whether a wrong call gave what an earlier one was asked for.
bool is_stale(const FreshCall& call, const std::vector<const Problem*>& earlier,
              const Oracle& oracle) {
  return std::ranges::any_of(earlier, [&](const Problem* problem) {
    return are_alike(*problem, call.problem) &&
           wrong_tensors(*problem, oracle.expect(*problem), call.outputs).empty();
  });
}

bool always(int /*index*/) { return true; }

/// The first of the fresh calls that is wrong.
/// @param first_is_right  else a call of its sizes says nothing: it is wrong by itself
/// @param is_right_alone  of a call that is wrong, whether it would be right by itself
std::optional<Judgement> judge_fresh_calls(
    const JudgedRun& run, bool first_is_right,
    const std::function<bool(int index)>& is_right_alone = always) {
  std::vector<const Problem*> earlier{&run.problem};
  for (const FreshCall& call : run.outcome.fresh) {
    if (!first_is_right && are_alike(run.problem, call.problem)) continue;
    const auto checks = wrong_tensors(call.problem, run.oracle->expect(call.problem), call.outputs);
    if (!checks.empty() && !is_right_alone(call.number - 2)) return std::nullopt;
    if (!checks.empty()) {
      const Repeat repeat = call.is_beside                         ? Repeat::beside
                            : is_stale(call, earlier, *run.oracle) ? Repeat::stale
                            : call.wrote_to_earlier                ? Repeat::elsewhere
                                                                   : Repeat::fresh;
      return wrong(repeat, place_of(call.number, call.problem, run.problem), checks.front(), run);
    }
    earlier.push_back(&call.problem);
  }
  return std::nullopt;
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
    if (!checks.empty()) return wrong(Repeat::drawn, {}, checks.front(), run);
  }
  if (auto judgement = judge_fresh_calls(run, true)) return judgement;
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

std::optional<Judgement> judge_further_calls(const JudgedRun& run,
                                             const std::function<Problem(int index)>& fresh,
                                             const std::function<bool(int index)>& is_right_alone) {
  if (run.oracle == nullptr) return std::nullopt;
  const bool first_is_right =
      wrong_tensors(run.problem, run.oracle->expect(run.problem), run.outcome.outputs).empty();
  if (auto judgement = judge_fresh_calls(run, first_is_right, is_right_alone)) {
    return judgement;
  }
  const int number = run.outcome.failed_call;
  if (number == 0 || !is_right_alone(number - 2)) return std::nullopt;
  RunOutcome outcome = run.outcome;
  outcome.outputs.clear();  // of the first call
  const Problem problem = fresh(number - 2);
  Judgement judgement =
      judge({run.task, run.spec, problem, run.oracle, outcome, run.context, run.gpu});
  if (judgement.verdict == Verdict::pass) return std::nullopt;
  if (!judgement.diagnostics.empty()) {
    add_call_of_process(judgement.diagnostics.front(), place_of(number, problem, run.problem));
  }
  return judgement;
}

}  // namespace rooflab
