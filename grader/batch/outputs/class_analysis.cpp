#include "grader/batch/outputs/class_analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/batch/outputs/class_words.h"
#include "grader/spec/journal.h"

namespace rooflab {
namespace {

/// The entry with that name, which is made where there is none.
template <typename Entry, typename Name>
Entry& entry_of(std::vector<Entry>& all, Name Entry::*name, const Name& wanted) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found != all.end()) return *found;
  Entry& made = all.emplace_back();
  made.*name = wanted;
  return made;
}

bool is_failure(Verdict verdict) {
  return verdict != Verdict::pass && verdict != Verdict::not_applicable;
}

void lose(TaskAnalysis& task, const PointsLost& from, double points) {
  if (!(points > 1e-9)) return;
  PointsLost& lost = entry_of(task.lost, &PointsLost::name, from.name);
  lost.title = from.title;
  lost.is_speed = from.is_speed;
  ++lost.submissions;
  lost.points += points;
}

void add_lost(TaskAnalysis& analysis, const TaskResult& task) {
  for (const GroupResult& group : task.groups) {
    lose(analysis, {.name = group.name, .title = group.title}, group.max_score - group.score);
  }
  for (const Timing& timing : task.timings) {
    const double most =
        timing.max_points + timing.launches.max_points + timing.dram_bytes.max_points;
    const double has = timing.points + timing.launches.points + timing.dram_bytes.points;
    lose(analysis, {.name = "speed of " + timing.name, .is_speed = true}, most - has);
  }
}

/// Not those of tests that a student wrote: each class mate has others, and their names are the
/// student's words.
void add_cases(TaskAnalysis& analysis, const TaskResult& task) {
  if (task.tests) return;
  for (const CaseResult& one : task.cases) {
    const auto is_same = [&](const CaseFailures& known) {
      return known.name == one.name && known.is_hidden == one.hidden;
    };
    auto known = std::ranges::find_if(analysis.cases, is_same);
    if (known == analysis.cases.end()) {
      analysis.cases.push_back({.name = one.name, .is_hidden = one.hidden, .group = one.group});
      known = analysis.cases.end() - 1;
    }
    ++known->ran;
    if (is_failure(one.verdict)) ++known->failed;
  }
}

/// What a class reads of a story. Of tests that a student wrote, messages name the student's cases.
std::string words_for_class(const Diagnostic& story) {
  const bool names_case = story.code == "RL0617" || story.code == "RL0618";
  return names_case ? story.code.meaning() : story.message;
}

void add_codes(TaskAnalysis& analysis, const TaskResult& task, SubmissionIndex student,
               const std::string& grading) {
  if (task.verdict == Verdict::not_implemented) return;  // no mistake yet
  std::set<std::string> told;
  for (const Diagnostic& story : task.diagnostics) {
    if (!told.insert(story.code.text()).second) continue;
    entry_of(analysis.codes, &CodeSightings::code, story.code.text())
        .sightings.push_back({.submission = student,
                              .grading = grading,
                              .file = story.file,
                              .line = story.line,
                              .message = words_for_class(story)});
  }
}

void add_journal(PartAnalysis& part, const Journal& journal) {
  ++part.journals;
  std::map<std::string, std::vector<const JournalRun*>> by_task;
  for (const JournalRun& run : journal.runs) by_task[run.task].push_back(&run);
  for (const auto& [task, runs] : by_task) {
    const bool has_passed = runs.back()->verdict == Verdict::pass;
    if (!has_passed && is_full(journal)) continue;  // it may have passed later
    JournalAnalysis& analysis = entry_of(part.runs, &JournalAnalysis::task, task);
    ++analysis.students;
    std::set<std::string> met;
    for (const JournalRun* run : runs) {
      for (const simgpu::Code& code : run->codes) met.insert(code.text());
    }
    for (const std::string& code : met) ++analysis.codes[code];
    if (!has_passed) continue;
    ++analysis.passed;
    analysis.runs.push_back(static_cast<double>(runs.size()));
    analysis.hints.push_back(runs.back()->hints);
  }
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of two groups of shares; nothing where all have the same.
std::optional<Discrimination> discrimination_of(const std::vector<double>& right,
                                                const std::vector<double>& wrong) {
  const std::size_t all = right.size() + wrong.size();
  if (all < kLeastForDiscrimination || std::min(right.size(), wrong.size()) < kLeastOnEachSide) {
    return std::nullopt;
  }
  std::vector<double> both = right;
  both.insert(both.end(), wrong.begin(), wrong.end());
  const double mean = mean_of(both);
  double squares = 0;
  for (const double value : both) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(all));
  if (!(deviation > 1e-9)) return std::nullopt;
  const double p = static_cast<double>(right.size()) / static_cast<double>(all);
  Discrimination found{.right_share = mean_of(right), .wrong_share = mean_of(wrong)};
  found.correlation = (found.right_share - found.wrong_share) / deviation * std::sqrt(p * (1 - p));
  return found;
}

/// With numbers of their own students share a cause, and no number.
std::vector<SharedAnswer> shared_answers(
    const std::map<std::string, std::map<std::string, std::size_t>>& wrong) {
  std::vector<SharedAnswer> shared;
  for (const auto& [cause, answers] : wrong) {
    SharedAnswer together{.given = answers.size() == 1 ? answers.begin()->first : std::string(),
                          .cause = cause};
    for (const auto& [given, count] : answers) {
      together.submissions += count;
      if (cause.empty()) shared.push_back({.given = given, .cause = {}, .submissions = count});
    }
    if (!cause.empty()) shared.push_back(together);
  }
  std::erase_if(shared, [](const SharedAnswer& one) { return one.submissions < kLeastShared; });
  std::ranges::stable_sort(shared, std::ranges::greater(), &SharedAnswer::submissions);
  return shared;
}

/// In the order of the part, and not of who shared the first.
void sort_runs(PartAnalysis& part) {
  std::ranges::stable_sort(part.runs, {}, [&](const JournalAnalysis& one) {
    return std::ranges::find(part.tasks, one.task, &TaskAnalysis::id) - part.tasks.begin();
  });
}

void finish_task(TaskAnalysis& task) {
  std::ranges::stable_sort(task.lost, std::ranges::greater(), &PointsLost::points);
  std::erase_if(task.cases, [](const CaseFailures& one) { return one.failed == 0; });
  std::ranges::stable_sort(task.cases, std::ranges::greater(), &CaseFailures::failed);
  std::ranges::stable_sort(task.codes, std::ranges::greater(),
                           [](const CodeSightings& one) { return one.sightings.size(); });
}

}  // namespace

bool asks_questions(const PartAnalysis& part, const TaskAnalysis& task) {
  return std::ranges::find(part.questions, task.id, &QuestionAnalysis::task) !=
         part.questions.end();
}

std::vector<CodeInTask> commonest_codes(const PartAnalysis& part) {
  std::vector<CodeInTask> all;
  for (const TaskAnalysis& task : part.tasks) {
    if (asks_questions(part, task)) continue;
    for (const CodeSightings& code : task.codes) all.push_back({&task, &code});
  }
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const CodeInTask& one) { return one.code->sightings.size(); });
  return all;
}

ClassAnalyst::ClassAnalyst(const ClassResults& results) : results_(results) {
  for (const PartSummary& part : results.parts) {
    analysis_.parts.push_back({.number = part.number, .title = part.title});
  }
}

void ClassAnalyst::add(SubmissionIndex student, const GradeResult& grading,
                       const std::string& name) {
  const auto part = std::ranges::find(analysis_.parts, grading.part, &PartAnalysis::number);
  if (part == analysis_.parts.end()) return;
  if (is_stranger(results_, results_.students.at(student))) return;
  PartNotes& notes = notes_[part->number];
  const std::string& submission = results_.students.at(student).submission;
  if (!submission.empty() && !notes.seen.insert(submission).second) return;
  ++part->submissions;
  for (const TaskResult& task : grading.tasks) {
    add_task(*part, task, student, name);
    add_answers(*part, notes, grading, task);
  }
  if (grading.journal && !grading.journal->runs.empty()) add_journal(*part, *grading.journal);
}

void ClassAnalyst::add_task(PartAnalysis& part, const TaskResult& task, SubmissionIndex student,
                            const std::string& grading) {
  TaskAnalysis& analysis = entry_of(part.tasks, &TaskAnalysis::id, task.id);
  analysis.title = task.title;
  analysis.is_bonus = task.bonus;
  ++analysis.submissions;
  if (task.verdict == Verdict::pass) ++analysis.passed;
  analysis.max_score = std::max(analysis.max_score, task.max_score);
  analysis.points += task.score;
  add_lost(analysis, task);
  add_cases(analysis, task);
  add_codes(analysis, task, student, grading);
  for (const Timing& timing : task.timings) {
    if (task.verdict != Verdict::pass || !(timing.time_us > 0)) continue;
    entry_of(analysis.timed, &TimedEfficiencies::name, timing.name)
        .efficiencies.push_back(timing.efficiency);
  }
}

void ClassAnalyst::add_answers(PartAnalysis& part, PartNotes& notes, const GradeResult& grading,
                               const TaskResult& task) {
  for (const AnswerResult& answer : task.answers) {
    const QuestionKey key(task.id, answer.question);
    const auto is_same = [&](const QuestionAnalysis& known) {
      return known.task == task.id && known.id == answer.question;
    };
    auto known = std::ranges::find_if(part.questions, is_same);
    if (known == part.questions.end()) {
      part.questions.push_back({.task = task.id, .id = answer.question});
      known = part.questions.end() - 1;
    }
    const auto group = std::ranges::find(task.groups, answer.question, &GroupResult::name);
    if (group != task.groups.end() && known->prompt.empty()) known->prompt = group->title;
    if (answer.verdict == Verdict::not_implemented) {
      ++known->missing;
      continue;
    }
    const bool is_right = answer.verdict == Verdict::pass;
    if (is_right) {
      ++known->right;
    } else if (answer.given.empty()) {
      ++known->unreadable;
    } else {
      ++(answer.is_other_unit ? known->other_unit : known->wrong);
      ++notes.wrong[key][answer.cause][answer.given];
    }
    const double score = group == task.groups.end() ? 0 : group->score;
    const double most = group == task.groups.end() ? 0 : group->max_score;
    const double others = grading.max_score() - most;
    if (others > 0) {
      notes.answered[key].push_back(
          {.is_right = is_right, .other_share = (grading.score() - score) / others});
    }
  }
}

void ClassAnalyst::finish_questions(PartAnalysis& part, PartNotes& notes) {
  for (QuestionAnalysis& question : part.questions) {
    const QuestionKey key(question.task, question.id);
    question.shared = shared_answers(notes.wrong[key]);
    std::vector<double> right, wrong;
    for (const Answered& one : notes.answered[key]) {
      (one.is_right ? right : wrong).push_back(one.other_share);
    }
    question.discrimination = discrimination_of(right, wrong);
  }
}

ClassAnalysis ClassAnalyst::finish() && {
  for (PartAnalysis& part : analysis_.parts) {
    for (TaskAnalysis& task : part.tasks) finish_task(task);
    finish_questions(part, notes_[part.number]);
    sort_runs(part);
  }
  return std::move(analysis_);
}

ClassAnalysis analyse_class(const ClassResults& results, const LoadGrading& load) {
  ClassAnalyst analyst(results);
  for (SubmissionIndex student = 0; student < results.students.size(); ++student) {
    for (const PartOutcome& outcome : results.students[student].parts) {
      if (outcome.grading.empty() || outcome.state != PartState::graded) continue;
      try {
        analyst.add(student, load(outcome.grading), outcome.grading);
      } catch (const std::exception&) {  // collect() has told whose it is
      }
    }
  }
  return std::move(analyst).finish();
}

}  // namespace rooflab
