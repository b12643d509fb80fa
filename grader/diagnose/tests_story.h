#pragma once

#include <optional>
#include <string>

#include "grader/diagnose/diagnose.h"

/// Stories of tests that a student wrote.
namespace rooflab {

/// Cases that cannot be run.
/// @param what    the fault, a clause that begins a sentence
/// @param remedy  what to do
Diagnostic explain_unusable(const std::string& what, const std::string& remedy,
                            const DiagnoseContext& context);

/// A case that right implementations fail.
struct RefusedRight {
  std::string case_name;
  int refused = 0;
  int right = 0;                          ///< implementations that there are
  std::optional<TensorCheck> wrong = {};  ///< of one whose values may be shown
};
Diagnostic explain_refused_right(const RefusedRight& refused, const DiagnoseContext& context);

/// Mistakes of a group that no case catches, as the question that the group asks.
Diagnostic explain_uncaught(const GroupSpec& group, int uncaught, int count,
                            const DiagnoseContext& context);

}  // namespace rooflab
