#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/diagnose.h"

/// What a wrong output has to do with the right one, where a simple rule makes one of the other:
/// tells the cause of mistakes that no oracle has a reference for.
namespace rooflab {

/// A rule that explains every compared element within its tolerance, or the places of all wrong
/// ones.
struct Relation {
  Code code;
  std::string message;
  std::string help;
  std::string note = {};  ///< how sure that is; may be empty
};

/// The values themselves: one constant, a constant factor, a factor for each row or column, right
/// values in other places, errors as small as roundings. Nothing where an element is not finite.
std::optional<Relation> relation_of_values(const TensorCheck& check,
                                           const DiagnoseContext& context);

/// The places of the wrong elements: a last partial tile, all but the first slice, every n-th
/// column, all but the first columns.
std::optional<Relation> relation_of_places(const TensorCheck& check,
                                           const DiagnoseContext& context);

}  // namespace rooflab
