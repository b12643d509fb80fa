#include "grader/reactions/measured_reactions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "grader/contract/elements.h"
#include "grader/reactions/changed_values.h"

namespace rooflab {
namespace {

/// Of the tolerance: what a rounding of the submission's does not reach.
constexpr double kClear = 4;

void add_slices(std::size_t tensor, const std::vector<std::int64_t>& shape,
                std::vector<Slice>& slices) {
  bool any = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    any = true;
    for (std::int64_t i = 0; i < shape[axis]; ++i) slices.push_back({tensor, axis, i});
  }
  if (!any && !shape.empty()) slices.push_back({tensor, 0, 0});
}

Problem with_slice(const Problem& problem, const Slice& slice, SliceChange change) {
  Problem changed = problem;
  Tensor& tensor = changed.tensors[slice.tensor];
  change_elements(tensor, [&](std::size_t element, double value) {
    const auto at = static_cast<std::int64_t>(element);
    if (coordinate_of(tensor.shape, slice.axis, at) != slice.coordinate) return value;
    return change == SliceChange::zeroed ? 0 : 2 * value;
  });
  return changed;
}

/// What an oracle expects of some elements.
class Looked {
 public:
  struct Value {
    double value = 0, tolerance = 0;
  };

  /// Nothing where the oracle does not speak of each of them.
  static std::optional<std::vector<Value>> at(const Problem& problem, const Oracle& oracle,
                                              const std::vector<ElementPlace>& elements) {
    const std::vector<Expected> expected = oracle.expect(problem);
    std::vector<Value> values;
    for (const ElementPlace& place : elements) {
      const Tensor& tensor = problem.tensors.at(place.tensor);
      const auto of = std::ranges::find(expected, tensor.name, &Expected::tensor);
      if (of == expected.end()) return std::nullopt;
      std::size_t at = place.element;
      if (!of->index.empty()) {
        const auto found = std::ranges::lower_bound(of->index, at);
        if (found == of->index.end() || *found != at) return std::nullopt;
        at = static_cast<std::size_t>(found - of->index.begin());
      }
      if (at >= of->value.size() || at >= of->tolerance.size()) return std::nullopt;
      values.push_back({of->value[at], of->tolerance[at]});
    }
    return values;
  }
};

std::optional<std::vector<double>> got_at(const Problem& problem, const Outputs& outputs,
                                          const std::vector<ElementPlace>& elements) {
  std::vector<double> values;
  for (const ElementPlace& place : elements) {
    if (place.tensor >= outputs.size()) return std::nullopt;
    const Tensor& tensor = problem.tensors[place.tensor];
    const auto& bytes = outputs[place.tensor];
    if ((place.element + 1) * size_of(tensor.type) > bytes.size()) return std::nullopt;
    values.push_back(element_at(tensor.type, bytes, place.element));
  }
  return values;
}

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

std::vector<Slice> slices_of(const Problem& problem) {
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (is_changeable(tensor)) add_slices(i, tensor.shape, slices);
    if (slices.size() > kMostSlices) return {};
  }
  return slices;
}

std::optional<Reactions> measure_reactions(const Problem& problem, const Oracle& oracle,
                                           const CallAll& call, SliceChange change,
                                           const std::vector<ElementPlace>& elements) {
  Reactions reactions{slices_of(problem), {}};
  if (reactions.slices.empty() || elements.empty()) return std::nullopt;
  std::vector<Problem> problems{problem};
  for (const Slice& slice : reactions.slices) {
    problems.push_back(with_slice(problem, slice, change));
  }
  const std::vector<Outputs> outputs = call(problems);
  if (outputs.size() != problems.size()) return std::nullopt;
  const auto right = Looked::at(problem, oracle, elements);
  const auto got = got_at(problem, outputs.front(), elements);
  if (!right || !got || !all_finite(*got)) return std::nullopt;
  for (const ElementPlace& element : elements) reactions.elements.push_back({element, {}});
  for (std::size_t i = 1; i < problems.size(); ++i) {
    const auto right_now = Looked::at(problems[i], oracle, elements);
    const auto got_now = got_at(problem, outputs[i], elements);
    if (!right_now || !got_now || !all_finite(*got_now)) return std::nullopt;
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const double clear = kClear * std::max((*right)[e].tolerance, (*right_now)[e].tolerance);
      Effect effect{.right = (*right_now)[e].value - (*right)[e].value,
                    .got = (*got_now)[e] - (*got)[e]};
      effect.right_reacts = effect.right != 0;
      effect.got_reacts = effect.got != 0;
      effect.right_is_clear = std::abs(effect.right) > clear;
      effect.got_is_clear = std::abs(effect.got) > clear;
      reactions.elements[e].effects.push_back(effect);
    }
  }
  return reactions;
}

}  // namespace rooflab
