#pragma once

#include <string>

#include "grader/mutation/code_tokens.h"

namespace rooflab::mutation {

/// The value of a number as it is written, or of a constant that the file gives one; not a number
/// where nobody knows.
double value_of(const std::string& spelling, const Code& code);

}  // namespace rooflab::mutation
