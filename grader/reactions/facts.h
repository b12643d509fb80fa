#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grader/reactions/measured_reactions.h"

namespace rooflab {

/// What is wrong with how an element depends on the inputs.
struct ReactionFact {
  enum class Kind : std::uint8_t {
    no_effect,  ///< inputs have none, and should
    missing,    ///< coordinates along an axis have none, and should
    in_place,   ///< others along it have one than should
    further,    ///< others have one, too
    turned,     ///< all along an axis, where all along another should, at one place of the first
    weight,     ///< all that should have one do, but some by another weight
    formula,    ///< all that should have one do, and no others, but not by what a weight explains
  };

  /// An input, the axis along which the fact shows, and the coordinates.
  struct Input {
    std::size_t tensor = 0, axis = 0;
    std::size_t due_axis = 0;            ///< where it is turned
    std::vector<std::int64_t> due = {};  ///< that should have an effect, and have none
    std::vector<std::int64_t> got = {};  ///< that have one, and should not; or another weight
    double weight = 1;                   ///< of what it should be
    /// Of which nothing can be said: their values are zeros, or too small.
    std::vector<std::int64_t> unclear = {};
  };

  Kind kind = Kind::no_effect;
  std::vector<Input> inputs;  ///< a tensor comes twice where it shows along two axes
  ElementPlace element;       ///< an example

  /// Whether another one says the same, maybe of other coordinates: of another element.
  bool is_like(const ReactionFact& other) const;
  /// Whether it says the same of the same coordinates, of other values: as far as both are clear.
  bool is_same(const ReactionFact& other) const;
  /// Takes in the coordinates that are clear in the other one alone. @pre is_same(other)
  void add(const ReactionFact& other);
};

/// The fact that explains all of the elements alike; nothing where there is none, or several.
std::optional<ReactionFact> find_fact(const Reactions& reactions);

}  // namespace rooflab
