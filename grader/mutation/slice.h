#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "grader/mutation/code_tokens.h"

namespace rooflab::mutation {

struct LinesOfSlice {
  /// Lines that count for what a line does, each with the steps to it: 0 for itself, 1 for what its
  /// own variables are computed from and what decides whether it runs, and so on.
  std::map<std::uint32_t, unsigned> related;
  std::vector<std::uint32_t> unrelated;  ///< ascending
};

/// On an unrelated line what the line does cannot depend, as far as names tell: no variable that
/// the line names is computed there, nor one that such a variable is computed from, nor do they
/// decide whether that happens. Launches and barriers count as what everything depends on.
/// @return empty where the line names no variable
LinesOfSlice slice_of(const Code& code, std::uint32_t line);

}  // namespace rooflab::mutation
