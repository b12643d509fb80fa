#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grader/batch/batch.h"
#include "grader/batch/free_text.h"
#include "grader/batch/job_files.h"
#include "grader/spec/files.h"

namespace rooflab {

/// What a call complains of; empty when it does not.
template <typename Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Grades by counting letters: a file is worth as many points as it has letters 'x', up to 10.
class CountingExecutor : public Executor {
 public:
  void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
           const std::function<bool()>& idle) override {
    for (const Job& job : jobs) {
      if (idle() || left_before_death_ == 0) return;
      if (left_before_death_ > 0) --left_before_death_;
      ended(grade(job));
    }
  }

  /// A worker that dies so many times when it meets this text.
  void die_of(const std::string& text, int times) { deaths_[text] = times; }
  /// A grading that the grader itself fails at, so many times.
  void fault_at(const std::string& text, int times) { faults_[text] = times; }
  /// The whole batch ends after so many gradings, as if it were killed.
  void end_after(int gradings) { left_before_death_ = gradings; }
  /// A text of exactly these letters is worth so many points from now on.
  void give(const std::string& text, double points) { given_[text] = points; }
  /// What has this text in it gets a diagnosis.
  void report(const std::string& text, const std::string& code) { codes_[text] = code; }
  /// The points that there are from now on, in place of 10.
  void be_out_of(double points) { most_ = points; }
  int graded() const { return graded_; }
  /// Whoever lacks points is told this code at this place.
  void tell(const simgpu::Code& code, const std::string& file, std::uint32_t line) {
    story_.emplace();
    story_->code = code;
    story_->file = file;
    story_->line = line;
  }
  /// The part whose free text workers read.
  void ask(const PartSpec& part) { part_ = part; }

 private:
  JobEnd grade(const Job& job) {
    const JobDescription description = read_job(job.folder);
    std::string text;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(sources_of(job.folder))) {
      if (entry.is_regular_file()) text += read_file(entry.path());
    }
    if (deaths_[text]-- > 0) return {.name = job.name, .why = "the worker was ended by SIGKILL"};
    ++graded_;
    TaskResult task;
    task.id = "count";
    task.title = "Counting";
    task.max_score = most_;
    task.score = std::min<double>(most_, static_cast<double>(std::ranges::count(text, 'x')));
    if (const auto given = given_.find(text); given != given_.end()) task.score = given->second;
    for (const auto& [part, code] : codes_) {
      if (text.find(part) == std::string::npos) continue;
      Diagnostic story;
      story.code = simgpu::Code::parse(code).value();
      story.message = "threads part at a barrier";
      task.diagnostics.push_back(story);
    }
    task.verdict = task.score == most_ ? Verdict::pass : Verdict::wrong_answer;
    if (story_ && task.verdict != Verdict::pass) task.diagnostics = {*story_};
    if (faults_[text]-- > 0) task.verdict = Verdict::grader_fault;
    GradeResult result;
    result.part = description.part;
    result.device = description.device;
    result.time_kind = "modelled";
    result.seed = description.seed;
    result.checkout = "3f2a9c1b7d40";
    result.build_s = graded_;  // differs from run to run, as times do
    result.tasks = {task};
    write_result(job.folder, result, "a100", hidden_cases(task),
                 texts_in(sources_of(job.folder), part_));
    return {.name = job.name, .done = true, .why = {}};
  }

  /// Who has not every point fails a hidden case too.
  static std::vector<RevealedCase> hidden_cases(const TaskResult& task) {
    if (task.verdict == Verdict::pass) return {};
    Diagnostic story;
    story.code = "RL0401";
    story.message = "c is wrong at the edge of the tile";
    story.evidence = {"expected 41.75, got 13.5 at [127, 3]"};
    return {{.task = task.id,
             .name = "edge",
             .parameters = "n = 127",
             .verdict = task.verdict,
             .diagnostics = {story},
             .printed = {}}};
  }

  std::map<std::string, int> deaths_, faults_;
  std::map<std::string, double> given_;
  std::map<std::string, std::string> codes_;
  int left_before_death_ = -1;
  int graded_ = 0;
  double most_ = 10;
  std::optional<Diagnostic> story_;
  PartSpec part_;
};

class QuietListener : public BatchListener {
 public:
  void say(const std::string& line) override { lines.push_back(line); }
  void progress(const BatchProgress& progress) override { last = progress; }
  bool stop() override { return false; }

  std::vector<std::string> lines;
  BatchProgress last;
};

/// A class in a temporary folder, whose one part asks for the file part1-test/a.cu.
class ClassFixture : public testing::Test {
 protected:
  ClassFixture() : folder_(std::filesystem::temp_directory_path()) {
    std::filesystem::create_directory(submissions());
    PartSpec part{.number = 1, .title = "Test", .directory = "part1-test", .root = {}, .tasks = {}};
    TaskSpec count;
    count.id = "count";
    count.file = "a.cu";
    count.points = 10;
    TaskSpec answers;
    answers.id = "answers";
    answers.kind = TaskKind::answers;
    answers.file = "answers.toml";
    answers.questions = {
        {.id = "why", .kind = QuestionKind::text, .prompt = "Why?", .choices = {}, .points = 4}};
    part.tasks = {count, answers};
    course_.parts = {part};
    executor_.ask(part);
    course_.versions[1] = "rooflab 1";
  }

  std::filesystem::path submissions() const { return folder_.path() / "submissions"; }
  std::filesystem::path out() const { return folder_.path() / "out"; }

  void hand_in(const std::string& who, const std::string& text,
               const std::string& file = "a.cu") const {
    write_file_atomically(submissions() / who / "part1-test" / file, text);
  }

  /// By Ada, for all ten points, at noon in 2026 as Gradescope's export says.
  void hand_in_on_21_november() const {
    hand_in("submission_1", "xxxxxxxxxx");
    write_file_atomically(
        submissions() / "submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :name: Ada\n    :email: ada@example.org\n"
        "  :created_at: 2026-11-21 12:00:00.000000000 Z\n");
  }

  std::filesystem::path file(const std::string& name, const std::string& text) const {
    write_file_atomically(folder_.path() / name, text);
    return folder_.path() / name;
  }

  BatchRequest request() const {
    BatchRequest request;
    request.out = out();
    request.submissions = submissions();
    request.parts = {1};
    request.device = "sim:a100";
    request.seed = 7;
    return request;
  }

  static BatchWork work() {
    return {.unpacker = std::filesystem::path(ROOFLAB_BINARY_DIR) / "bin" / "rooflab-unpack",
            .gpu_specs = std::filesystem::path(ROOFLAB_SOURCE_DIR) / "specs" / "gpus"};
  }

  BatchSummary run(const BatchRequest& request) {
    Batch batch(request);
    return batch.run(course_, work(), executor_, listener_);
  }
  BatchSummary run() { return run(request()); }

  /// Rows of a query, their columns separated by bars.
  std::vector<std::string> query(const std::string& sql, int columns) const {
    Database database(out() / "batch.sqlite");
    Statement row(database, sql);
    std::vector<std::string> rows;
    while (row.step()) {
      std::string text = row.text();
      for (int i = 1; i < columns; ++i) text += "|" + row.text();
      rows.push_back(text);
    }
    return rows;
  }

  /// Student and current score.
  std::vector<std::string> grades() const {
    return query(
        "SELECT student, coalesce(cast(score AS INTEGER), state) FROM submissions JOIN grades g ON "
        "id = submission JOIN gradings ON name = grading WHERE revision = (SELECT max(revision) "
        "FROM grades h WHERE h.submission = g.submission AND h.part = g.part) ORDER BY student",
        2);
  }

  TemporaryFolder folder_;
  Course course_;
  CountingExecutor executor_;
  QuietListener listener_;
};

}  // namespace rooflab
