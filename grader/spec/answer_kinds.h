#pragma once

#include <string>
#include <string_view>

#include "grader/contract/problem.h"
#include "grader/spec/part.h"

namespace rooflab {

/// Whether a value is of the kind that a question asks for.
bool is_of_kind(const QuestionSpec& question, const Value& value);

/// What the question asks for: "a number", "one of its choices", "text".
std::string kind_words(const QuestionSpec& question);

/// What is wrong with how an answer is written, where that is plain.
struct WritingSlip {
  const char* what = "";  ///< "has no quotes"; empty: nothing that is known
  std::string help = {};  ///< the answer as it should stand
};

/// The slip in a value that is not of the question's kind: a choice without quotes or as a capital
/// letter, a number with a comma.
/// @param literal as it stands in the file
WritingSlip slip_of(const QuestionSpec& question, std::string_view literal);

/// How to write it: "write it without quotes and without a unit, as in 59 or 0.59".
std::string how_to_write(const QuestionSpec& question);

}  // namespace rooflab
