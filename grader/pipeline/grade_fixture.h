#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "grader/pipeline/fake_device.h"
#include "grader/pipeline/grade.h"
#include "grader/spec/groups.h"

/// What the tests of grades share: a part, a submission and an oracle, without a compiler or a GPU.
namespace rooflab {

/// y = 2 x over n random elements; 1e6 * n FLOPs, so n = 1000 takes 1000 us at the roofline, and
/// next to none for the bytes.
class ScaleOracle : public Oracle {
 public:
  Problem make(const Values& parameters, std::uint64_t seed) const override {
    const auto n = std::get<std::int64_t>(parameters.at("n"));
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& value : x) value = static_cast<float>(random() % 1000) + 1;
    Problem problem;
    problem.parameters = parameters;
    problem.tensors.resize(2);
    problem.tensors[0].name = "x";
    problem.tensors[0].shape = {n};
    problem.tensors[0].data = bytes_of(x);
    problem.tensors[1].name = "y";
    problem.tensors[1].role = Role::output;
    problem.tensors[1].shape = {n};
    return problem;
  }
  std::vector<Expected> expect(const Problem& problem) const override {
    Expected expected{"y", {}, {}};
    for (const float value : floats_of(problem.tensors[0].data))
      expected.value.push_back(2.0 * value);
    expected.tolerance.assign(expected.value.size(), 1e-6);
    return {expected};
  }
  /// y = 3 x.
  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    std::vector<Expected> tripled = expect(problem);
    for (double& value : tripled[0].value) value *= 1.5;
    return {{"RL0418", "x is tripled", "double it", tripled}};
  }
  Work work(const Values& parameters) const override {
    const auto n = static_cast<double>(std::get<std::int64_t>(parameters.at("n")));
    return {{{"fp32", 1e6 * n}}, 8 * n};
  }
  std::vector<Complaint> judge(const Problem& /*problem*/,
                               const CallEvidence& evidence) const override {
    if (evidence.activity.api_calls.contains("cudaDeviceReset")) {
      return {{"RL0407", "the device was reset", "leave it alone"}};
    }
    return {};
  }
};

inline RunOutcome solve(const RunRequest& request) {
  RunOutcome outcome;
  outcome.outputs = untouched(*request.problem);
  std::vector<float> y = floats_of(request.problem->tensors[0].data);
  for (float& value : y) value *= 2;
  outcome.outputs[1] = bytes_of(y);
  outcome.activity.elapsed_us = 2002;
  outcome.activity.kernels.emplace_back().counters.flops["fp32"] =
      1'000'000 * static_cast<std::uint64_t>(y.size());
  return outcome;
}

/// The call's data goes to the host, and as much comes back.
inline void add_round_trip(RunOutcome& outcome, std::uint64_t bytes) {
  for (const auto operation :
       {simgpu::MemoryOperation::copy_to_host, simgpu::MemoryOperation::copy_to_device}) {
    auto& copy = outcome.activity.memory.emplace_back();
    copy.operation = operation;
    copy.bytes = bytes;
  }
}

inline simgpu::Finding finding(simgpu::Code code) {
  simgpu::Finding made;
  made.code = code;
  made.kernel = "scale";
  made.message = "something is wrong";
  return made;
}

/// `speed` once more, for another size.
inline SpeedSpec another(SpeedSpec speed, const std::string& name, std::int64_t n, double points) {
  speed.name = name;
  speed.points = points;
  speed.parameters = {{"n", n}};
  return speed;
}

/// One kernel task of 10 + 8 points with two public cases and a hidden one, graded on a scripted
/// device.
class GradeTest : public testing::Test {
 protected:
  using OracleMaker = std::function<std::unique_ptr<Oracle>()>;

  GradeTest()
      : root_(testing::TempDir() + "/rooflab_grade_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()),
        library_(std::string(ROOFLAB_TESTDATA) + "/libgrade_plain.so") {
    std::filesystem::remove_all(root_);
    write("submission/part7-test/scale.cu", "// the student's\n");
    TaskSpec task;
    task.id = "scale";
    task.file = "scale.cu";
    task.entry = "scale";
    task.oracle = "scale";
    task.points = 10;
    task.forbidden = {"^cublas"};
    task.cases = {make_case("four", 4, false), make_case("seven", 7, false),
                  make_case("secret", 9, true)};
    task.speeds.resize(1);
    task.speeds[0].points = 8;
    task.speeds[0].parameters = {{"n", std::int64_t{1000}}};
    task.speeds[0].zero_efficiency = 0.0625;
    task.speeds[0].full_efficiency = 1;
    part_.number = 7;
    part_.directory = "part7-test";
    part_.title = "Test part";
    part_.tasks = {task};
    request_.submission = root_ / "submission";
    request_.solutions = root_ / "solutions";
    request_.seed = 8812;
  }
  ~GradeTest() override { std::filesystem::remove_all(root_); }

  static CaseSpec make_case(const std::string& name, std::int64_t n, bool hidden) {
    CaseSpec spec;
    spec.name = name;
    spec.parameters = {{"n", n}};
    spec.hidden = hidden;
    return spec;
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  GradeResult grade_with(const FakeDevice::Behaviour& behave) {
    FakeDevice device(behave);
    device.checked = checked_;
    const GradeTools tools{
        .device = device,
        .build = [this](const TaskSpec&, const std::vector<SourceFile>&) { return build_; },
        .oracle = [this](const std::string&) { return oracle_(); },
        .progress = [](const std::string&) {},
        .implementations = [this](const TaskSpec&) { return implementations_; },
        .explore = explore_};
    build_.library = library_;
    for (TaskSpec& task : part_.tasks) complete_groups(task);
    GradeResult result = grade(part_, request_, tools);
    runs_ = device.runs;
    checks_ = device.checks;
    return result;
  }
  TaskResult grade_task_with(const FakeDevice::Behaviour& behave) {
    return grade_with(behave).tasks.at(0);
  }
  Verdict verdict_of(const FakeDevice::Behaviour& behave) {
    return grade_task_with(behave).verdict;
  }

  /// A right answer with something else gone wrong.
  template <typename Change>
  Verdict verdict_after(Change change) {
    return verdict_of([change](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      change(outcome);
      return outcome;
    });
  }
  Verdict verdict_of_end(RunOutcome::End end) {
    return verdict_after([end](RunOutcome& outcome) { outcome.end = end; });
  }
  Verdict verdict_of_finding(simgpu::Code code) {
    return verdict_after([=](RunOutcome& outcome) { outcome.activity.findings = {finding(code)}; });
  }

  std::filesystem::path root_;
  std::string library_;
  PartSpec part_;
  GradeRequest request_;
  BuildOutcome build_;
  OracleMaker oracle_ = [] { return std::make_unique<ScaleOracle>(); };
  std::vector<Implementation> implementations_;  ///< of a task of kind `tests`
  int runs_ = 0;
  int checks_ = 0;
  std::optional<CheckedCall> checked_;  ///< of a device that checks only when asked
  std::function<void(Exploration)> explore_ = {};
};

}  // namespace rooflab
