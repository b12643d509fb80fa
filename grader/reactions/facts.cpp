#include "grader/reactions/facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace rooflab {
namespace {

using Kind = ReactionFact::Kind;

constexpr double kSameWeight = 0.02;

/// Whether a slip has such a weight: a small count, its negative, or a half or a quarter of one.
bool is_simple(double weight) {
  constexpr double kMost = 16, kQuarters = 4, kNear = 0.02;
  const double quarters = weight * kQuarters;
  return std::abs(weight) <= kMost && std::abs(quarters - std::round(quarters)) <= kNear;
}

/// The effects of one slice on one element, over all ways in which slices were changed.
struct Together {
  Slice slice;
  std::vector<Effect> effects;

  bool is_due() const { return std::ranges::any_of(effects, &Effect::right_is_clear); }
  bool is_foreign() const { return std::ranges::none_of(effects, &Effect::right_reacts); }
  bool is_had() const { return std::ranges::any_of(effects, &Effect::got_is_clear); }
  bool has_none() const { return std::ranges::none_of(effects, &Effect::got_reacts); }
  bool is_missing() const { return is_due() && has_none(); }
  bool is_further() const { return is_had() && is_foreign(); }

  /// What the submission's effects are of the right ones, where all of them are clear and say the
  /// same.
  std::optional<double> weight() const {
    std::optional<double> common;
    for (const Effect& effect : effects) {
      if (!effect.right_is_clear) return std::nullopt;
      const double weight = effect.got / effect.right;
      if (common && std::abs(weight - *common) > kSameWeight * std::abs(*common)) {
        return std::nullopt;
      }
      if (!common) common = weight;
    }
    return common;
  }
};

using AxisOf = std::pair<std::size_t, std::size_t>;  // tensor and axis

/// What one axis of an input says.
struct AxisSets {
  std::vector<std::int64_t> due, missing, further;
  std::size_t coordinates = 0;
};

std::vector<Together> effects_of(const std::vector<Reactions>& reactions, std::size_t element) {
  std::vector<Together> all;
  for (std::size_t s = 0; s < reactions.front().slices.size(); ++s) {
    Together& together = all.emplace_back();
    together.slice = reactions.front().slices[s];
    for (const Reactions& changed : reactions) {
      together.effects.push_back(changed.elements.at(element).effects.at(s));
    }
  }
  return all;
}

/// Facts of one element, tensor by tensor.
class ElementFacts {
 public:
  ElementFacts(ElementPlace element, std::vector<Together> effects)
      : element_(element), effects_(std::move(effects)) {
    for (const Together& together : effects_) {
      const Slice& slice = together.slice;
      AxisSets& sets = axes_[{slice.tensor, slice.axis}];
      for (std::int64_t at = slice.first; at < slice.first + slice.count; ++at) {
        ++sets.coordinates;
        if (together.is_due()) sets.due.push_back(at);
        if (together.is_missing()) sets.missing.push_back(at);
        if (together.is_further()) sets.further.push_back(at);
      }
    }
    for (auto& [of, sets] : axes_) {
      for (auto* coordinates : {&sets.due, &sets.missing, &sets.further}) {
        std::ranges::sort(*coordinates);
      }
    }
  }

  std::optional<ReactionFact> only() const {
    std::vector<ReactionFact> facts;
    for (const std::size_t tensor : tensors()) {
      const auto found = of_sets(tensor);
      if (found.is_unclear) return std::nullopt;
      if (found.fact) facts.push_back(*found.fact);
    }
    if (facts.empty()) facts = of_weights();
    if (facts.empty()) return std::nullopt;
    ReactionFact fact = facts.front();
    for (std::size_t i = 1; i < facts.size(); ++i) {
      const ReactionFact& other = facts[i];
      const bool says_the_same = other.kind == fact.kind && other.due == fact.due &&
                                 other.got == fact.got &&
                                 std::abs(other.weight - fact.weight) <= kSameWeight;
      if (!says_the_same) return std::nullopt;
      fact.inputs.push_back(other.inputs.front());
    }
    return fact;
  }

 private:
  struct Found {
    std::optional<ReactionFact> fact;
    bool is_unclear = false;  ///< something is wrong that no fact describes
  };

  std::vector<std::size_t> tensors() const {
    std::vector<std::size_t> all;
    for (const auto& [of, sets] : axes_) {
      if (all.empty() || all.back() != of.first) all.push_back(of.first);
    }
    return all;
  }

  ReactionFact fact_of(Kind kind, std::size_t tensor, std::size_t axis = 0) const {
    ReactionFact fact;
    fact.kind = kind;
    fact.inputs = {{tensor, axis}};
    fact.element = element_;
    return fact;
  }

  bool has_no_effect(std::size_t tensor) const {
    bool any_due = false;
    for (const Together& together : effects_) {
      if (together.slice.tensor != tensor) continue;
      if (!together.has_none()) return false;
      any_due = any_due || together.is_due();
    }
    return any_due;
  }

  Found of_sets(std::size_t tensor) const {
    if (has_no_effect(tensor)) return {fact_of(Kind::no_effect, tensor)};
    std::vector<std::size_t> odd;
    for (const auto& [of, sets] : axes_) {
      if (of.first == tensor && !(sets.missing.empty() && sets.further.empty())) {
        odd.push_back(of.second);
      }
    }
    if (odd.empty()) return {};
    if (odd.size() == 1) return {of_axis(tensor, odd.front())};
    if (odd.size() == 2) {
      if (const auto turned = turned_of(tensor, odd[0], odd[1])) return {turned};
      if (const auto turned = turned_of(tensor, odd[1], odd[0])) return {turned};
    }
    return {.fact = {}, .is_unclear = true};
  }

  ReactionFact of_axis(std::size_t tensor, std::size_t axis) const {
    const AxisSets& sets = axes_.at({tensor, axis});
    const Kind kind = sets.further.empty()   ? Kind::missing
                      : sets.missing.empty() ? Kind::further
                                             : Kind::in_place;
    ReactionFact fact = fact_of(kind, tensor, axis);
    fact.due = sets.missing;
    fact.got = sets.further;
    return fact;
  }

  /// All along `along`, where one place is due, and one place of `across`, where all are.
  std::optional<ReactionFact> turned_of(std::size_t tensor, std::size_t along,
                                        std::size_t across) const {
    const AxisSets& first = axes_.at({tensor, along});
    const AxisSets& second = axes_.at({tensor, across});
    const bool is_turned = first.due.size() == 1 && first.further.size() + 1 >= first.coordinates &&
                           second.due.size() == second.coordinates &&
                           second.missing.size() + 1 >= second.coordinates;
    if (!is_turned) return std::nullopt;
    ReactionFact fact = fact_of(Kind::turned, tensor, along);
    fact.due_axis = across;
    fact.due = first.due;
    return fact;
  }

  /// Where every slice has an effect that should: those whose effects are all the same times what
  /// they should be.
  std::vector<ReactionFact> of_weights() const {
    std::map<AxisOf, std::map<std::int64_t, double>> weights;
    for (const Together& together : effects_) {
      if (!together.is_due()) continue;
      const auto weight = together.weight();
      if (!weight) return {};
      const Slice& slice = together.slice;
      for (std::int64_t at = slice.first; at < slice.first + slice.count; ++at) {
        weights[{slice.tensor, slice.axis}][at] = *weight;
      }
    }
    std::vector<ReactionFact> facts;
    std::map<std::size_t, std::vector<ReactionFact>> by_tensor;
    for (const auto& [of, by_coordinate] : weights) {
      ReactionFact fact = fact_of(Kind::weight, of.first, of.second);
      for (const auto& [coordinate, weight] : by_coordinate) {
        if (std::abs(weight - 1) <= kSameWeight) continue;
        if (!fact.got.empty() && std::abs(weight - fact.weight) > kSameWeight * std::abs(weight)) {
          return {};
        }
        fact.weight = weight;
        fact.got.push_back(coordinate);
      }
      if (!fact.got.empty()) by_tensor[of.first].push_back(fact);
    }
    for (auto& [tensor, candidates] : by_tensor) {
      // Along an axis of which the element needs one place, the sum over the others shows a mean of
      // their weights.
      std::ranges::stable_sort(
          candidates, {}, [](const ReactionFact& fact) { return is_simple(fact.weight) ? 0 : 1; });
      const ReactionFact& best = candidates.front();
      const bool is_whole =
          best.got.size() == axes_.at({tensor, best.inputs.front().axis}).due.size();
      if (!is_whole && !is_simple(best.weight)) return {};
      facts.push_back(best);
    }
    return facts;
  }

  ElementPlace element_;
  std::vector<Together> effects_;
  std::map<AxisOf, AxisSets> axes_;
};

}  // namespace

bool ReactionFact::is_like(const ReactionFact& other) const {
  return kind == other.kind && inputs == other.inputs && due_axis == other.due_axis &&
         due.empty() == other.due.empty() && got.empty() == other.got.empty() &&
         std::abs(weight - other.weight) <= kSameWeight * std::abs(weight);
}

std::optional<ReactionFact> find_fact(const std::vector<Reactions>& reactions) {
  std::optional<ReactionFact> common;
  if (reactions.empty()) return std::nullopt;
  for (std::size_t e = 0; e < reactions.front().elements.size(); ++e) {
    const ElementFacts facts(reactions.front().elements[e].element, effects_of(reactions, e));
    const std::optional<ReactionFact> fact = facts.only();
    if (!fact || (common && !common->is_like(*fact))) return std::nullopt;
    if (!common) common = fact;
  }
  return common;
}

}  // namespace rooflab
