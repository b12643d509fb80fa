#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/contract/problem.h"
#include "grader/spec/part.h"

namespace rooflab {

/// What a free text earns points for.
struct RubricItem {
  double points = 0;
  std::string text;
};

/// A known way to a wrong number.
struct KnownSlip {
  std::string formula;
  std::string cause;  ///< what was forgotten, a clause: "a multiply-add counts as two FLOPs"
};

/// The right answer to one question.
struct AnswerKey {
  Value answer;             ///< with the page's own numbers
  double tolerance = 1e-6;  ///< numbers: relative to |answer|, absolute where that is 0
  std::string why;
  std::vector<RubricItem> rubric = {};  ///< of free text, for the people who read it
  std::string formula = {};             ///< of the answer; a question that draws numbers has one
  std::vector<KnownSlip> slips = {};
};

/// A line of a student's file that is no answer, or not one of its question's kind.
struct AnswerProblem {
  std::string question;    ///< that fails by it; empty for a line that belongs to none
  std::uint32_t line = 0;  ///< from 1
  std::string excerpt;     ///< the line, shortened; untrusted
  std::string message;
  std::string help;   ///< what is expected there
  bool costs = true;  ///< false: what was meant could be read all the same
};

/// Begins the line of a student's file that says whose it is: `student = "ada"`.
inline constexpr const char* kStudentKey = "student";

/// What a student answered.
struct Answers {
  /// Whose answers the file says these are, as student_id() gives it; empty where it says nothing.
  /// A claim, which anybody can write.
  std::string student;
  Values values;                        ///< by question; one left out or left empty is absent
  std::vector<AnswerProblem> problems;  ///< by line
  /// Questions without an answer that a line which belongs to none may have been meant for: it
  /// stands behind the question's own line, or the question has no line.
  std::set<std::string> unclear;
};

/// Reads a student's file, which is TOML, and may be anything: each question by itself, so that a
/// line that cannot be read costs its own question alone. Of free text, what was written is
/// recovered up to the next question's line, whatever its quotes. No value is nested, so that no
/// text takes more than a few stack frames.
/// @param text of the student's file
Answers read_answers(const std::string& text, const TaskSpec& task);

/// Of a value that is no text.
double number_in(const Value& value);

/// Whether a number is the expected one, within a share of it; absolute where that is 0.
bool is_near(double got, double expected, double tolerance);

/// solutions/<part>/answers.key.toml: a key for every number and choice question of the task. Its
/// formulas have a value for every number that is drawn, and the answer for the page's own.
/// @throws SpecError naming file, line and remedy.
std::map<std::string, AnswerKey> load_answer_key(const std::filesystem::path& file,
                                                 const TaskSpec& task);

/// The right number of whom these numbers were drawn for. @throws FormulaError
double right_number(const AnswerKey& key, const NamedNumbers& numbers);

/// What the student forgot who gets this number, which is not right; nothing where no slip that the
/// key knows leads there, or one that these numbers hide. @throws FormulaError
const KnownSlip* slip_that_gives(double got, const AnswerKey& key, const NamedNumbers& numbers);

}  // namespace rooflab
