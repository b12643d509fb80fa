#include "grader/reactions/facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace rooflab {
namespace {

using Kind = ReactionFact::Kind;
using Input = ReactionFact::Input;
using Coordinates = std::vector<std::int64_t>;
using AxisOf = std::pair<std::size_t, std::size_t>;  // tensor and axis

constexpr double kSameWeight = 0.02;

/// Whether a slip has such a weight: a small count, its negative, or a half or a quarter of one.
bool is_simple(double weight) {
  constexpr double kMost = 16, kQuarters = 4, kNear = 0.02;
  const double quarters = weight * kQuarters;
  return std::abs(weight) <= kMost && std::abs(quarters - std::round(quarters)) <= kNear;
}

bool is_same_weight(double a, double b) { return std::abs(a - b) <= kSameWeight * std::abs(a); }

/// What one axis of an input says.
struct AxisSets {
  Coordinates due, missing, further, unclear;
  std::map<std::int64_t, double> weights;  ///< of those due, as far as their effects are clear
  std::size_t coordinates = 0;

  bool is_odd() const { return !missing.empty() || !further.empty(); }
  bool is_in_place() const { return !missing.empty() && !further.empty(); }
};

/// The sets of one element.
class ElementSets {
 public:
  ElementSets(const std::vector<Slice>& slices, const ElementReactions& reactions) {
    for (std::size_t s = 0; s < slices.size(); ++s) add(slices[s], reactions.effects.at(s));
    for (auto& [of, sets] : axes_) {
      for (Coordinates* all : {&sets.due, &sets.missing, &sets.further, &sets.unclear}) {
        std::ranges::sort(*all);
      }
    }
  }

  const std::map<AxisOf, AxisSets>& axes() const { return axes_; }

  std::vector<std::size_t> tensors() const {
    std::vector<std::size_t> all;
    for (const auto& [of, sets] : axes_) {
      if (all.empty() || all.back() != of.first) all.push_back(of.first);
    }
    return all;
  }

  /// Whether the element depends on just the slices that it should, however small the effects are.
  bool depends_as_it_should() const { return depends_as_it_should_; }

  /// Whether the element reacts to anything.
  bool reacts() const { return !had_.empty(); }

  bool has_no_effect(std::size_t tensor) const {
    return had_.count(tensor) == 0 && due_.count(tensor) != 0;
  }

 private:
  void add(const Slice& slice, const Effect& effect) {
    AxisSets& sets = axes_[{slice.tensor, slice.axis}];
    const bool is_missing = effect.right_is_clear && !effect.got_reacts;
    const bool is_further = effect.got_is_clear && !effect.right_reacts;
    if (effect.right_is_clear) due_[slice.tensor] = true;
    if (effect.got_reacts) had_[slice.tensor] = true;
    // Within a piece, one coordinate may be read in place of another.
    const bool is_exact = slice.count == 1 && effect.right_reacts == effect.got_reacts;
    depends_as_it_should_ = depends_as_it_should_ && is_exact;
    for (std::int64_t at = slice.first; at < slice.first + slice.count; ++at) {
      ++sets.coordinates;
      if (effect.right_is_clear) sets.due.push_back(at);
      if (effect.right_is_clear) sets.weights[at] = effect.got / effect.right;
      if (is_missing) sets.missing.push_back(at);
      if (is_further) sets.further.push_back(at);
      if (!effect.right_is_clear && !effect.got_is_clear) sets.unclear.push_back(at);
    }
  }

  std::map<AxisOf, AxisSets> axes_;
  std::map<std::size_t, bool> due_, had_;
  bool depends_as_it_should_ = true;
};

/// All along `along`, where one place is due, and one place of `across`, where all are.
bool is_turned(const AxisSets& along, const AxisSets& across) {
  return along.due.size() == 1 && along.further.size() + 1 >= along.coordinates &&
         across.due.size() == across.coordinates && across.missing.size() + 1 >= across.coordinates;
}

/// What is odd about one tensor; of the kind Kind::formula where nothing is, and nothing where no
/// fact describes it.
std::optional<ReactionFact> fact_of_tensor(const ElementSets& sets, std::size_t tensor) {
  if (sets.has_no_effect(tensor)) return ReactionFact{Kind::no_effect, {{.tensor = tensor}}, {}};
  std::vector<std::pair<std::size_t, const AxisSets*>> odd;
  for (const auto& [of, axis] : sets.axes()) {
    if (of.first == tensor && axis.is_odd()) odd.emplace_back(of.second, &axis);
  }
  if (odd.empty()) return ReactionFact{Kind::formula, {}, {}};
  const auto input_of = [&](const std::pair<std::size_t, const AxisSets*>& axis) {
    return Input{.tensor = tensor,
                 .axis = axis.first,
                 .due_axis = 0,
                 .due = axis.second->missing,
                 .got = axis.second->further,
                 .weight = 1,
                 .unclear = axis.second->unclear};
  };
  if (odd.size() == 1) {
    const AxisSets& axis = *odd.front().second;
    const Kind kind = axis.is_in_place()     ? Kind::in_place
                      : axis.further.empty() ? Kind::missing
                                             : Kind::further;
    return ReactionFact{kind, {input_of(odd.front())}, {}};
  }
  if (odd.size() != 2) return std::nullopt;
  for (const auto& [along, across] : {std::pair{odd[0], odd[1]}, std::pair{odd[1], odd[0]}}) {
    if (!is_turned(*along.second, *across.second)) continue;
    return ReactionFact{
        Kind::turned, {{.tensor = tensor, .axis = along.first, .due_axis = across.first}}, {}};
  }
  if (odd[0].second->is_in_place() && odd[1].second->is_in_place()) {
    return ReactionFact{Kind::in_place, {input_of(odd[0]), input_of(odd[1])}, {}};
  }
  return std::nullopt;
}

/// The coordinates along one axis whose weights are not 1: all by one weight; nothing where they
/// have several. No coordinates where all are 1.
std::optional<Input> odd_weights(AxisOf of, const AxisSets& sets) {
  Input input{.tensor = of.first, .axis = of.second};
  input.unclear = sets.unclear;
  for (const auto& [at, weight] : sets.weights) {
    if (is_same_weight(1, weight)) continue;
    if (!input.got.empty() && !is_same_weight(input.weight, weight)) return std::nullopt;
    input.weight = weight;
    input.got.push_back(at);
  }
  const bool is_whole = input.got.size() == sets.due.size();
  if (!input.got.empty() && !is_whole && !is_simple(input.weight)) return std::nullopt;
  return input;
}

/// What the weights of one tensor say.
struct TensorWeights {
  bool are_right = true;
  std::optional<Input> odd;  ///< nothing where they are not right and have no simple reason
};

/// Some coordinates along one axis have a simple weight; or all along every axis have the same one.
TensorWeights weights_of(const ElementSets& sets, std::size_t tensor) {
  TensorWeights found;
  bool all_alike = true;
  std::optional<Input> whole, part;
  for (const auto& [of, axis] : sets.axes()) {
    if (of.first != tensor) continue;
    const std::optional<Input> input = odd_weights(of, axis);
    found.are_right = found.are_right && input && input->got.empty();
    const bool is_whole = input && !input->got.empty() && input->got.size() == axis.due.size();
    // Of a single coordinate, any function of it has some weight.
    const bool says_something = is_whole && (axis.due.size() > 1 || is_simple(input->weight));
    all_alike =
        all_alike && says_something && (!whole || is_same_weight(whole->weight, input->weight));
    if (is_whole && !whole) whole = input;
    // Along an axis of which the element needs one place, the sum over the others shows a mean of
    // their weights.
    if (input && !input->got.empty() && !is_whole) part = input;
  }
  found.odd = all_alike ? whole : part;
  return found;
}

/// Where every slice has an effect that should: those whose effects are the same times what they
/// should be.
ReactionFact fact_of_weights(const ElementSets& sets) {
  const ReactionFact unknown{Kind::formula, {}, {}};
  ReactionFact fact{Kind::weight, {}, {}};
  for (const std::size_t tensor : sets.tensors()) {
    const TensorWeights weights = weights_of(sets, tensor);
    if (weights.are_right) continue;
    if (!weights.odd) return unknown;
    fact.inputs.push_back(*weights.odd);
  }
  const bool is_one =
      !fact.inputs.empty() && std::ranges::all_of(fact.inputs, [&](const Input& input) {
        return is_same_weight(fact.inputs.front().weight, input.weight);
      });
  return is_one ? fact : unknown;
}

std::optional<ReactionFact> fact_of_element(const ElementSets& sets) {
  ReactionFact fact{Kind::formula, {}, {}};
  for (const std::size_t tensor : sets.tensors()) {
    const auto found = fact_of_tensor(sets, tensor);
    if (!found) return std::nullopt;
    if (found->kind == Kind::formula) continue;
    if (fact.kind != Kind::formula && fact.kind != found->kind) return std::nullopt;
    fact.kind = found->kind;
    fact.inputs.insert(fact.inputs.end(), found->inputs.begin(), found->inputs.end());
  }
  if (fact.kind == Kind::formula) fact = fact_of_weights(sets);
  if (fact.kind == Kind::formula && !sets.depends_as_it_should()) return std::nullopt;
  return fact;
}

/// Whether no coordinate is in one of two sets alone that is clear in both inputs.
bool agree(const Coordinates& a, const Coordinates& b, const Coordinates& unclear) {
  Coordinates differ;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(differ));
  return std::ranges::includes(unclear, differ);
}

Coordinates union_of(const Coordinates& a, const Coordinates& b) {
  Coordinates all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

bool are_alike(const Input& a, const Input& b) {
  return a.tensor == b.tensor && a.axis == b.axis && a.due_axis == b.due_axis;
}

}  // namespace

bool ReactionFact::is_like(const ReactionFact& other) const {
  return kind == other.kind && std::ranges::equal(inputs, other.inputs, are_alike);
}

bool ReactionFact::is_same(const ReactionFact& other) const {
  return is_like(other) &&
         std::ranges::equal(inputs, other.inputs, [](const Input& a, const Input& b) {
           const Coordinates unclear = union_of(a.unclear, b.unclear);
           return agree(a.due, b.due, unclear) && agree(a.got, b.got, unclear) &&
                  is_same_weight(a.weight, b.weight);
         });
}

void ReactionFact::add(const ReactionFact& other) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].due = union_of(inputs[i].due, other.inputs[i].due);
    inputs[i].got = union_of(inputs[i].got, other.inputs[i].got);
  }
}

std::optional<ReactionFact> find_fact(const Reactions& reactions) {
  std::optional<ReactionFact> common;
  for (const ElementReactions& element : reactions.elements) {
    const ElementSets sets(reactions.slices, element);
    // Of an element into which nothing goes, any mistake may have left nothing.
    if (!sets.reacts()) continue;
    std::optional<ReactionFact> fact = fact_of_element(sets);
    if (!fact || (common && !common->is_like(*fact))) return std::nullopt;
    if (common) continue;
    common = std::move(fact);
    common->element = element.element;
  }
  return common;
}

}  // namespace rooflab
