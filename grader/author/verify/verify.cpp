#include "grader/author/verify/verify.h"

#include <algorithm>
#include <chrono>

namespace rooflab::verify {

Report prove(const Installation& installation, const Choice& choice, const RunnerOptions& options,
             const std::function<void(const std::string&)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  const Course course = load_course(installation, choice);
  const std::vector<Check> checks = plan(course);
  std::vector<Outcome> outcomes = run_checks(checks, options, progress);

  Report report;
  for (const gpu_spec::GpuSpec& gpu : course.gpus) report.gpus.push_back(gpu.id);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    report.results.push_back({checks[i].claim, std::move(outcomes[i])});
  }
  for (const PartSpec& part : course.parts) {
    const bool is_in = std::ranges::any_of(
        checks, [&](const Check& check) { return check.claim.part == part.number; });
    if (is_in) report.parts[part.number] = part.title;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace rooflab::verify
