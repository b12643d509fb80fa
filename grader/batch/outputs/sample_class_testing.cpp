#include "grader/batch/outputs/sample_class_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

namespace rooflab {
namespace {

struct SampleTask {
  const char* id;
  const char* title;
  bool bonus;
  double points;
  double flops, bytes;  ///< 0 flops and bytes: not timed
  const char* peak;
  simgpu::Code code;  ///< of who gets it wrong
  Verdict verdict;
};

constexpr std::array kFirst{
    SampleTask{"counters", "Counting MACs, FLOPs and bytes", false, 20, 0, 0, "", "RL0406",
               Verdict::wrong_answer},
    SampleTask{"gemm_naive", "Matrix product, one thread for each element", false, 10, 2.7e8, 3.1e6,
               "fp32", "RL0201", Verdict::runtime_error},
    SampleTask{"gemm_tiled", "Matrix product by tiles in shared memory", false, 25, 2.1e9, 1.26e7,
               "fp32", "RL0301", Verdict::race},
    SampleTask{"gemv", "Matrix times vector", false, 15, 3.4e7, 6.7e7, "fp32", "RL0401",
               Verdict::wrong_answer},
    SampleTask{"gemm_cublas", "The same product by cuBLAS", false, 10, 2.1e9, 1.26e7, "fp32",
               "RL0411", Verdict::wrong_answer},
    SampleTask{"answers", "Questions", false, 10, 0, 0, "", "RL0408", Verdict::wrong_answer},
    SampleTask{"gemm_wmma", "Tensor cores", true, 10, 2.1e9, 8.4e6, "bf16_tensor", "RL0601",
               Verdict::not_implemented}};
constexpr std::array kSecond{SampleTask{"rms_norm", "Root mean square normalisation", false, 20,
                                        4e6, 5.2e6, "fp32", "RL0302", Verdict::race},
                             SampleTask{"attention", "Attention of one layer", false, 30, 6e8,
                                        2.4e7, "fp32", "RL0402", Verdict::wrong_answer},
                             SampleTask{"decode", "One token", false, 30, 1.2e7, 2.5e7, "fp32",
                                        "RL0307", Verdict::time_limit}};

/// The same numbers on every machine, from 0 to 1.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  double roll() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 33) / static_cast<double>(std::uint64_t{1} << 31);
  }

 private:
  std::uint64_t state_;
};

Timing timing_of(const SampleTask& task, double efficiency) {
  const gpu_spec::GpuSpec gpu = sample_gpu();
  Timing timing;
  timing.name = "1024^3";
  timing.flops = task.flops;
  timing.bytes = task.bytes;
  timing.peak = task.peak;
  timing.roofline_us = 1e6 * std::max(task.flops / gpu.peak_flops.at(task.peak),
                                      task.bytes / gpu.dram_bytes_per_second);
  timing.efficiency = efficiency;
  timing.time_us = timing.roofline_us / efficiency;
  timing.target_efficiency = 0.4;
  timing.bound = task.flops / task.bytes > 12 ? "compute" : "memory";
  timing.limiter = "l1";
  timing.terms = {{"l1", timing.time_us}, {"dram", timing.time_us / 4}};
  timing.advice = "make a warp's accesses touch fewer sectors";
  timing.points = task.points / 2;
  timing.max_points = task.points / 2;
  return timing;
}

Diagnostic story_of(const SampleTask& task) {
  Diagnostic story;
  story.code = task.code;
  story.message = "shared memory is overwritten while another thread still needs it";
  story.file = fmt::format("part1-metrics/{}.cu", task.id);
  story.line = 14;
  story.context = "kernel gemm, block (0,0)";
  story.labels = {
      {story.file, 14, 7, 20, "      tile[y][x] = a[row * k + x];", "thread (0,1) stores"}};
  story.evidence = {"3584 of 4096 outputs differ"};
  story.pattern = {"..xx", "..xx"};
  story.notes = {"it was right for K = 16"};
  story.help = "put a __syncthreads() before the store";
  story.commands = {{"next hint", fmt::format("grader --part 1 --task {} --hint", task.id)}};
  return story;
}

TaskResult task_of(const SampleTask& sample, double skill, Dice& dice) {
  TaskResult task;
  task.id = sample.id;
  task.title = sample.title;
  task.bonus = sample.bonus;
  task.max_score = sample.points;
  const bool passed = dice.roll() < 0.25 + 0.75 * skill;
  task.verdict = passed ? Verdict::pass : sample.verdict;
  task.cases = {{"64 x 64 x 64", task.verdict, false}, {"one row", task.verdict, true}};
  const double efficiency = std::clamp(0.05 + 0.85 * skill * (0.4 + 0.6 * dice.roll()), 0.02, 0.97);
  task.score = passed ? sample.points * (sample.bytes > 0 ? 0.5 + 0.5 * efficiency : 1) : 0;
  if (passed && sample.bytes > 0) task.timings = {timing_of(sample, efficiency)};
  if (passed) task.counters = {{"dram__bytes_read.sum", 12345}};
  if (!passed) task.diagnostics = {story_of(sample)};
  if (!passed) task.printed = "row 0: nan\n";
  return task;
}

/// Three questions: one of a misconception that many share, one of units, one with own numbers.
std::vector<AnswerResult> answers_of(double skill, std::size_t student) {
  Dice dice(5000 + student);
  dice.roll();
  std::vector<AnswerResult> answers{{.question = "gemv_intensity", .given = "0.5"},
                                    {.question = "t4_utilisation", .given = "58.97"},
                                    {.question = "ridge_bf16", .given = "161.7"}};
  const auto fails = [&] { return dice.roll() > 0.3 + 0.7 * skill; };
  if (fails()) {
    answers[0] = {.question = "gemv_intensity",
                  .verdict = Verdict::wrong_answer,
                  .given = "0.25",
                  .cause = "a multiply-add counts as two FLOPs"};
  }
  if (fails()) {
    answers[1] = {.question = "t4_utilisation",
                  .verdict = Verdict::wrong_answer,
                  .given = "0.5897",
                  .is_other_unit = true};
  }
  if (fails()) {
    answers[2] = {
        .question = "ridge_bf16",
        .verdict = student % 3 == 0 ? Verdict::not_implemented : Verdict::wrong_answer,
        .given = student % 3 == 0 ? "" : std::to_string(student),
        .cause = student % 3 == 0 ? "" : "the peak over the bandwidth, not the other way round"};
  }
  return answers;
}

/// As a third of a class shares it.
std::optional<Journal> journal_of(const GradeResult& grading, std::size_t student) {
  if (student % 3 != 1) return std::nullopt;
  Journal journal;
  for (const TaskResult& task : grading.tasks) {
    for (std::size_t i = 0; i < 1 + student % 5; ++i) {
      journal.runs.push_back({.time = 1763600000,
                              .task = task.id,
                              .verdict = Verdict::wrong_answer,
                              .max_score = task.max_score,
                              .hints = static_cast<int>(i % 4),
                              .codes = {"RL0401"}});
    }
    JournalRun last = journal.runs.back();
    last.verdict = task.verdict;
    journal.runs.push_back(last);
  }
  return journal;
}

template <typename Tasks>
GradeResult grading_of(int part, const std::string& title, const Tasks& tasks, double skill,
                       Dice& dice) {
  GradeResult grading;
  grading.part = part;
  grading.title = title;
  grading.device = "sim:a100";
  grading.device_name = "simulated A100 40 GB PCIe";
  grading.time_kind = "modelled";
  grading.build_s = 2.25;
  grading.run_s = 5;
  for (const SampleTask& task : tasks) grading.tasks.push_back(task_of(task, skill, dice));
  return grading;
}

const char* given_name(std::size_t i) {
  static constexpr std::array kNames{
      "Ada",    "Grace",    "Alan", "Edsger", "Barbara", "Donald",    "Frances", "Ken",   "Radia",
      "Leslie", "Margaret", "John", "Shafi",  "Tony",    "Katherine", "Niklaus", "Sophie"};
  return kNames[i % kNames.size()];
}
const char* family_name(std::size_t i) {
  static constexpr std::array kNames{"Nightingale", "Okonkwo",      "Müller-Lüdenscheidt",
                                     "Šimek",       "Li",           "García",
                                     "O'Brien",     "van der Berg", "山田",
                                     "Петрова",     "Haddad"};
  return kNames[i % kNames.size()];
}

Student student_of(std::size_t i) {
  Student student;
  student.name = fmt::format("{} {}", given_name(i), family_name(i / 3 + i));
  student.key = fmt::format("student{:03}", i);
  student.login = student.key;
  student.email = student.key + "@example.org";
  student.section = i % 2 == 0 ? "Tuesday" : "Thursday";
  student.sis_id = fmt::format("{}", 700000 + i);
  student.canvas_id = fmt::format("{}", 1000 + i);
  student.moodle_identifier = fmt::format("Participant {}", 2000 + i);
  student.on_roster = i % 19 != 18;
  return student;
}

void make_late(PartOutcome& outcome) {
  outcome.keeps = 0.9;
  outcome.lateness = "3.2 hours late: 90 % of the points count";
}

PartOutcome outcome_of_part(SampleClass& sample, const StudentOutcome& student, std::size_t i,
                            int part, double skill, Dice& dice) {
  PartOutcome outcome;
  outcome.part = part;
  if (student.submission.empty() || (part == 2 && i % 7 == 6)) return outcome;
  if (i % 23 == 22) {
    outcome.state = PartState::unreadable;
    outcome.why = "the archive is broken; ask for it again";
    return outcome;
  }
  if (part == 2 && i % 13 == 12) {
    outcome.state = PartState::fault;
    outcome.why = "the worker was ended by SIGKILL";
    return outcome;
  }
  if (part == 2 && i % 31 == 30) {
    outcome.state = PartState::ungraded;
    return outcome;
  }
  GradeResult grading = part == 1 ? grading_of(1, "Fundamental metrics", kFirst, skill, dice)
                                  : grading_of(2, "A decoder layer", kSecond, skill, dice);
  grading.journal = journal_of(grading, i);
  for (TaskResult& task : grading.tasks) {
    if (task.id == "answers") task.answers = answers_of(skill, i);
  }
  outcome.state = PartState::graded;
  outcome.score = grading.score();
  outcome.bonus = grading.bonus();
  outcome.grading = fmt::format("{}-part{}", student.student.key, part);
  outcome.tasks = task_lines(grading);
  if (i % 5 == 4) make_late(outcome);
  if (part == 1 && i % 10 == 7) outcome.bonus += 80;  // above the maximum
  if (i % 11 == 3) outcome.previous_total = outcome.score / 2;
  sample.gradings[outcome.grading] = grading;
  return outcome;
}

StudentOutcome student_outcome(SampleClass& sample, std::size_t i) {
  Dice dice(1000 + i);
  dice.roll();
  const double skill = std::pow(dice.roll(), 0.7);
  StudentOutcome student;
  student.student = student_of(i);
  const bool missing = i % 9 == 8;
  if (!missing) {
    student.submission = student.student.key + "_lab.zip";
    student.received_at = 1763600000 + static_cast<std::int64_t>(3600 * i);
    student.notes = {"its folder \"lab\" was taken for the submission"};
  }
  if (!student.student.on_roster) student.problems = {"not on the roster"};
  for (const int part : {1, 2}) {
    student.parts.push_back(outcome_of_part(sample, student, i, part, skill, dice));
  }
  const bool unread = i % 17 == 16;
  if (student.parts[0].state == PartState::graded && unread) {
    student.parts[0].pending = {{"why_memory_bound", 5}};
  } else if (student.parts[0].state == PartState::graded) {
    student.manual = {
        {1, "why_memory_bound", 3.5, 5, "Right, but say of which memory.\nSee page 3.", "tutor"}};
    student.parts[0].manual = 3.5;
  }
  return student;
}

}  // namespace

gpu_spec::GpuSpec sample_gpu() {
  gpu_spec::GpuSpec gpu;
  gpu.name = "A100 40 GB PCIe";
  gpu.dram_bytes_per_second = 1555e9;
  gpu.l2_bytes_per_second = 7219e9;
  gpu.peak_flops = {{"fp32", 19.5e12}, {"bf16_tensor", 312e12}};
  return gpu;
}

SampleClass sample_class(std::size_t students) {
  SampleClass sample;
  sample.results.parts = {{1, "Fundamental metrics", 90, 5}, {2, "A decoder layer", 80, 0}};
  sample.results.device = "sim:a100";
  sample.results.time_kind = "modelled";
  sample.results.gpu = "a100";
  sample.results.versions = "grader 0.1.0, CUDA 13.0";
  sample.results.graded_at = "2026-11-22 10:15 UTC";
  for (std::size_t i = 0; i < students; ++i) {
    sample.results.students.push_back(student_outcome(sample, i));
  }
  return sample;
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> kTexts{
      "=cmd|' /C calc'!A0",
      "<script>document.title='owned'</script>",
      "\"><img src=x onerror=\"document.title='owned'\">",
      "'><svg onload='document.title=`owned`'>",
      "</style></title></textarea></pre><script>document.title='owned'</script>",
      "javascript:document.title='owned'",
      std::string("zero\0byte", 9),
      "\x1b]0;owned\x07\x1b[31mred",
      "\xff\xfe\xc0\xaf\xed\xa0\x80",
      "\u202Egnp.exe",
      "../../etc/passwd",
      "]]>&amp;&#0;<!-- ",
      "a,b\"c\r\n=1+1\n@SUM(1)",
      "\xEF\xBF\xBE\xEF\xBF\xBF\x0b\x0c",
      std::string(10'000, 'W'),
      "{{7*7}} ${7*7} %s%n",
      "<a href=\"https://example.org/\">x</a>",
      "<form action=\"https://example.org\"><input autofocus onfocus=document.title='owned'>",
      ""};
  return kTexts;
}

namespace {

class Poison {
 public:
  const std::string& next() { return hostile_texts()[at_++ % hostile_texts().size()]; }
  void into(Diagnostic& story) {
    story.message = next(), story.file = next(), story.context = next(), story.help = next();
    story.evidence = story.notes = story.pattern = hostile_texts();
    story.commands = {{"next hint", next()}};
    for (Label& label : story.labels) {
      label.file = next(), label.excerpt = next(), label.text = next();
    }
  }
  void into(TaskResult& task) {
    task.printed = next() + next();
    for (CaseResult& one : task.cases) one.name = next();
    for (AnswerResult& answer : task.answers) answer.given = next(), answer.cause = next();
    for (Diagnostic& story : task.diagnostics) into(story);
  }
  void into(Student& student) {
    student.name = next(), student.email = next(), student.login = next();
    student.section = next(), student.sis_id = next(), student.canvas_id = next();
    student.moodle_identifier = next();
    student.key += next();
  }
  void into(StudentOutcome& student) {
    into(student.student);
    if (!student.submission.empty()) student.submission = "x" + next();
    student.notes = student.problems = hostile_texts();
    for (PartOutcome& outcome : student.parts) {
      if (outcome.state == PartState::unreadable || outcome.state == PartState::fault)
        outcome.why = next();
    }
    for (PartOutcome& outcome : student.parts) {
      for (PendingAnswer& answer : outcome.pending) answer.item = next();
    }
    for (ManualPoints& manual : student.manual) {
      manual.item = next(), manual.comment = next(), manual.by = next();
    }
    for (const PartOutcome& outcome : student.parts) {
      student.comments.push_back({.part = outcome.part,
                                  .file = next(),
                                  .line = 2,
                                  .excerpt = {{1, next()}, {2, next()}, {3, next()}},
                                  .text = next() + next(),
                                  .by = next()});
      student.requests.push_back({.id = outcome.part,
                                  .part = outcome.part,
                                  .task = next(),
                                  .why = next() + next(),
                                  .asked_by = next(),
                                  .state = RequestState::declined,
                                  .reason = next(),
                                  .decided_by = next(),
                                  .decided_at = 1000});
    }
  }

 private:
  std::size_t at_ = 0;
};

}  // namespace

void make_hostile(SampleClass& sample) {
  Poison poison;
  for (StudentOutcome& student : sample.results.students) poison.into(student);
  for (auto& [name, grading] : sample.gradings) {
    grading.submission = poison.next();
    for (TaskResult& task : grading.tasks) poison.into(task);
  }
}

}  // namespace rooflab
