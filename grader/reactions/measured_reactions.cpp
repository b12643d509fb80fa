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

Problem with_slice(const Problem& problem, const Slice& slice, SliceChange change) {
  Problem changed = problem;
  Tensor& tensor = changed.tensors[slice.tensor];
  change_elements(tensor, [&](std::size_t element, double value) {
    const std::int64_t at =
        coordinate_of(tensor.shape, slice.axis, static_cast<std::int64_t>(element));
    if (at < slice.first || at >= slice.first + slice.count) return value;
    return change == SliceChange::zeroed ? 0 : 2 * value;
  });
  return changed;
}

/// The axes of inputs along which something can be changed: those with more than one coordinate, or
/// the first one of a single value.
std::vector<Slice> whole_axes(const Problem& problem) {
  std::vector<Slice> axes;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    if (!is_changeable(tensor) || tensor.shape.empty()) continue;
    const std::size_t before = axes.size();
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      if (tensor.shape[axis] > 1) axes.push_back({i, axis, 0, tensor.shape[axis]});
    }
    if (axes.size() == before) axes.push_back({i, 0, 0, 1});
  }
  return axes;
}

/// A stretch of coordinates in about equal pieces.
void add_pieces(const Slice& whole, std::int64_t pieces, std::vector<Slice>& slices) {
  pieces = std::clamp<std::int64_t>(pieces, 1, whole.count);
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t first = whole.first + i * whole.count / pieces;
    const std::int64_t end = whole.first + (i + 1) * whole.count / pieces;
    slices.push_back({whole.tensor, whole.axis, first, end - first});
  }
}

/// At first about half of the calls are spent, so that there are some left for what is odd.
std::vector<Slice> first_slices(const Problem& problem, std::size_t most) {
  std::vector<Slice> slices;
  const std::vector<Slice> axes = whole_axes(problem);
  std::size_t left = most, axes_left = axes.size();
  std::size_t all = 0;
  for (const Slice& axis : axes) all += static_cast<std::size_t>(axis.count);
  if (all > most) left = most / 2;
  for (const Slice& axis : axes) {
    const std::size_t before = slices.size();
    add_pieces(axis, static_cast<std::int64_t>(std::max<std::size_t>(left / axes_left, 1)), slices);
    left -= std::min(left, slices.size() - before);
    --axes_left;
  }
  return slices;
}

/// Whether a submission makes something else of a piece than the oracle, or something that is too
/// little to tell.
bool is_odd(const Effect& effect) {
  constexpr double kAlike = 0.01;
  if (effect.right_is_clear != effect.got_is_clear) return true;
  return effect.right_is_clear &&
         std::abs(effect.got - effect.right) > kAlike * std::abs(effect.right);
}

struct RightValue {
  double value = 0, tolerance = 0;
};

/// What an oracle expects of some elements; nothing where it does not speak of each of them.
std::optional<std::vector<RightValue>> right_at(const Problem& problem, const Oracle& oracle,
                                                const std::vector<ElementPlace>& elements) {
  const std::vector<Expected> expected = oracle.expect(problem);
  std::vector<RightValue> values;
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

/// Measures one problem, some slices at a time.
class Measurement {
 public:
  explicit Measurement(const ReactionRequest& request) : request_(request) {
    for (const ElementPlace& element : request.elements) {
      reactions_.elements.push_back({element, {}});
    }
  }

  std::optional<Reactions> run() {
    if (request_.elements.empty()) return std::nullopt;
    const std::vector<Slice> first = first_slices(request_.problem, request_.most_slices);
    if (first.empty() || first.size() > request_.most_slices || !measure(first)) {
      return std::nullopt;
    }
    const std::vector<Slice> odd = pieces_of_odd_slices();
    if (!odd.empty() && !measure(odd)) return std::nullopt;
    return std::move(reactions_);
  }

 private:
  /// The problem, each slice, the problem again, the control.
  bool measure(const std::vector<Slice>& slices) {
    const Problem& problem = request_.problem;
    const auto posed = [&](std::size_t i) {
      if (i == slices.size() + 2) return request_.control;
      const bool is_same = i == 0 || i == slices.size() + 1;
      return is_same ? problem : with_slice(problem, slices[i - 1], request_.change);
    };
    const std::vector<Outputs> outputs = request_.call(slices.size() + 3, posed).outputs;
    if (outputs.size() != slices.size() + 3 || !is_reproducible(outputs)) return false;
    const auto right = right_at(problem, request_.oracle, request_.elements);
    const auto got = got_at(problem, outputs.front(), request_.elements);
    if (!right || !got || !all_finite(*got)) return false;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const auto right_now = right_at(posed(i + 1), request_.oracle, request_.elements);
      const auto got_now = got_at(problem, outputs[i + 1], request_.elements);
      if (!right_now || !got_now || !all_finite(*got_now)) return false;
      reactions_.slices.push_back(slices[i]);
      for (std::size_t e = 0; e < request_.elements.size(); ++e) {
        const double clear = kClear * std::max((*right)[e].tolerance, (*right_now)[e].tolerance);
        Effect effect{.right = (*right_now)[e].value - (*right)[e].value,
                      .got = (*got_now)[e] - (*got)[e]};
        effect.right_reacts = effect.right != 0;
        effect.got_reacts = effect.got != 0;
        effect.right_is_clear = std::abs(effect.right) > clear;
        effect.got_is_clear = std::abs(effect.got) > clear;
        reactions_.elements[e].effects.push_back(effect);
      }
    }
    return true;
  }

  bool is_reproducible(const std::vector<Outputs>& outputs) const {
    return outputs.front() == outputs[outputs.size() - 2] &&
           outputs.back() == request_.control_outputs;
  }

  /// Pieces that are odd for some element, one by one; they take the place of the pieces.
  std::vector<Slice> pieces_of_odd_slices() {
    std::vector<Slice> singles;
    Reactions kept{{}, reactions_.elements};
    for (ElementReactions& element : kept.elements) element.effects.clear();
    const std::size_t left = request_.most_slices - reactions_.slices.size();
    for (std::size_t i = 0; i < reactions_.slices.size(); ++i) {
      const Slice& slice = reactions_.slices[i];
      const bool splits =
          slice.count > 1 && singles.size() + static_cast<std::size_t>(slice.count) <= left &&
          std::ranges::any_of(reactions_.elements, [&](const ElementReactions& element) {
            return is_odd(element.effects[i]);
          });
      if (splits) {
        add_pieces(slice, slice.count, singles);
        continue;
      }
      kept.slices.push_back(slice);
      for (std::size_t e = 0; e < kept.elements.size(); ++e) {
        kept.elements[e].effects.push_back(reactions_.elements[e].effects[i]);
      }
    }
    reactions_ = std::move(kept);
    return singles;
  }

  const ReactionRequest& request_;
  Reactions reactions_;
};

}  // namespace

std::optional<Reactions> measure_reactions(const ReactionRequest& request) {
  return Measurement(request).run();
}

}  // namespace rooflab
