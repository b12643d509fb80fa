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

/// What came of calls of a submission.
struct Called {
  std::vector<Outputs> outputs;         ///< of each; fewer where one did not end well
  std::uint64_t warp_instructions = 0;  ///< of the first one
};

/// Calls a submission in one process, once for each of `count` problems.
using CallAll =
    std::function<Called(std::size_t count, const std::function<Problem(std::size_t)>& posed)>;

/// Part of an input: the elements with one of `count` coordinates along an axis.
struct Slice {
  std::size_t tensor = 0, axis = 0;
  std::int64_t first = 0, count = 1;
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

/// What is measured, and how.
struct ReactionRequest {
  const Problem& problem;
  const Oracle& oracle;
  const CallAll& call;
  SliceChange change = SliceChange::zeroed;
  std::vector<ElementPlace> elements;  ///< of outputs, to look at
  std::size_t most_slices = 400;       ///< each costs a call
  /// Another problem of the same sizes, with what the submission made of it when it was its
  /// process's first: one that keeps results from call to call is not measured.
  const Problem& control;
  const Outputs& control_outputs;
};

/// Changes slice after slice of the inputs that can be changed. Long axes are cut into pieces, and
/// those of which the submission makes something else than the oracle into single coordinates.
/// Nothing where the submission does not come through that, or an element is not a number.
std::optional<Reactions> measure_reactions(const ReactionRequest& request);

}  // namespace rooflab
