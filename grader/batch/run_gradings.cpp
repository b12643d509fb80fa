#include "grader/batch/run_gradings.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>

#include "grader/batch/free_text.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMostTries = 3;

/// What the grader itself failed at, in words; empty when nothing.
std::string fault_of(const GradeResult& result) {
  for (const TaskResult& task : result.tasks) {
    if (task.verdict != Verdict::grader_fault) continue;
    const std::string what =
        task.diagnostics.empty() ? "no reason given" : task.diagnostics.front().message;
    return fmt::format("task {}: {}", task.id, one_line(what));
  }
  return {};
}

/// What is wrong with it, in brief: "gemv race, 3 not implemented"; empty when nothing is.
std::string failed_tasks(const GradeResult& result) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  std::size_t not_implemented = 0;
  for (const TaskResult& task : result.tasks) {
    if (task.verdict == Verdict::not_implemented) {
      ++not_implemented;
    } else if (task.verdict != Verdict::pass && task.verdict != Verdict::not_applicable) {
      add(fmt::format("{} {}", task.id, name_of(task.verdict)));
    }
  }
  if (not_implemented > 0) add(fmt::format("{} not implemented", not_implemented));
  return text;
}

/// The end of what a worker printed.
std::string last_words(const std::filesystem::path& folder) {
  constexpr std::size_t kMost = 300;
  std::error_code error;
  if (!std::filesystem::exists(folder / kLogFile, error)) return {};
  std::string text = read_file(folder / kLogFile);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  return text.empty() ? "" : "; it last said: " + shorten(one_line(text), kMost);
}

class GradingRunner {
 public:
  GradingRunner(Store& store, const Course& course, const BatchFolder& folder, Executor& executor,
                const RunOptions& options, BatchListener& listener)
      : store_(store),
        course_(course),
        folder_(folder),
        executor_(executor),
        options_(options),
        listener_(listener) {
    for (GradingRow& grading : store.pending()) {
      std::string name = grading.name;
      left_.emplace(std::move(name), std::move(grading));
    }
    total_ = left_.size();
    for (const SubmissionRow& submission : store.submissions()) {
      for (const auto& [part, source] : store.handed_in(submission.id)) {
        const auto grade = store.grade(submission.id, part);
        if (grade && left_.contains(grade->grading.name)) {
          whose_[grade->grading.name].push_back(submission.called);
        }
      }
    }
  }

  bool run() {
    tell_progress();
    for (unsigned attempt = 1; attempt <= kMostTries && !left_.empty() && !stopped_; ++attempt) {
      last_attempt_ = attempt == kMostTries;
      const std::vector<Job> jobs = prepare();
      ended_ = 0;
      executor_.run(
          jobs, [this](const JobEnd& end) { settle(end); }, [this] { return idle(); });
      // Somebody else will run the rest, or somebody stopped it.
      stopped_ = stopped_ || ended_ < jobs.size();
    }
    return !stopped_;
  }

 private:
  /// Writes the folders of the jobs. A result from before the batch was interrupted is kept.
  std::vector<Job> prepare() {
    std::vector<Job> jobs;
    for (const auto& [name, grading] : left_) {
      Job job{.name = name, .folder = folder_.job(name), .limit_s = options_.limit_s};
      if (!has_result(job)) {
        write_job(job.folder,
                  {.grading = name,
                   .part = grading.subject.part,
                   .device = grading.subject.device,
                   .seed = grading.subject.seed,
                   .students = grading.subject.students,
                   .sandbox = options_.sandbox,
                   .causes = options_.causes,
                   .threads = options_.threads},
                  store_.source(grading.subject.source));
      }
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

  void settle(const JobEnd& end) {
    ++ended_;
    const auto job = folder_.job(end.name);
    auto graded = end.done ? read_result(job) : std::nullopt;
    std::string why = graded ? fault_of(graded->result) : end.why + last_words(job);
    if (end.done && !graded) why = "its worker left a result that cannot be read";
    if (why.empty()) {
      graded->questions = questions_of(left_.at(end.name).subject.part, graded->texts);
      store_.put_result(end.name, *graded, std::time(nullptr));
      tell_result(end.name, graded->result);
    } else if (last_attempt_) {
      store_.put_fault(end.name, why, graded ? &*graded : nullptr, std::time(nullptr));
      listener_.say(
          fmt::format("{}: the grader failed {} times: {}; no score was given: mend that "
                      "and use --regrade failed",
                      names(end.name), kMostTries, why));
    } else {
      if (!stopped_) listener_.say(fmt::format("{}: {}; trying again", names(end.name), why));
      std::error_code ignored;
      std::filesystem::remove_all(job, ignored);
      return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(job, ignored);
    left_.erase(end.name);
    tell_progress();
  }

  /// What the grading leaves to a person.
  std::vector<HandQuestion> questions_of(int part,
                                         const std::map<std::string, std::string>& texts) const {
    const auto spec = std::ranges::find(course_.parts, part, &PartSpec::number);
    if (spec == course_.parts.end()) return {};
    std::vector<HandQuestion> questions = hand_questions_of(*spec);
    for (HandQuestion& question : questions) {
      const auto text = texts.find(question.item);
      question.answer = text == texts.end() ? "" : text->second;
    }
    return questions;
  }

  void tell_result(const std::string& grading, const GradeResult& result) {
    const std::string failed = failed_tasks(result);
    if (failed.empty()) return;
    listener_.say(fmt::format("{}: part {}: {} of {} points: {}", names(grading), result.part,
                              format_points(result.score()), format_points(result.max_score()),
                              failed));
  }

  /// Whose grading it is: "ada.zip", "ada.zip and 2 like it".
  std::string names(const std::string& grading) const {
    const auto whose = whose_.find(grading);
    if (whose == whose_.end()) return grading;
    const std::string& first = whose->second.front();
    const std::size_t others = whose->second.size() - 1;
    return others == 0 ? first : fmt::format("{} and {} equal to it", first, others);
  }

  void tell_progress() {
    BatchProgress progress{
        .stage = "grading", .done = total_ - left_.size(), .total = total_, .left_s = {}};
    if (progress.done >= options_.at_once && progress.done > 0) {
      const double taken = std::chrono::duration<double>(Clock::now() - start_).count();
      progress.left_s =
          taken / static_cast<double>(progress.done) * static_cast<double>(left_.size());
    }
    listener_.progress(progress);
  }

  bool idle() {
    stopped_ = stopped_ || listener_.stop();
    return stopped_;
  }

  Store& store_;
  const Course& course_;
  const BatchFolder& folder_;
  Executor& executor_;
  const RunOptions& options_;
  BatchListener& listener_;
  std::map<std::string, GradingRow> left_;
  std::map<std::string, std::vector<std::string>> whose_;
  std::size_t total_ = 0;
  std::size_t ended_ = 0;  // of this attempt
  Clock::time_point start_ = Clock::now();
  bool last_attempt_ = false;
  bool stopped_ = false;
};

}  // namespace

bool run_gradings(Store& store, const Course& course, const BatchFolder& folder, Executor& executor,
                  const RunOptions& options, BatchListener& listener) {
  return GradingRunner(store, course, folder, executor, options, listener).run();
}

}  // namespace rooflab
