#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "grader/reactions/measured_reactions.h"

namespace rooflab {

/// What is wrong with how an element depends on one input. What it says holds for each change of
/// the inputs that was tried.
struct ReactionFact {
  enum class Kind : std::uint8_t {
    no_effect,  ///< the input has none, and should
    missing,    ///< coordinates along an axis have none, and should
    in_place,   ///< others along it have one than should
    further,    ///< others have one, too
    turned,     ///< all along `axis`, where all along `due_axis` should, at one place of the other
    weight,     ///< all that should have one do, but by another weight
  };
  Kind kind = Kind::no_effect;
  /// An input, and the axis along which the fact shows.
  struct Input {
    std::size_t tensor = 0, axis = 0;
    bool operator==(const Input&) const = default;
  };
  std::vector<Input> inputs;      ///< of which it holds in the same way
  std::size_t due_axis = 0;       ///< of the first of them, where it is turned
  std::vector<std::int64_t> due;  ///< coordinates that should have an effect, and have none
  std::vector<std::int64_t> got;  ///< that have one, and should not; those with another weight
  double weight = 1;              ///< of what it should be
  ElementPlace element;           ///< an example

  /// Whether another one says the same of another element, of other inputs, or both.
  bool is_like(const ReactionFact& other) const;
};

/// The fact that explains all of the elements alike; nothing where there is none, or several.
/// @param reactions of the same problem, with its slices changed in different ways
std::optional<ReactionFact> find_fact(const std::vector<Reactions>& reactions);

}  // namespace rooflab
