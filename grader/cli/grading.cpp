#include "grader/cli/grading.h"

#include <algorithm>
#include <mutex>

#include "grader/author/checkout.h"
#include "grader/cli/course_name.h"
#include "grader/cli/devices.h"
#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

std::unique_ptr<Device> open(const Installation& installation, const Toolchain& toolchain,
                             const GradingSetup& setup) {
  DeviceOptions options = device_options(installation, toolchain, setup.sandbox);
  options.workers = setup.workers;
  options.only_those = setup.unlisted != UnlistedGpu::allow;
  if (setup.tells_of_device) tell_of_device(setup.device, options);
  const std::string& device = setup.device;
  return open_device(device.empty() ? course_spec_or_none(installation.labs()).device : device,
                     options);
}

}  // namespace

std::filesystem::path submission_of(const Options& options, const Installation& installation) {
  return options.submission.empty() ? installation.starter()
                                    : std::filesystem::path(options.submission);
}

Grading::Grading(const Installation& installation, const GradingSetup& setup)
    : installation_(installation),
      sandbox_(setup.sandbox),
      for_grades_(setup.for_grades),
      course_(course_spec_or_none(installation.labs())),
      course_name_(course_name(installation)),
      checkout_(commit_of(installation.root)),
      part_(load_part(installation.labs(), installation.solutions(), setup.part)),
      toolchain_(find_toolchain(installation)),
      device_(open(installation, toolchain_, setup)),
      builder_({.installation = installation,
                .toolchain = toolchain_,
                .compute_capability = device_->gpu().compute_capability(),
                .for_simulation = device_->time_kind() == "modelled",
                .sandbox = setup.sandbox}),
      oracles_(installation, part_.directory) {
  if (setup.unlisted == UnlistedGpu::allow) return;
  const std::string objection =
      objection_to_gpu(device_->gpu().id, course_spec_or_none(installation.labs()).gpus);
  if (!objection.empty() && setup.unlisted == UnlistedGpu::refuse) throw DeviceError(objection);
  warning_ = objection;
}

void Grading::sort_by_task(std::vector<RevealedCase>& revealed) const {
  std::ranges::stable_sort(revealed, {}, [this](const RevealedCase& one) {
    return std::ranges::find(part_.tasks, one.task, &TaskSpec::id) - part_.tasks.begin();
  });
}

GradeResult Grading::grade_once(const GradeRequest& request, const Listener& listener,
                                TraceLog* trace, std::vector<RevealedCase>* revealed) {
  GradeTools tools{
      .device = *device_,
      .build =
          [this](const TaskSpec& task, const std::vector<SourceFile>& sources) {
            return builder_.build(part_, task, sources);
          },
      .oracle = [this](const std::string& name) { return oracles_.make(name); },
      .progress = listener.progress,
      .implementations =
          [this](const TaskSpec& task) { return find_implementations(installation_, part_, task); },
      .read_library =
          [this](const std::vector<std::string>& command) {
            return run_on_library(command, sandbox_);
          },
      .graded = listener.graded,
      .failing = listener.failing,
      .explore = listener.explore};
  if (trace != nullptr) {
    tools.observe = [trace](const std::string& run, const simgpu::Activity& activity) {
      trace->add(run, activity);
    };
  }
  std::mutex mutex;
  if (revealed != nullptr) {
    tools.reveal = [&mutex, revealed](RevealedCase one) {
      const std::scoped_lock lock(mutex);
      revealed->push_back(std::move(one));
    };
  }
  GradeRequest priced = request;
  priced.hint_cost = course_.hint_cost;
  if (for_grades_) priced.versions_graded_again = course_.versions_graded_again;
  GradeResult result = grade(part_, priced, tools);
  result.sandbox = active_layers(sandbox_);
  result.course = course_name_;
  result.checkout = checkout_;
  if (revealed != nullptr) sort_by_task(*revealed);
  return result;
}

}  // namespace rooflab
