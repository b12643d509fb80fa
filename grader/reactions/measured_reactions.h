#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "grader/contract/oracle.h"
#include "grader/device/origins.h"

/// How an element of an output reacts to parts of the inputs: in a submission, and in the oracle.
namespace rooflab {

/// The contents of every tensor of a problem after a call, in order.
using Outputs = std::vector<std::vector<std::byte>>;

/// Calls a submission, once for each problem; fewer outputs where a call did not end well.
using CallAll = std::function<std::vector<Outputs>(const std::vector<Problem>&)>;

/// A slice of an input: the elements with one coordinate along an axis.
struct Slice {
  std::size_t tensor = 0, axis = 0;
  std::int64_t coordinate = 0;
};

/// What a value does that is computed from an input, once a slice of it is another.
struct Effect {
  double right = 0;                               ///< by how much the right value changes
  double got = 0;                                 ///< and the submission's
  bool right_reacts = false, got_reacts = false;  ///< it changes at all
  /// The change is far larger than the tolerance, so that its size says something.
  bool right_is_clear = false, got_is_clear = false;
};

/// An element of an output, with its effects by slice: those of Reactions::slices.
struct ElementReactions {
  ElementPlace element;
  std::vector<Effect> effects;
};

struct Reactions {
  std::vector<Slice> slices;
  std::vector<ElementReactions> elements;
};

/// How slices are changed.
enum class SliceChange : std::uint8_t {
  zeroed,
  doubled,
};

/// The most slices that are worth a call each.
inline constexpr std::size_t kMostSlices = 400;

/// All slices of inputs that can be changed, along axes with more than one coordinate, and of
/// others as a whole; nothing where these are more than kMostSlices.
std::vector<Slice> slices_of(const Problem& problem);

/// Changes slice after slice. Nothing where the submission does not come through that, or an
/// element is not a number.
/// @param elements of outputs, to look at
std::optional<Reactions> measure_reactions(const Problem& problem, const Oracle& oracle,
                                           const CallAll& call, SliceChange change,
                                           const std::vector<ElementPlace>& elements);

}  // namespace rooflab
