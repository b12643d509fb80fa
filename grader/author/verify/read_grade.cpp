#include "grader/author/verify/read_grade.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/author/verify/ran.h"
#include "grader/report/text.h"

namespace rooflab::verify {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOfLog = 2000;  // bytes of a story

bool names(const json& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const json& one) { return one.at("name") == name; });
}

}  // namespace

std::string in_one_line(const json& diagnostic) {
  return fmt::format("{}: {}", diagnostic.at("code").get<std::string>(),
                     one_line(diagnostic.at("message").get<std::string>()));
}

std::string first_finding(const json& task) {
  const json& diagnostics = task.at("diagnostics");
  return diagnostics.empty() ? std::string() : in_one_line(diagnostics.front());
}

std::string verdict_in_words(const json& task) {
  const std::string finding = first_finding(task);
  return fmt::format("its verdict is {}{}", task.at("verdict").get<std::string>(),
                     finding.empty() ? "" : ", " + finding);
}

bool has_verdict(const json& task, Verdict verdict) {
  return task.at("verdict") == name_of(verdict);
}

bool take_grade(const Ran& ran, const std::string& replay, Outcome& outcome) {
  if (ran.document.is_null()) {
    outcome.fault = true;
    const std::string log =
        ran.log.size() > kMostOfLog ? ran.log.substr(ran.log.size() - kMostOfLog) : ran.log;
    outcome.failures.push_back(
        {fmt::format(
             "the grader left no grade: {}{}{}",
             ran.end.empty() ? fmt::format("it ended with exit code {}", ran.exit_code) : ran.end,
             log.empty() ? "" : "\n", sanitize(log)),
         replay});
    return false;
  }
  for (const json& task : ran.document.at("tasks")) {
    outcome.out_of_time = outcome.out_of_time || has_verdict(task, Verdict::time_limit);
    if (!has_verdict(task, Verdict::grader_fault)) continue;
    outcome.fault = true;
    outcome.failures.push_back({fmt::format("{}: the grader itself failed, {}",
                                            task.at("id").get<std::string>(), first_finding(task)),
                                replay});
  }
  return !outcome.fault;
}

std::vector<std::string> cases_not_run(const TaskSpec& task, const gpu_spec::GpuSpec& gpu,
                                       const json& result) {
  std::vector<std::string> missing;
  if (is_text(task)) return missing;  // their cases are the questions
  const auto has = [&](const std::string& peak) {
    return peak.empty() || gpu.peak_flops.contains(peak);
  };
  for (const CaseSpec& spec : task.cases) {
    if (has(spec.peak) && has_room(spec, gpu.dram_bytes) && !names(result.at("cases"), spec.name)) {
      missing.push_back(fmt::format("the case \"{}\" was not run", spec.name));
    }
  }
  static const json none = json::array();
  const json& timings = result.contains("timings") ? result.at("timings") : none;
  for (const SpeedSpec& speed : task.speeds) {
    if (has(speed.peak) && !names(timings, speed.name)) {
      missing.push_back(fmt::format("the timed case \"{}\" was not run", speed.name));
    }
  }
  return missing;
}

}  // namespace rooflab::verify
