#include "grader/pipeline/tested_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "grader/device/result_findings.h"
#include "grader/pipeline/check.h"
#include "grader/pipeline/roofline.h"
#include "grader/pipeline/run_case.h"

namespace rooflab {
namespace {

/// Compares the outputs that the case looks at.
TestedRun compared(const StudentCase& one, const std::vector<std::vector<std::byte>>& outputs) {
  Problem looked_at;
  std::vector<std::vector<std::byte>> contents;
  for (std::size_t i = 0; i < one.problem.tensors.size(); ++i) {
    const Tensor& tensor = one.problem.tensors[i];
    const auto expected = std::ranges::find(one.expected, tensor.name, &Expected::tensor);
    if (expected == one.expected.end()) continue;
    looked_at.tensors.push_back(tensor);
    contents.push_back(i < outputs.size() ? outputs[i] : std::vector<std::byte>());
  }
  auto wrong = wrong_tensors(looked_at, one.expected, contents);
  if (wrong.empty()) return {};
  return {true, std::move(wrong.front())};
}

/// Whether nobody knows what the call comes to: it did not end in time, or its process is gone.
bool is_lost(const RunOutcome& outcome) {
  using End = RunOutcome::End;
  const auto has_no_end = [](const simgpu::Finding& finding) {
    return finding.kind() == simgpu::FindingKind::too_long || finding.code == "RL0307";
  };
  const bool has_come_back = outcome.end == End::returned || outcome.end == End::exception;
  return !has_come_back || std::ranges::any_of(outcome.activity.findings, has_no_end);
}

/// Whether the call failed, or did what no program may. What is found of work off the stream and of
/// leaks says nothing of results, and may be of a later call.
bool has_failed(const RunOutcome& outcome) {
  return outcome.end != RunOutcome::End::returned || !outcome.cuda_error.empty() ||
         !outcome.activity.error.empty() ||
         std::ranges::any_of(outcome.activity.findings, concerns_results);
}

/// The cases from `first` on. A device that makes no further calls leaves them out.
RunRequest request_for(const Implementation& implementation, const std::vector<StudentCase>& cases,
                       std::size_t first, const TaskSpec& task, const Oracle& oracle) {
  RunRequest request{.library = implementation.library,
                     .entry = implementation.entry,
                     .libraries = task.libraries,
                     .problem = &cases[first].problem};
  request.time_limit = std::chrono::duration<double>(task.time_limit_s);
  request.host_time_limit = std::chrono::duration<double>(task.host_time_limit_s);
  for (std::size_t i = first; i < cases.size(); ++i) {
    request.flops = std::max(request.flops, total_flops(oracle.work(cases[i].problem.parameters)));
  }
  request.further.resize(cases.size() - first - 1);
  request.fresh = [&cases, first](int index) {
    return cases[first + 1 + static_cast<std::size_t>(index)].problem;
  };
  return request;
}

}  // namespace

std::vector<TestedRun> run_cases(Device& device, const Implementation& implementation,
                                 const std::vector<StudentCase>& cases, const TaskSpec& task,
                                 const Oracle& oracle) {
  std::vector<TestedRun> runs;
  while (runs.size() < cases.size()) {
    const RunOutcome outcome =
        run_past_fault(device, request_for(implementation, cases, runs.size(), task, oracle));
    if (is_lost(outcome)) {
      throw std::runtime_error(
          fmt::format("calling {} failed: {}", implementation.entry,
                      outcome.detail.empty() ? "it did not come back" : outcome.detail));
    }
    const bool has_later_failed = outcome.failed_call > 0;
    const bool is_failed = !has_later_failed && has_failed(outcome);
    runs.push_back(is_failed ? TestedRun{true} : compared(cases[runs.size()], outcome.outputs));
    for (const FreshCall& call : outcome.fresh) {
      runs.push_back(compared(cases[runs.size()], call.outputs));
    }
    if (has_later_failed) runs.push_back({true});
  }
  return runs;
}

}  // namespace rooflab
