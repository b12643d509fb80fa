#pragma once

#include <string>

#include "grader/contract/problem.h"
#include "grader/spec/part.h"

namespace rooflab {

/// Whether a value is of the kind that a question asks for.
bool is_of_kind(const QuestionSpec& question, const Value& value);

/// What the question asks for: "a number", "one of its choices", "text".
std::string kind_words(const QuestionSpec& question);

/// How to write it: "write it without quotes and without a unit, as in 59 or 0.59".
std::string how_to_write(const QuestionSpec& question);

}  // namespace rooflab
