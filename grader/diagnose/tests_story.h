#pragma once

#include <cstdint>
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

/// A case that asks for more than the cases before it have left of what all may have together.
struct TooLargeCase {
  std::string case_name;
  std::int64_t elements = 0;  ///< of all of its arrays
  std::int64_t left = 0;
  std::int64_t most = 0;  ///< of all cases together
};
Diagnostic explain_left_out(const TooLargeCase& too_large, const DiagnoseContext& context);

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
