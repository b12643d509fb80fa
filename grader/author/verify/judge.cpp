#include "grader/author/verify/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "grader/author/verify/ran.h"
#include "grader/author/verify/read_grade.h"
#include "grader/report/text.h"
#include "grader/spec/files.h"

namespace rooflab::verify {
namespace {

using nlohmann::json;

std::string grade_command(const Graded& graded, const std::string& submission,
                          const std::string& task) {
  return fmt::format("build/bin/grader --part {}{} --submission {} --device sim:{} --seed {}",
                     graded.part.number, task.empty() ? "" : " --task " + task, submission,
                     graded.gpu.id, kSeed);
}

std::string mistake_command(const Graded& graded, const Mistake& mistake) {
  return fmt::format("build/bin/grader verify --only mistakes --part {} --gpu {} --mistake {}",
                     graded.part.number, graded.gpu.id, mistake.name);
}

/// Collects what is wrong with the grade of one submission.
class Judge {
 public:
  Judge(const Graded& graded, std::string submission, Outcome& outcome)
      : graded_(graded), submission_(std::move(submission)), outcome_(outcome) {}

  /// @param task its id; empty for the part
  void fail(const std::string& task, const std::string& what) {
    outcome_.failures.push_back(
        {(task.empty() ? "" : task + ": ") + what, grade_command(graded_, submission_, task)});
  }

  /// The result of a task that this GPU can run; null when there is none to judge.
  const json* result_of(const TaskSpec& task, const json& document) {
    const auto& results = document.at("tasks");
    const auto found = std::ranges::find_if(
        results, [&](const json& result) { return result.at("id") == task.id; });
    if (found == results.end()) {
      fail(task.id, "the grade says nothing of it");
      return nullptr;
    }
    const bool left_out = has_verdict(*found, Verdict::not_applicable);
    if (cannot_run(task, graded_.gpu)) {
      outcome_.not_applicable.push_back(task.id);
      if (!left_out) {
        fail(task.id, fmt::format("a {} lacks the peak that it needs, and yet {}", graded_.gpu.name,
                                  verdict_in_words(*found)));
      }
      return nullptr;
    }
    if (left_out) {
      fail(task.id, fmt::format("a {} has every peak that it needs, and yet {}", graded_.gpu.name,
                                verdict_in_words(*found)));
      return nullptr;
    }
    return &*found;
  }

  /// The grade's exit code, which scripts rely on.
  void expect_exit(const Ran& ran, int code) {
    if (ran.exit_code == code) return;
    fail("", fmt::format("the grader ended with exit code {} instead of {}", ran.exit_code, code));
  }

 private:
  const Graded& graded_;
  std::string submission_;
  Outcome& outcome_;
};

/// Judges the result of one task of the solution.
class SolutionTask {
 public:
  SolutionTask(const Graded& graded, const TaskSpec& task, const json& result, Judge& judge)
      : graded_(graded), task_(task), result_(result), judge_(judge) {}

  /// @return the least margin of its timed cases; infinity without any
  double run() {
    if (!has_verdict(result_, Verdict::pass)) {
      judge_.fail(task_.id,
                  fmt::format("the solution does not pass: {}", verdict_in_words(result_)));
      return kNoMargin;
    }
    expect_points();
    expect_no_findings();
    expect_cases();
    return expect_speed();
  }

  static constexpr double kNoMargin = std::numeric_limits<double>::infinity();

 private:
  void expect_points() {
    const double most = maximum_points(task_);
    const double out_of = result_.at("max_score").get<double>();
    const double score = result_.at("score").get<double>();
    if (!(std::abs(out_of - most) < kHundredth)) {
      judge_.fail(task_.id, fmt::format("it is graded out of {} points, and part.toml gives {}",
                                        format_points(out_of), format_points(most)));
    }
    if (!(score > most - kHundredth)) {
      judge_.fail(task_.id, fmt::format("the solution earns {:g} of {} points{}", score,
                                        format_points(most), short_of()));
    }
  }

  /// A solution teaches nothing that the grader would find fault with, at full marks or not.
  void expect_no_findings() {
    for (const json& diagnostic : result_.at("diagnostics")) {
      judge_.fail(task_.id, "the solution is told " + in_one_line(diagnostic));
    }
  }

  /// ", 3.2 of 4 for the time of 1024^3": what the missing points were for.
  std::string short_of() const {
    std::string text;
    for (const json& timing : timings()) {
      const auto add = [&](const json& counted, const char* what) {
        const double points = counted.at("points").get<double>();
        const double most = counted.at("max_points").get<double>();
        if (points > most - kHundredth) return;
        text += fmt::format(", {:g} of {:g} for the {} of {}", points, most, what,
                            timing.at("name").get<std::string>());
      };
      add(timing, "time");
      if (timing.contains("launches")) add(timing.at("launches"), "launches");
      if (timing.contains("dram_bytes")) add(timing.at("dram_bytes"), "bytes");
    }
    return text;
  }

  /// A case that was left out proves nothing.
  void expect_cases() {
    for (const std::string& missing : cases_not_run(task_, graded_.gpu, result_)) {
      judge_.fail(task_.id, missing);
    }
  }

  double expect_speed() {
    double least = kNoMargin;
    for (const json& timing : timings()) {
      const double target = timing.at("target_efficiency").get<double>();
      if (target == 0) continue;  // its time earns nothing
      const double efficiency = timing.at("efficiency").get<double>();
      const double margin = efficiency / target;
      least = std::isnan(margin) ? 0 : std::min(least, margin);
      if (margin >= kSpeedMargin) continue;
      judge_.fail(
          task_.id,
          fmt::format("{} on a {}: an efficiency of {:.4g} is {:.2f}x its target of {:.4g}, and "
                      "has to be {}x; measure its targets (grader targets --measure), or make the "
                      "solution faster",
                      timing.at("name").get<std::string>(), graded_.gpu.name, efficiency, margin,
                      target, kSpeedMargin));
    }
    return least;
  }

  const json& timings() const {
    static const json none = json::array();
    return result_.contains("timings") ? result_.at("timings") : none;
  }

  const Graded& graded_;
  const TaskSpec& task_;
  const json& result_;
  Judge& judge_;
};

/// The text of a line, from 1; empty when there is none.
std::string line_of(const std::string& text, std::int64_t number) {
  std::istringstream in(text);
  std::string line;
  for (std::int64_t i = 0; i < number; ++i) {
    if (!std::getline(in, line)) return {};
  }
  return number > 0 ? line : std::string();
}

bool has_todo(const std::string& line) {
  return line.find("TODO") != std::string::npos || line.find("todo(") != std::string::npos;
}

/// Whether an answers file has a question of the task whose answer is still "".
bool names_open_question(const TaskSpec& task, const std::string& words, const std::string& file) {
  return std::ranges::any_of(task.questions, [&](const QuestionSpec& question) {
    if (words.find(question.id) == std::string::npos) return false;
    std::istringstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words_of_line(line);
      std::string id;
      std::string equals;
      std::string answer;
      words_of_line >> id >> equals >> answer;
      if (id == question.id && equals == "=") return answer == "\"\"";
    }
    return false;
  });
}

void expect_a_place_to_begin(const TaskSpec& task, const json& result,
                             const std::filesystem::path& folder, Judge& judge) {
  if (result.at("diagnostics").empty()) {
    judge.fail(task.id, "the grade does not say where to begin");
    return;
  }
  const json& first = result.at("diagnostics").front();
  const std::string name = first.at("file").get<std::string>();
  const auto line = first.at("line").get<std::int64_t>();
  const auto file = folder / name;
  if (name.empty() || !std::filesystem::is_regular_file(file)) {
    judge.fail(task.id,
               fmt::format("the message names no file of the starter: {}", first_finding(result)));
    return;
  }
  if (task.kind == TaskKind::worklog) return;  // its open entries are still to be made
  const std::string text = read_file(file);
  if (task.kind == TaskKind::answers) {
    const std::string words =
        first.at("message").get<std::string>() + " " + first.value("help", std::string());
    if (!names_open_question(task, words, text)) {
      judge.fail(task.id, fmt::format("the message names no question that is open in {}: {}", name,
                                      first_finding(result)));
    }
    return;
  }
  const std::string there = line_of(text, line);
  if (!has_todo(there)) {
    judge.fail(task.id, fmt::format("the message points at {}:{}, where no TODO stands: {}", name,
                                    line, one_line(there)));
  }
}

/// Of a starter that is wrong on purpose.
void expect_what_starter_finds(const TaskSpec& task, const json& result, Judge& judge) {
  const json& diagnostics = result.at("diagnostics");
  const std::string code = task.starter_finds->text();
  if (diagnostics.empty() || diagnostics.front().at("code") != code) {
    judge.fail(task.id, fmt::format("part.toml says that the grader finds {} in the starter; {}",
                                    code, verdict_in_words(result)));
  }
}

Recognition recognition_of(std::optional<simgpu::Code> first, const Mistake& mistake) {
  if (mistake.judged && first == mistake.code) return *mistake.judged;
  if (!first || first->role() == simgpu::CodeRole::symptom) return Recognition::unrecognised;
  return first == mistake.code ? Recognition::recognised : Recognition::wrongly_recognised;
}

/// The groups of a task's cases that have not all of their points.
std::vector<std::string> lost_groups(const json& task) {
  std::vector<std::string> names;
  for (const json& group : task.at("groups")) {
    const double missing = group.at("max_score").get<double>() - group.at("score").get<double>();
    if (missing > 0) names.push_back(group.at("name").get<std::string>());
  }
  return names;
}

/// What is wrong with the groups that a mistake lost; empty when they are those that it declares.
std::string wrong_loss(std::vector<std::string> lost, std::vector<std::string> declared) {
  std::ranges::sort(lost);
  std::ranges::sort(declared);
  if (lost == declared) return {};
  const auto words = [](const std::vector<std::string>& names) {
    return names.empty() ? "no group" : fmt::format("{}", fmt::join(names, ", "));
  };
  return fmt::format("loses {}, and declares {}", words(lost), words(declared));
}

bool has_code(const json& task, simgpu::Code code) {
  return std::ranges::any_of(task.at("diagnostics"),
                             [&](const json& one) { return one.at("code") == code.text(); });
}

}  // namespace

bool cannot_run(const TaskSpec& task, const gpu_spec::GpuSpec& gpu) {
  return std::ranges::any_of(task.speeds, [&](const SpeedSpec& speed) {
    return maximum_points(speed) > 0 && !gpu.peak_flops.contains(speed.peak);
  });
}

Outcome judge_solution(const Graded& graded, const Ran& ran) {
  Outcome outcome;
  if (!take_grade(ran, grade_command(graded, "solutions", ""), outcome)) return outcome;
  Judge judge(graded, "solutions", outcome);
  double least = SolutionTask::kNoMargin;
  for (const TaskSpec& task : graded.part.tasks) {
    const json* result = judge.result_of(task, ran.document);
    if (result != nullptr)
      least = std::min(least, SolutionTask(graded, task, *result, judge).run());
  }
  if (outcome.failures.empty()) judge.expect_exit(ran, 0);
  if (std::isfinite(least)) outcome.margin = least;
  return outcome;
}

Outcome judge_starter(const Graded& graded, const Ran& ran, const std::filesystem::path& starter) {
  Outcome outcome;
  if (!take_grade(ran, grade_command(graded, "starter", ""), outcome)) return outcome;
  Judge judge(graded, "starter", outcome);
  for (const TaskSpec& task : graded.part.tasks) {
    const json* result = judge.result_of(task, ran.document);
    if (result == nullptr) continue;
    if (task.starter_finds) {
      expect_what_starter_finds(task, *result, judge);
      continue;
    }
    if (!has_verdict(*result, Verdict::not_implemented)) {
      judge.fail(task.id,
                 fmt::format("the starter leaves nothing to do: {}", verdict_in_words(*result)));
      continue;
    }
    expect_a_place_to_begin(task, *result, starter / graded.part.directory, judge);
  }
  const double earned =
      ran.document.at("score").get<double>() + ran.document.at("bonus").get<double>();
  if (!(earned == 0)) judge.fail("", fmt::format("the starter earns {:g} points", earned));
  if (outcome.failures.empty()) judge.expect_exit(ran, 1);
  return outcome;
}

Outcome judge_mistake(const Graded& graded, const Ran& ran, const Mistake& mistake) {
  Outcome outcome;
  outcome.held_out = mistake.held_out;
  const std::string replay = mistake_command(graded, mistake);
  if (!take_grade(ran, replay, outcome)) return outcome;
  const auto fail = [&](const std::string& what) { outcome.failures.push_back({what, replay}); };
  const json& tasks = ran.document.at("tasks");
  if (tasks.size() != 1 || tasks.front().at("id") != mistake.task) {
    fail(fmt::format("the grade is not of the task {} alone", mistake.task));
    return outcome;
  }
  const json& task = tasks.front();
  if (!has_verdict(task, mistake.verdict)) {
    fail(fmt::format("declares the verdict {}; {}", name_of(mistake.verdict),
                     verdict_in_words(task)));
  }
  const json& diagnostics = task.at("diagnostics");
  if (!has_code(task, mistake.code)) {
    fail(fmt::format("declares {}, which no diagnostic has; the first is {}", mistake.code.text(),
                     diagnostics.empty() ? "none" : first_finding(task)));
  }
  if (!diagnostics.empty())
    outcome.first_code = simgpu::Code::parse(diagnostics.front().at("code").get<std::string>());
  if (!mistake.says.empty() && first_finding(task).find(mistake.says) == std::string::npos) {
    fail(fmt::format("the first message does not say \"{}\"; it is {}", mistake.says,
                     diagnostics.empty() ? "none" : first_finding(task)));
  }
  const std::string loss = wrong_loss(lost_groups(task), mistake.loses);
  if (!loss.empty()) fail(loss);
  const double score = task.at("score").get<double>();
  // Shares of groups are not whole; a score is rounded to hundredths.
  if (!(score < mistake.max_score + 2 * kHundredth)) {
    fail(fmt::format("earns {:g} points, and may earn {:g}", score, mistake.max_score));
  }
  const int expected_exit = has_verdict(task, Verdict::pass) ? 0 : 1;
  if (ran.exit_code != expected_exit) {
    fail(fmt::format("the grader ended with exit code {} instead of {}", ran.exit_code,
                     expected_exit));
  }
  outcome.recognition = recognition_of(outcome.first_code, mistake);
  return outcome;
}

}  // namespace rooflab::verify
