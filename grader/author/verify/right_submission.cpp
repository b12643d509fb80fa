#include "grader/author/verify/right_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "grader/author/verify/ran.h"
#include "grader/author/verify/read_grade.h"
#include "grader/spec/files.h"
#include "grader/spec/toml_reader.h"

namespace rooflab::verify {
namespace {

using nlohmann::json;

/// `file`, one name or a list of them.
std::vector<std::string> read_files(TableReader& reader, const toml::table& table,
                                    const PartSpec& part, const TaskSpec& task) {
  std::vector<std::string> names;
  if (table["file"].is_array()) {
    names = reader.texts("file");
  } else {
    names.push_back(reader.text("file"));
  }
  const auto known = files_of(part, task);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw reader.error("file", fmt::format("{} is no file of the task {}", name, task.id),
                       fmt::format("name some of {}", fmt::join(known, ", ")));
  }
  return names;
}

/// Whether it finds no fault with the submission.
bool is_advice(const json& diagnostic) {
  const auto code = simgpu::Code::parse(diagnostic.at("code").get<std::string>());
  return code && code->role() == simgpu::CodeRole::advice;
}

/// What a naive submission earns for its times; nothing where that is next to nothing. Where speed
/// tells nothing on this GPU (a target of 0), its points are those of a right answer.
std::vector<std::string> undue_points(const json& result) {
  constexpr double kMostOfSpeed = 0.15;
  double points = 0;
  double most = 0;
  for (const json& timing : result.at("timings")) {
    if (timing.at("target_efficiency").get<double>() == 0) continue;
    points += timing.at("points").get<double>();
    most += timing.at("max_points").get<double>();
  }
  if (points <= kMostOfSpeed * most + kHundredth) return {};
  return {
      fmt::format("it is naive, and earns {:g} of {:g} points for its speed; measure what it "
                  "reaches: build/bin/grader targets --measure",
                  points, most)};
}

/// What a grade does wrong to a submission that is right.
std::vector<std::string> faults_of(const json& result, const Graded& graded,
                                   const RightSubmission& right) {
  // Of a task that does not pass, cases are left out and points are missing for that reason.
  if (!has_verdict(result, Verdict::pass)) {
    return {fmt::format("it is right, and {}", verdict_in_words(result))};
  }
  const TaskSpec& task = *std::ranges::find(graded.part.tasks, right.task, &TaskSpec::id);
  std::vector<std::string> faults = cases_not_run(task, graded.gpu, result);
  for (const json& one : result.at("cases")) {
    if (has_verdict(one, Verdict::pass)) continue;
    faults.push_back(fmt::format("the case \"{}\" is told {}", one.at("name").get<std::string>(),
                                 one.at("verdict").get<std::string>()));
  }
  const double least = std::max(task.points, right.min_score);
  const double score = result.at("score").get<double>();
  if (!(score > least - kHundredth)) {
    faults.push_back(
        fmt::format("earns {:g} points, and may earn no less than {:g}", score, least));
  }
  for (const json& diagnostic : result.at("diagnostics")) {
    if (is_advice(diagnostic)) continue;
    faults.push_back("it is told what is no advice about speed, " + in_one_line(diagnostic));
  }
  if (right.is_naive) std::ranges::move(undue_points(result), std::back_inserter(faults));
  return faults;
}

}  // namespace

std::vector<RightSubmission> load_right_submissions(const PartSpec& part) {
  std::vector<RightSubmission> submissions;
  load_kept(part, "right", "right.toml", "the right submission",
            [&](const KeptSubmission& kept, TableReader& reader, const toml::table& table,
                const TaskSpec& task) {
              RightSubmission right;
              static_cast<KeptSubmission&>(right) = kept;
              right.files = read_files(reader, table, part, task);
              right.style = reader.text("style");
              right.min_score = reader.number_or("min_score", 0);
              right.is_naive = reader.boolean_or("naive", false);
              reader.boolean_or("thorough", false);  // for labs/CMakeLists.txt
              submissions.push_back(std::move(right));
            });
  return submissions;
}

void write_submission(const RightSubmission& right, const PartSpec& part,
                      const std::filesystem::path& solutions,
                      const std::filesystem::path& submission) {
  write_files(part, right.task, submission, [&](const std::string& name) {
    const bool own = std::ranges::find(right.files, name) != right.files.end();
    return read_file((own ? right.folder : solutions / part.directory) / name);
  });
}

Outcome judge_right(const Graded& graded, const Ran& ran, const RightSubmission& right) {
  Outcome outcome;
  const std::string replay =
      fmt::format("build/bin/grader verify --only right --part {} --gpu {} --right {}",
                  graded.part.number, graded.gpu.id, right.name);
  if (!take_grade(ran, replay, outcome)) return outcome;
  const json& tasks = ran.document.at("tasks");
  std::vector<std::string> faults;
  if (tasks.size() != 1 || tasks.front().at("id") != right.task) {
    faults.push_back(fmt::format("the grade is not of the task {} alone", right.task));
  } else {
    faults = faults_of(tasks.front(), graded, right);
  }
  if (faults.empty() && ran.exit_code != 0) {
    faults.push_back(fmt::format("the grader ended with exit code {} instead of 0", ran.exit_code));
  }
  if (!faults.empty()) {
    outcome.failures.push_back({fmt::format("{}\nwhat it does: {} ({})", fmt::join(faults, "\n"),
                                            right.story, right.style),
                                replay});
  }
  return outcome;
}

}  // namespace rooflab::verify
