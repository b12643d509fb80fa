#include "grader/pipeline/runs_ahead.h"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace rooflab {
namespace {

using testing::ElementsAre;

CaseRun numbered(std::size_t index) {
  CaseRun run;
  run.outcome.detail = std::to_string(index);
  return run;
}

/// What happens in one list of runs, in the order in which it does.
class Story {
 public:
  void add(const std::string& what, std::size_t index) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(what + " " + std::to_string(index));
  }
  std::vector<std::string> events() {
    const std::scoped_lock lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> events_;
};

TEST(RunsAheadTest, WithOneSlotRunsGoOnWhenTheyAreAskedFor) {
  Story story;
  RunSlots slots(1);
  RunsAhead runs(3, 1, slots, [&](std::size_t i) {
    story.add("prepare", i);
    return [&story, i] {
      story.add("run", i);
      return numbered(i);
    };
  });
  EXPECT_EQ(runs.take(0).outcome.detail, "0");
  story.add("took", 0);
  EXPECT_EQ(runs.take(1).outcome.detail, "1");
  EXPECT_THAT(story.events(),
              ElementsAre("prepare 0", "prepare 1", "run 0", "took 0", "prepare 2", "run 1"));
}

TEST(RunsAheadTest, WithSeveralSlotsTheNextRunGoesOnBesideTheOneThatIsAskedFor) {
  RunSlots slots(2);
  std::atomic<bool> next_began = false;
  RunsAhead runs(2, 1, slots, [&](std::size_t i) {
    return [&next_began, i] {
      if (i == 1) next_began = true;
      while (!next_began) std::this_thread::yield();  // for ever where they do not run side by side
      return numbered(i);
    };
  });
  EXPECT_EQ(runs.take(0).outcome.detail, "0");
  EXPECT_EQ(runs.take(1).outcome.detail, "1");
}

TEST(RunsAheadTest, NoMoreRunsGoOnAtOnceThanThereAreSlots) {
  RunSlots slots(2);
  std::atomic<int> present = 0, most = 0;
  const auto prepare = [&](std::size_t i) {
    return [&, i] {
      const int now = ++present;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --present;
      return numbered(i);
    };
  };
  std::vector<std::jthread> tasks;
  for (int task = 0; task < 4; ++task) {
    tasks.emplace_back([&] {
      RunsAhead runs(50, 1, slots, prepare);
      for (std::size_t i = 0; i < 50; ++i)
        EXPECT_EQ(runs.take(i).outcome.detail, std::to_string(i));
    });
  }
  tasks.clear();
  EXPECT_LE(most, 2);
}

TEST(RunsAheadTest, WhatIsLeftOutIsForgotten) {
  Story story;
  RunSlots slots(2);
  {
    RunsAhead runs(9, 1, slots, [&](std::size_t i) {
      return [&story, i] {
        story.add("run", i);
        return numbered(i);
      };
    });
    runs.take(0);
    EXPECT_EQ(runs.take(7).outcome.detail, "7");
  }
  EXPECT_THAT(story.events(), testing::UnorderedElementsAre("run 0", "run 1", "run 7", "run 8"));
}

TEST(RunsAheadTest, AFaultReachesWhoAsksForItsRunAlone) {
  RunSlots slots(2);
  RunsAhead runs(3, 1, slots, [](std::size_t i) -> std::function<CaseRun()> {
    return [i] {
      if (i == 1) throw std::runtime_error("no such oracle");
      return numbered(i);
    };
  });
  EXPECT_EQ(runs.take(0).outcome.detail, "0");
  EXPECT_THROW(runs.take(1), std::runtime_error);
  EXPECT_EQ(runs.take(2).outcome.detail, "2");
}

}  // namespace
}  // namespace rooflab
