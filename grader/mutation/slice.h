#pragma once

#include <cstdint>
#include <vector>

#include "grader/mutation/code_tokens.h"

namespace rooflab::mutation {

/// Lines that what a line does cannot depend on, as far as names tell: no variable that the line
/// names is computed there, nor one that such a variable is computed from, nor do they decide
/// whether that happens. Launches and barriers count as what everything depends on.
/// @return ascending; empty where the line names no variable
std::vector<std::uint32_t> unrelated_lines(const Code& code, std::uint32_t line);

}  // namespace rooflab::mutation
