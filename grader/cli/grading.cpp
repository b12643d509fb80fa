#include "grader/cli/grading.h"

#include "grader/cli/devices.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/course_spec.h"

namespace rooflab {
namespace {

std::unique_ptr<Device> open(const Installation& installation, const Toolchain& toolchain,
                             const GradingSetup& setup) {
  DeviceOptions options = device_options(installation, toolchain, setup.sandbox);
  options.workers = setup.workers;
  return open_device(setup.device, options);
}

}  // namespace

std::filesystem::path submission_of(const Options& options, const Installation& installation) {
  return options.submission.empty() ? installation.starter()
                                    : std::filesystem::path(options.submission);
}

Grading::Grading(const Installation& installation, const GradingSetup& setup)
    : sandbox_(setup.sandbox),
      hint_cost_(hint_cost_of(installation.labs())),
      part_(load_part(installation.labs(), installation.solutions(), setup.part)),
      toolchain_(find_toolchain(installation)),
      device_(open(installation, toolchain_, setup)),
      builder_({.installation = installation,
                .toolchain = toolchain_,
                .compute_capability = device_->gpu().compute_capability_major * 10 +
                                      device_->gpu().compute_capability_minor,
                .sandbox = setup.sandbox}),
      oracles_(installation, part_.directory) {}

GradeResult Grading::grade_once(const GradeRequest& request,
                                const std::function<void(const std::string&)>& progress,
                                TraceLog* trace) {
  GradeTools tools{.device = *device_,
                   .build =
                       [this](const TaskSpec& task, const std::vector<SourceFile>& sources) {
                         return builder_.build(part_, task, sources);
                       },
                   .oracle = [this](const std::string& name) { return oracles_.make(name); },
                   .progress = progress};
  if (trace != nullptr) {
    tools.observe = [trace](const std::string& run, const simgpu::Activity& activity) {
      trace->add(run, activity);
    };
  }
  GradeRequest priced = request;
  priced.hint_cost = hint_cost_;
  GradeResult result = grade(part_, priced, tools);
  result.sandbox = active_layers(sandbox_);
  return result;
}

}  // namespace rooflab
