#include "grader/spec/result.h"

#include <algorithm>
#include <array>

namespace rooflab {
namespace {

constexpr std::array kFromTheWorst = {
    Verdict::grader_fault, Verdict::rejected,      Verdict::compile_error,   Verdict::runtime_error,
    Verdict::memory_limit, Verdict::output_limit,  Verdict::disk_limit,      Verdict::race,
    Verdict::time_limit,   Verdict::wrong_answer,  Verdict::not_implemented, Verdict::suspect,
    Verdict::pass,         Verdict::not_applicable};
static_assert(kFromTheWorst.size() == static_cast<std::size_t>(Verdict::grader_fault) + 1);

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::wrong_answer:
      return "wrong-answer";
    case Verdict::compile_error:
      return "compile-error";
    case Verdict::runtime_error:
      return "runtime-error";
    case Verdict::race:
      return "race";
    case Verdict::time_limit:
      return "time-limit";
    case Verdict::memory_limit:
      return "memory-limit";
    case Verdict::output_limit:
      return "output-limit";
    case Verdict::disk_limit:
      return "disk-limit";
    case Verdict::not_implemented:
      return "not-implemented";
    case Verdict::rejected:
      return "rejected";
    case Verdict::suspect:
      return "suspect";
    case Verdict::not_applicable:
      return "not-applicable";
    case Verdict::grader_fault:
      return "grader-fault";
  }
  return "grader-fault";
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Verdict::grader_fault); ++i) {
    if (name == name_of(static_cast<Verdict>(i))) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

bool is_worse(Verdict one, Verdict other) {
  return std::ranges::find(kFromTheWorst, one) < std::ranges::find(kFromTheWorst, other);
}

double GradeResult::score() const {
  double sum = 0;
  for (const TaskResult& task : tasks) sum += task.bonus ? 0 : task.score;
  return sum;
}

double GradeResult::max_score() const {
  double sum = 0;
  for (const TaskResult& task : tasks) sum += task.bonus ? 0 : task.max_score;
  return sum;
}

double GradeResult::bonus() const {
  double sum = 0;
  for (const TaskResult& task : tasks) sum += task.bonus ? task.score : 0;
  return sum;
}

double GradeResult::max_bonus() const {
  double sum = 0;
  for (const TaskResult& task : tasks) sum += task.bonus ? task.max_score : 0;
  return sum;
}

double GradeResult::graded_later() const {
  double sum = 0;
  for (const TaskResult& task : tasks) sum += task.bonus ? 0 : task.graded_later;
  return sum;
}

int GradeResult::hidden_cases() const {
  int sum = 0;
  for (const TaskResult& task : tasks) sum += task.hidden_cases;
  return sum;
}

}  // namespace rooflab
