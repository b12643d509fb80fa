#include "grader/batch/neighbours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "grader/batch/whose_numbers.h"
#include "grader/report/text.h"
#include "grader/spec/answers.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr double kSameAnswer = 1e-3;  // whoever copies a number copies its digits
constexpr int kSamples = 200;         // made-up students
constexpr int kMostAlike = 10;        // of them, who have the answer of one who copied
constexpr std::size_t kMostNamed = 3;

/// One student's answers to the questions of one task that draw numbers.
struct Sheet {
  std::size_t student = 0;                ///< of ClassResults::students
  std::string grading;                    ///< those who handed in together share one; may be empty
  std::vector<std::string> ids;           ///< whose numbers they may be
  std::map<std::string, double> answers;  ///< as they were handed in
  std::set<std::string> wrong;            ///< of these
  /// What would be right, by question, for each of `ids`; worked out once for all comparisons.
  std::map<std::string, std::vector<double>> right = {};
  TaskLine* line = nullptr;
};

/// What fits one other student.
struct Fit {
  const Sheet* other = nullptr;
  std::vector<std::string> questions;
  std::size_t same = 0;  ///< of these, where the other handed in the very same number
};

class NeighbourSearch {
 public:
  NeighbourSearch(const PartSpec& part, const TaskSpec& task,
                  const std::map<std::string, AnswerKey>& keys)
      : part_(part.number), keys_(keys) {
    for (const QuestionSpec& question : task.questions) {
      if (!question.draws.empty() && keys.contains(question.id)) {
        questions_[question.id] = &question;
      }
    }
    std::vector<std::string> made_up;
    for (int i = 0; i < kSamples; ++i) made_up.push_back(fmt::format("made-up student {}", i));
    samples_ = right_for(made_up);
  }

  void note(std::vector<Sheet>& sheets, const std::vector<StudentOutcome>& students) const {
    for (Sheet& sheet : sheets) sheet.right = right_for(sheet.ids);
    for (const Sheet& sheet : sheets) {
      if (sheet.line == nullptr) continue;
      const std::vector<std::string> telling = telling_answers(sheet);
      if (telling.empty()) continue;
      std::vector<Fit> fits = fits_of(sheet, telling, sheets);
      std::ranges::stable_sort(fits, std::ranges::greater(), [](const Fit& fit) {
        return std::pair(fit.questions.size(), fit.same);
      });
      if (fits.size() > kMostNamed) fits.resize(kMostNamed);
      for (const Fit& fit : fits) {
        sheet.line->for_people.push_back(words_of(fit, students[fit.other->student].student.key));
      }
    }
  }

 private:
  /// What is right for each student, by question; of nobody ("") nothing is.
  std::map<std::string, std::vector<double>> right_for(const std::vector<std::string>& ids) const {
    std::map<std::string, std::vector<double>> right;
    for (const auto& [name, question] : questions_) {
      for (const std::string& id : ids) {
        if (id.empty()) continue;
        right[name].push_back(right_number(keys_.at(name), numbers_of(part_, question->draws, id)));
      }
    }
    return right;
  }

  static bool is_among(double answer, const std::map<std::string, std::vector<double>>& right,
                       const std::string& question) {
    const auto numbers = right.find(question);
    return numbers != right.end() && std::ranges::any_of(numbers->second, [&](double number) {
             return is_near(answer, number, kSameAnswer);
           });
  }

  /// Wrong answers that say something: without another cause, and right for few students.
  std::vector<std::string> telling_answers(const Sheet& sheet) const {
    std::vector<std::string> telling;
    for (const std::string& question : sheet.wrong) {
      const auto answer = sheet.answers.find(question);
      if (answer == sheet.answers.end() || !questions_.contains(question)) continue;
      if (has_own_cause(sheet, question, answer->second)) continue;
      const auto alike = std::ranges::count_if(samples_.at(question), [&](double right) {
        return is_near(answer->second, right, kSameAnswer);
      });
      if (alike <= kMostAlike) telling.push_back(question);
    }
    return telling;
  }

  /// The page's own numbers, or a slip with the student's.
  bool has_own_cause(const Sheet& sheet, const std::string& question, double answer) const {
    const AnswerKey& key = keys_.at(question);
    if (is_near(answer, number_in(key.answer), key.tolerance)) return true;
    return std::ranges::any_of(sheet.ids, [&](const std::string& id) {
      return slip_that_gives(answer, key, numbers_of(part_, questions_.at(question)->draws, id)) !=
             nullptr;
    });
  }

  std::vector<Fit> fits_of(const Sheet& sheet, const std::vector<std::string>& telling,
                           const std::vector<Sheet>& sheets) const {
    std::vector<Fit> fits;
    for (const Sheet& other : sheets) {
      const bool is_own = other.student == sheet.student ||
                          (!other.grading.empty() && other.grading == sheet.grading);
      if (is_own) continue;
      Fit fit{.other = &other, .questions = {}, .same = 0};
      for (const std::string& question : telling) {
        const double answer = sheet.answers.at(question);
        const auto theirs = other.answers.find(question);
        const bool is_same = theirs != other.answers.end() && theirs->second == answer &&
                             !other.wrong.contains(question);
        if (is_same || is_among(answer, other.right, question)) fit.questions.push_back(question);
        fit.same += is_same ? 1 : 0;
      }
      if (fit.same > 0 || fit.questions.size() > 1) fits.push_back(std::move(fit));
    }
    return fits;
  }

  static std::string words_of(const Fit& fit, const std::string& other) {
    const bool one = fit.questions.size() == 1;
    return fmt::format(
        "{} {} wrong here and right with the numbers of {}{}; that can be chance",
        fmt::join(fit.questions, ", "), one ? "is" : "are", shorten(one_line(other), 80),
        fit.same == 0
            ? ""
            : fmt::format(", who handed in {}", one ? "the same number" : "the same numbers"));
  }

  int part_;
  const std::map<std::string, AnswerKey>& keys_;
  std::map<std::string, const QuestionSpec*> questions_;
  std::map<std::string, std::vector<double>> samples_;  ///< right for made-up students
};

/// The part of a student's outcome and the line of a task in it; nullptr where there is none.
TaskLine* line_of(PartOutcome& outcome, const TaskSpec& task) {
  const auto line = std::ranges::find(outcome.tasks, task.id, &TaskLine::id);
  return line == outcome.tasks.end() ? nullptr : &*line;
}

/// By student, whose numbers their submission may have been asked with.
std::map<std::string, std::vector<std::string>> ids_by_student(Store& store) {
  const WhoseNumbers whose(store);
  std::map<std::string, std::vector<std::string>> ids;
  for (const SubmissionRow& row : store.submissions()) {
    if (row.counts) ids[row.student] = whose.of(row);
  }
  return ids;
}

/// What everybody answered to one task, whoever is on the roster without answers too.
std::vector<Sheet> sheets_of(ClassResults& results, Store& store, const PartSpec& part,
                             const TaskSpec& task,
                             const std::map<std::string, std::vector<std::string>>& ids) {
  std::vector<Sheet> sheets;
  for (std::size_t i = 0; i < results.students.size(); ++i) {
    StudentOutcome& student = results.students[i];
    const auto own = ids.find(student.student.key);
    Sheet sheet{.student = i,
                .grading = {},
                .ids = own == ids.end() ? ids_of(student.student) : own->second,
                .answers = {},
                .wrong = {},
                .line = nullptr};
    for (PartOutcome& outcome : student.parts) {
      if (outcome.part != part.number || outcome.state != PartState::graded) continue;
      sheet.grading = outcome.grading;
      sheet.answers = store.numbers(outcome.grading);
      sheet.line = line_of(outcome, task);
      if (sheet.line != nullptr) {
        sheet.wrong.insert(sheet.line->lost_groups.begin(), sheet.line->lost_groups.end());
      }
    }
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

}  // namespace

std::map<std::string, double> numbers_in(const std::filesystem::path& sources,
                                         const PartSpec& part) {
  std::map<std::string, double> numbers;
  for (const TaskSpec& task : part.tasks) {
    const auto file = sources / part.directory / task.file;
    if (!draws_numbers(task) || !std::filesystem::exists(file)) continue;
    const Answers answers = read_answers(read_file(file), task);
    for (const QuestionSpec& question : task.questions) {
      const auto answer = answers.values.find(question.id);
      if (question.draws.empty() || answer == answers.values.end()) continue;
      const double number = number_in(answer->second);
      if (std::isfinite(number)) numbers[question.id] = number;
    }
  }
  return numbers;
}

void note_neighbours(ClassResults& results, Store& store, const Course& course) {
  std::optional<std::map<std::string, std::vector<std::string>>> ids;
  for (const PartSpec& part : course.parts) {
    const auto keys = course.keys.find(part.number);
    if (keys == course.keys.end()) continue;
    for (const TaskSpec& task : part.tasks) {
      if (!draws_numbers(task)) continue;
      if (!ids) ids = ids_by_student(store);
      std::vector<Sheet> sheets = sheets_of(results, store, part, task, *ids);
      try {
        NeighbourSearch(part, task, keys->second).note(sheets, results.students);
      } catch (const FormulaError&) {  // whose grading was a fault of ours has been told
      }
    }
  }
}

}  // namespace rooflab
