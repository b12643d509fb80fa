#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "grader/pipeline/grade_fixture.h"

// How many tasks of a part run at once, and that nobody can tell from the result.
namespace rooflab {
namespace {

/// Counts the runs that go on at once. Each waits for a second one: long where one has to come,
/// else as long as it would take one that must not.
class CrowdedDevice : public FakeDevice {
 public:
  explicit CrowdedDevice(bool side_by_side)
      : FakeDevice(solve), side_by_side_(side_by_side), patience_(side_by_side ? 20'000 : 50) {}

  bool runs_side_by_side() const override { return side_by_side_; }
  RunOutcome run(const RunRequest& request) override {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++present_);
    changed_.notify_all();
    changed_.wait_for(lock, patience_, [this] { return most_ > 1; });
    --present_;
    return solve(request);
  }
  int most() const { return most_; }
  void wait_for_nobody() { patience_ = {}; }

 private:
  bool side_by_side_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int present_ = 0;
  int most_ = 0;
};

class SideBySideTest : public GradeTest {
 protected:
  SideBySideTest() {
    for (const char* id : {"second", "third", "fourth"}) {
      part_.tasks.push_back(part_.tasks[0]);
      part_.tasks.back().id = id;
    }
    for (TaskSpec& task : part_.tasks) {
      task.speeds.clear();
      task.cases.resize(1);
      complete_groups(task);
    }
    request_.jobs = 2;
    build_.library = library_;
  }

  GradeResult grade_on(Device& device) {
    const GradeTools tools{
        .device = device,
        .build = [this](const TaskSpec&, const std::vector<SourceFile>&) { return build_; },
        .oracle = [this](const std::string&) { return oracle_(); },
        .progress = [](const std::string&) {},
        .observe = observe_};
    return grade(part_, request_, tools);
  }

  std::function<void(const std::string&, const simgpu::Activity&)> observe_;
};

TEST_F(SideBySideTest, TasksRunSideBySideAndStandInTheirOrder) {
  CrowdedDevice device(true);
  const GradeResult result = grade_on(device);
  EXPECT_EQ(device.most(), 2);
  ASSERT_EQ(result.tasks.size(), 4U);
  for (std::size_t i = 0; i < result.tasks.size(); ++i) {
    EXPECT_EQ(result.tasks[i].id, part_.tasks[i].id);
    EXPECT_EQ(result.tasks[i].verdict, Verdict::pass);
  }
}

TEST_F(SideBySideTest, ADeviceWhoseTimesAreMeasuredRunsOneTaskAtATime) {
  CrowdedDevice device(false);
  grade_on(device);
  EXPECT_EQ(device.most(), 1);
}

TEST_F(SideBySideTest, WhoeverObservesIsToldInTheOrderOfTheTasks) {
  std::vector<std::string> told;
  observe_ = [&told](const std::string& run, const simgpu::Activity&) { told.push_back(run); };
  CrowdedDevice device(true);
  device.wait_for_nobody();
  grade_on(device);
  EXPECT_THAT(told,
              testing::ElementsAre("scale: four", "second: four", "third: four", "fourth: four"));
}

}  // namespace
}  // namespace rooflab
