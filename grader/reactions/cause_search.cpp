#include "grader/reactions/cause_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "grader/reactions/fact_words.h"
#include "grader/reactions/input_changes.h"

namespace rooflab {
namespace {

/// Of fewer elements, several mistakes make the same.
constexpr std::size_t kFewestCompared = 32;
constexpr std::uint64_t kFewestWrong = 4;
/// Elements whose reactions are looked at: the first wrong one, the last, and one between them.
constexpr std::size_t kElements = 3;

/// One draw of the inputs, and what the submission made of it.
struct Trial {
  Problem problem;
  Outputs outputs;
  std::uint64_t warp_instructions = 0;
  std::vector<Expected> expected;
  std::vector<TensorCheck> wrong;
};

/// Whether what a change makes is as narrow as what is right: a wide tolerance explains anything.
bool is_narrow(const std::vector<Expected>& right, const std::vector<Expected>& changed) {
  constexpr double kMost = 4;
  for (const Expected& output : right) {
    const auto other = std::ranges::find(changed, output.tensor, &Expected::tensor);
    if (other == changed.end() || other->tolerance.size() != output.tolerance.size()) return false;
    for (std::size_t i = 0; i < output.tolerance.size(); ++i) {
      if (!(other->tolerance[i] <= kMost * output.tolerance[i])) return false;
    }
  }
  return true;
}

class Search {
 public:
  explicit Search(const ReactionTools& tools) : tools_(tools) {}

  /// From the smallest problem that tells one mistake from another; where that says nothing, from
  /// the case itself.
  SearchedCause run() {
    SearchedCause searched;
    bool has_searched = false;
    for (const Values& parameters : tools_.candidates) {
      const bool is_case = &parameters == &tools_.candidates.back();
      if (has_searched && !is_case) continue;
      if (!try_twice(parameters)) continue;
      if (!is_case && !searched.smallest) searched.smallest = parameters;
      if (!is_case && !tells_enough()) continue;
      has_searched = true;
      auto cause = of_another_problem();
      if (!cause) cause = of_reactions();
      if (!cause) continue;
      cause->parameters = parameters;
      const bool is_known = !cause->is_looks;
      searched.cause = std::move(cause);
      if (is_known) break;
    }
    return searched;
  }

 private:
  /// False where the submission does not come through, or is right.
  bool try_twice(const Values& parameters) {
    trials_.clear();
    for (const int draw : {0, 1}) {
      std::optional<Trial> trial = trial_of(parameters, draw);
      if (!trial || trial->wrong.empty()) return false;
      trials_.push_back(*std::move(trial));
    }
    return true;
  }

  /// Nothing where the submission does not come through.
  std::optional<Trial> trial_of(const Values& parameters, int draw) const {
    Trial trial;
    trial.problem = tools_.draw(parameters, draw);
    Called called = tools_.call(1, [&](std::size_t) { return trial.problem; });
    if (called.outputs.size() != 1) return std::nullopt;
    trial.expected = tools_.oracle.expect(trial.problem);
    trial.wrong = tools_.compare(trial.problem, trial.expected, called.outputs.front());
    trial.outputs = std::move(called.outputs.front());
    trial.warp_instructions = called.warp_instructions;
    return trial;
  }

  bool tells_enough() const {
    std::size_t compared = 0;
    std::uint64_t wrong = 0;
    for (const TensorCheck& check : trials_.front().wrong) {
      compared += check.got.size();
      wrong += check.wrong_count;
    }
    return compared >= kFewestCompared && wrong >= kFewestWrong;
  }

  /// Whether all outputs, wrong or right, are what comes of a change.
  bool explains(const InputChange& change, const Trial& trial) const {
    Problem changed = trial.problem;
    change.apply(changed);
    KnownMistake mistake;
    mistake.outputs = tools_.oracle.expect(changed);
    const bool makes_all = std::ranges::all_of(
        trial.wrong, [&](const TensorCheck& check) { return reproduces(check, mistake); });
    if (!makes_all || !is_narrow(trial.expected, mistake.outputs)) return false;
    const auto was_wrong = [&](const TensorCheck& check) {
      return std::ranges::find(trial.wrong, check.tensor, &TensorCheck::tensor) !=
             trial.wrong.end();
    };
    return std::ranges::all_of(tools_.compare(changed, mistake.outputs, trial.outputs), was_wrong);
  }

  /// Of the cases: what a small problem makes of a mistake, others may make, too.
  const std::vector<Trial>& of_cases() {
    constexpr double kMostFlops = 1e9;
    if (!std::exchange(has_tried_cases_, true)) {
      for (const Values& parameters : tools_.cases) {
        if (flops_of(parameters) > kMostFlops) continue;
        if (auto trial = trial_of(parameters, 0)) of_cases_.push_back(*std::move(trial));
      }
    }
    return of_cases_;
  }

  std::optional<FoundCause> of_another_problem() {
    if (!tells_enough()) return std::nullopt;
    const Problem& problem = trials_.front().problem;
    std::vector<InputChange> changes = parameter_changes(problem, tools_.oracle);
    std::ranges::move(input_changes(problem, tools_.axes), std::back_inserter(changes));
    // The simplest ones come first. A solution each, of about a second together.
    constexpr double kMostFlops = 1e9;
    const auto most = static_cast<std::size_t>(kMostFlops / flops());
    if (changes.size() > most)
      changes.erase(changes.begin() + static_cast<long>(most), changes.end());
    for (const InputChange& change : changes) {
      const auto holds = [&](const Trial& trial) { return explains(change, trial); };
      if (!std::ranges::all_of(trials_, holds)) continue;
      if (!std::ranges::all_of(of_cases(), holds)) continue;
      return FoundCause{
          .code = "RL0550",
          .message = change.cause,
          .evidence = {"all elements are what that gives, within the tolerance, and so they are "
                       "with other inputs"},
          .help = change.help};
    }
    return std::nullopt;
  }

  /// Elements that are wrong in all trials, of the first output that has any.
  std::vector<ElementPlace> wrong_elements() const {
    for (const TensorCheck& check : trials_[0].wrong) {
      const auto other = std::ranges::find(trials_[1].wrong, check.tensor, &TensorCheck::tensor);
      if (other == trials_[1].wrong.end() || !check.index.empty()) continue;
      std::vector<std::uint64_t> both;
      for (std::size_t i = 0; i < check.wrong.size(); ++i) {
        if (check.wrong[i] && other->wrong[i]) both.push_back(i);
      }
      if (both.empty()) continue;
      const auto& tensors = trials_[0].problem.tensors;
      const auto tensor = static_cast<std::size_t>(
          std::ranges::find(tensors, check.tensor, &Tensor::name) - tensors.begin());
      std::vector<ElementPlace> places;
      for (std::size_t i = 0; i < kElements; ++i) {
        const ElementPlace place{tensor, both[i * (both.size() - 1) / (kElements - 1)]};
        if (places.empty() || places.back() != place) places.push_back(place);
      }
      return places;
    }
    return {};
  }

  /// Of the oracle, for one problem.
  double flops_of(const Values& parameters) const {
    double flops = 1;
    for (const auto& [peak, count] : tools_.oracle.work(parameters).flops) flops += count;
    return flops;
  }
  double flops() const { return flops_of(trials_[0].problem.parameters); }

  /// Each is a call and a solution of the oracle: all together take about a second where the GPU is
  /// simulated, whatever the submission does in a call, and what they leave is held at once.
  std::size_t most_slices() const {
    constexpr double kMost = 400, kMostFlops = 5e7, kMostInstructions = 2e7, kMostBytes = 1 << 28;
    double bytes = 1;
    for (const Tensor& tensor : trials_[0].problem.tensors) {
      bytes += static_cast<double>(tensor.bytes());
    }
    const auto instructions = static_cast<double>(trials_[0].warp_instructions + 1);
    return static_cast<std::size_t>(std::min(
        {kMost, kMostFlops / flops(), kMostInstructions / instructions, kMostBytes / bytes}));
  }

  std::optional<FoundCause> of_reactions() const {
    const std::vector<ElementPlace> elements = wrong_elements();
    std::vector<ReactionFact> facts;
    for (const SliceChange change : {SliceChange::zeroed, SliceChange::doubled}) {
      const Trial& trial = trials_[facts.size()];
      const Trial& other = trials_[1 - facts.size()];
      const auto reactions = measure_reactions({.problem = trial.problem,
                                                .oracle = tools_.oracle,
                                                .call = tools_.call,
                                                .change = change,
                                                .elements = elements,
                                                .most_slices = most_slices(),
                                                .control = other.problem,
                                                .control_outputs = other.outputs});
      if (!reactions) return std::nullopt;
      const auto fact = find_fact(*reactions);
      if (!fact) return std::nullopt;
      facts.push_back(*fact);
    }
    if (!facts[0].is_same(facts[1])) return std::nullopt;
    facts[0].add(facts[1]);
    FoundCause cause = words_of(facts[0], trials_[0].problem, tools_.axes);
    if (tools_.origin) {
      if (const auto origin = tools_.origin(trials_[0].problem, facts[0].element)) {
        add_load(facts[0], trials_[0].problem, tools_.axes, *origin, cause);
      }
    }
    return cause;
  }

  const ReactionTools& tools_;
  std::vector<Trial> trials_;    ///< two draws of one problem
  std::vector<Trial> of_cases_;  ///< see of_cases()
  bool has_tried_cases_ = false;
};

}  // namespace

SearchedCause search_cause(const ReactionTools& tools) { return Search(tools).run(); }

}  // namespace rooflab
