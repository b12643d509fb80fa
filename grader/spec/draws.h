#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/spec/formula.h"

/// Numbers of a question that differ from student to student: docs/design/questions.md.
namespace rooflab {

/// One number that a question draws.
struct Draw {
  std::string name;            ///< "n", as the prompt ("{n}") and the key's formulas have it
  std::string question;        ///< that draws it: its own, or an earlier one that shares it
  double page = 0;             ///< of nobody in particular: handouts show it
  std::vector<double> values;  ///< each as likely as any other
};

/// A student's ID in the form that numbers are drawn from: without blanks around it, ASCII letters
/// in lower case. @return nothing for what is no ID: nothing at all, more than 100 bytes, a control
/// character or bytes that are no UTF-8
std::optional<std::string> student_id(std::string_view text);

/// The numbers of a student, on every machine the same: a hash of part, question, name and ID
/// chooses each. @param student as student_id() gives it; empty: the page's own numbers
NamedNumbers numbers_of(int part, const std::vector<Draw>& draws, const std::string& student);

/// A prompt with each "{name}" as its number, "16,384", "24.8".
std::string with_numbers(std::string prompt, const NamedNumbers& numbers);

}  // namespace rooflab
