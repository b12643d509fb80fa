#include "grader/reactions/search.h"

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

  std::optional<FoundCause> run() {
    if (!try_draw(0) || !try_draw(1)) return std::nullopt;
    if (auto cause = of_another_problem()) return cause;
    return of_reactions();
  }

 private:
  /// False where the submission does not come through, or is right.
  bool try_draw(int draw) {
    Trial trial;
    trial.problem = tools_.draw(draw);
    const std::vector<Outputs> outputs = tools_.call({trial.problem});
    if (outputs.size() != 1) return false;
    trial.expected = tools_.oracle.expect(trial.problem);
    trial.wrong = tools_.compare(trial.problem, outputs.front());
    if (trial.wrong.empty()) return false;
    trials_.push_back(std::move(trial));
    return true;
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

  bool explains(const InputChange& change, const Trial& trial) const {
    Problem changed = trial.problem;
    change.apply(changed);
    KnownMistake mistake;
    mistake.outputs = tools_.oracle.expect(changed);
    const bool makes_all = std::ranges::all_of(
        trial.wrong, [&](const TensorCheck& check) { return reproduces(check, mistake); });
    return makes_all && is_narrow(trial.expected, mistake.outputs);
  }

  std::optional<FoundCause> of_another_problem() const {
    if (!tells_enough()) return std::nullopt;
    const Problem& problem = trials_.front().problem;
    std::vector<InputChange> changes = parameter_changes(problem, tools_.oracle);
    std::ranges::move(input_changes(problem, tools_.axes), std::back_inserter(changes));
    for (const InputChange& change : changes) {
      const bool holds =
          std::ranges::all_of(trials_, [&](const Trial& trial) { return explains(change, trial); });
      if (!holds) continue;
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

  std::optional<FoundCause> of_reactions() const {
    const std::vector<ElementPlace> elements = wrong_elements();
    std::vector<ReactionFact> facts;
    for (const SliceChange change : {SliceChange::zeroed, SliceChange::doubled}) {
      const Trial& trial = trials_[facts.size()];
      const auto reactions =
          measure_reactions(trial.problem, tools_.oracle, tools_.call, change, elements);
      if (!reactions) return std::nullopt;
      const auto fact = find_fact({*reactions});
      if (!fact) return std::nullopt;
      facts.push_back(*fact);
    }
    const bool agree =
        facts[0].is_like(facts[1]) && facts[0].due == facts[1].due && facts[0].got == facts[1].got;
    if (!agree) return std::nullopt;
    FoundCause cause = words_of(facts[0], trials_[0].problem, tools_.axes);
    if (tools_.origin) {
      if (const auto origin = tools_.origin(trials_[0].problem, facts[0].element)) {
        add_load(facts[0], trials_[0].problem, *origin, cause);
      }
    }
    return cause;
  }

  const ReactionTools& tools_;
  std::vector<Trial> trials_;
};

}  // namespace

std::optional<FoundCause> find_cause(const ReactionTools& tools) { return Search(tools).run(); }

}  // namespace rooflab
