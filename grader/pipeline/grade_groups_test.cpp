#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/pipeline/grade_fixture.h"

// Groups of cases: what each is worth, what one of them costs, and what is said of those that fail.
namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using End = RunOutcome::End;

/// The scale task with three groups: "basic" of 5 points, which the speed needs, "edges" of 3 and
/// "long" of 2, one of whose cases is hidden.
class GroupsOfCasesTest : public GradeTest {
 protected:
  GroupsOfCasesTest() {
    TaskSpec& task = part_.tasks[0];
    task.groups = {{"basic", "even", 5}, {"edges", "odd", 3}, {"long", "", 2}};
    task.cases = {in("basic", "four", 4), in("edges", "seven", 7), in("long", "forty", 40),
                  in("basic", "eight", 8), in("long", "secret", 90, true)};
    task.speeds[0].name = "timed";
    task.speeds[0].groups = {"basic"};
  }

  static CaseSpec in(const std::string& group, const std::string& name, std::int64_t n,
                     bool hidden = false) {
    CaseSpec spec = make_case(name, n, hidden);
    spec.group = group;
    return spec;
  }

  /// Right but for calls of these sizes, to whose outcome `change` is made.
  template <typename Change>
  TaskResult grade_failing(const std::set<std::int64_t>& sizes, Change change) {
    return grade_task_with([=](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      if (sizes.contains(request.problem->tensors[0].elements())) change(outcome);
      return outcome;
    });
  }
  TaskResult grade_wrong_for(const std::set<std::int64_t>& sizes) {
    return grade_failing(sizes, [](RunOutcome& outcome) { outcome.outputs[1][3] ^= std::byte{1}; });
  }

  /// The mistake that the oracle knows in calls of the sizes `known`, one wrong element in `wrong`.
  TaskResult grade_with_cause_for(const std::set<std::int64_t>& known,
                                  const std::set<std::int64_t>& wrong) {
    return grade_task_with([=](const RunRequest& request) {
      RunOutcome outcome = solve(request);
      const auto n = request.problem->tensors[0].elements();
      if (wrong.contains(n)) outcome.outputs[1][3] ^= std::byte{1};
      std::vector<float> y = floats_of(outcome.outputs[1]);
      for (float& value : y) value *= 1.5F;
      if (known.contains(n)) outcome.outputs[1] = bytes_of(y);
      return outcome;
    });
  }

  static std::vector<Verdict> verdicts(const TaskResult& task) {
    std::vector<Verdict> all;
    for (const GroupResult& group : task.groups) all.push_back(group.verdict);
    return all;
  }
  static std::vector<double> scores(const TaskResult& task) {
    std::vector<double> all;
    for (const GroupResult& group : task.groups) all.push_back(group.score);
    return all;
  }
};

constexpr Verdict kPass = Verdict::pass;
constexpr Verdict kWrong = Verdict::wrong_answer;

TEST_F(GroupsOfCasesTest, RightAnswersHaveAllPointsOfAllGroups) {
  const TaskResult task = grade_task_with(solve);
  EXPECT_THAT(scores(task), ElementsAre(5, 3, 2));
  EXPECT_EQ(task.groups[1].name, "edges");
  EXPECT_EQ(task.groups[1].title, "odd");
  EXPECT_EQ(task.score, 10 + 6);
  EXPECT_EQ(task.cases[1].group, "basic") << "a group's cases stand together";
}

TEST_F(GroupsOfCasesTest, AGroupThatFailsCostsItsPointsAndNoOthers) {
  const TaskResult task = grade_wrong_for({7});
  EXPECT_EQ(task.verdict, kWrong);
  EXPECT_THAT(verdicts(task), ElementsAre(kPass, kWrong, kPass));
  EXPECT_THAT(scores(task), ElementsAre(5, 0, 2));
  EXPECT_EQ(task.score, 5 + 2 + 6) << "the speed stands on the basic cases alone";
  EXPECT_EQ(task.max_score, 18);
  ASSERT_EQ(task.timings.size(), 1U);
  EXPECT_EQ(task.cases.size(), 5U) << "all cases run";
}

TEST_F(GroupsOfCasesTest, SpeedNeedsTheGroupsThatItsCaseStandsOn) {
  const TaskResult task = grade_wrong_for({8});
  EXPECT_THAT(scores(task), ElementsAre(0, 3, 2));
  EXPECT_EQ(task.score, 5);
  EXPECT_THAT(task.timings, IsEmpty());
}

TEST_F(GroupsOfCasesTest, AWrongAnswerAtTheTimedSizeCostsTheGroupsOfThatCase) {
  const TaskResult task = grade_wrong_for({1000});
  EXPECT_THAT(verdicts(task), ElementsAre(kWrong, kPass, kPass));
  EXPECT_EQ(task.score, 5);
  EXPECT_THAT(task.timings, IsEmpty());
  EXPECT_THAT(task.diagnostics.at(0).groups, ElementsAre("basic"));
  EXPECT_THAT(task.diagnostics.at(0).message,
              testing::StartsWith("at the timed size alone, timed:"));
  EXPECT_THAT(task.diagnostics.at(0).notes,
              testing::Contains("all other cases of this group pass"));
}

TEST_F(GroupsOfCasesTest, ALaterTimedCaseThatIsWrongTakesTheSpeedOfItsGroupsWithIt) {
  auto& speeds = part_.tasks[0].speeds;
  speeds.push_back(speeds[0]);
  speeds[1].name = "on edges";
  speeds[1].groups = {"edges"};
  speeds[1].parameters = {{"n", std::int64_t{2000}}};
  speeds.push_back(speeds[0]);
  speeds[2].name = "wrong";
  speeds[2].parameters = {{"n", std::int64_t{1500}}};
  const TaskResult task = grade_wrong_for({1500});
  EXPECT_THAT(verdicts(task), ElementsAre(kWrong, kPass, kPass));
  ASSERT_EQ(task.timings.size(), 2U);
  EXPECT_EQ(task.timings[0].points, 0);
  EXPECT_NEAR(task.timings[1].points, 8, 0.01);
  EXPECT_NEAR(task.score, 5 + 8, 0.01);
}

TEST_F(GroupsOfCasesTest, EachFailingGroupHasItsMessageTheMostTellingFirst) {
  const TaskResult task = grade_with_cause_for({40}, {4});
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0418")) << "a cause that the oracle knows";
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("long"));
  EXPECT_THAT(task.diagnostics[1].groups, ElementsAre("basic"));
}

TEST_F(GroupsOfCasesTest, ACauseOfOneSpecialGroupComesAfterTheFirstGroupWhereThreeFail) {
  const TaskResult task = grade_with_cause_for({40}, {4, 7});
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("basic", "edges"));
  EXPECT_EQ(task.diagnostics[1].code, Code("RL0418")) << "it does not explain the others";
  EXPECT_THAT(task.diagnostics[1].groups, ElementsAre("long"));
}

/// Where seven elements are scaled, knows another mistake of the same code.
class TwoCausesOracle : public ScaleOracle {
 public:
  std::vector<KnownMistake> mistakes(const Problem& problem) const override {
    std::vector<KnownMistake> known = ScaleOracle::mistakes(problem);
    if (problem.tensors[0].elements() == 7) {
      known[0].cause = "x is quadrupled";
      known[0].outputs = expect(problem);
      for (double& value : known[0].outputs[0].value) value *= 2;
    }
    return known;
  }
};

TEST_F(GroupsOfCasesTest, ACauseOfFewElementsIsRefutedByACaseThatShouldShowIt) {
  EXPECT_NE(grade_with_cause_for({4}, {7}).diagnostics.at(0).message, "x is tripled");
}

TEST_F(GroupsOfCasesTest, ACauseOfFewElementsIsNotRefutedByAnotherOfItsCode) {
  oracle_ = [] { return std::make_unique<TwoCausesOracle>(); };
  EXPECT_EQ(grade_with_cause_for({4}, {7}).diagnostics.at(0).message, "x is tripled");
}

TEST_F(GroupsOfCasesTest, ACauseThatSeveralGroupsShowComesFirstAlsoWhereTheFirstGroupShowsNone) {
  part_.tasks[0].cases[1].parameters = {{"n", std::int64_t{50}}};
  const TaskResult task = grade_with_cause_for({40, 50}, {4});
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0418"));
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("edges", "long"));
}

TEST_F(GroupsOfCasesTest, GroupsThatFailAtTheSamePlaceShareAMessageThatNamesThem) {
  const TaskResult task = grade_failing({4, 7}, [](RunOutcome& outcome) {
    outcome.activity.findings = {finding("RL0301")};
    outcome.activity.findings[0].where.file = "scale.cu";
    outcome.activity.findings[0].where.line = 1;
  });
  EXPECT_EQ(task.verdict, Verdict::race);
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("basic", "edges"));
}

TEST_F(GroupsOfCasesTest, GroupsOfAKernelThatFailInTheSameWordsShareAMessage) {
  const TaskResult kernel = grade_wrong_for({4, 7});
  ASSERT_EQ(kernel.diagnostics.size(), 1U) << "1 of 4 elements, 1 of 7 elements";
  EXPECT_THAT(kernel.diagnostics[0].groups, ElementsAre("basic", "edges"));
  part_.tasks[0].kind = TaskKind::values;
  EXPECT_EQ(grade_wrong_for({4, 7}).diagnostics.size(), 2U)
      << "functions have numbers of their own";
}

TEST_F(GroupsOfCasesTest, AGroupThatAHiddenCaseFailsTellsNoValues) {
  const TaskResult task = grade_wrong_for({90});
  EXPECT_THAT(verdicts(task), ElementsAre(kPass, kPass, kWrong));
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_THAT(task.diagnostics[0].evidence, ElementsAre("some elements of y differ, case secret"));
  EXPECT_THAT(task.diagnostics[0].notes, testing::Contains(HasSubstr("hidden")));
}

TEST_F(GroupsOfCasesTest, APublicCaseIsToldBeforeAHiddenOneThatTellsAsMuch) {
  part_.tasks[0].cases[0].hidden = true;
  part_.tasks[0].cases[3].hidden = true;
  const TaskResult task = grade_wrong_for({4, 7});
  EXPECT_THAT(task.diagnostics.at(0).groups, ElementsAre("edges"));
}

/// In calls of these sizes a kernel that is named after the size stores out of bounds, on a line
/// that is chosen by it: 100 + n, or always `line`.
FakeDevice::Behaviour out_of_bounds(const std::set<std::int64_t>& sizes, std::uint32_t line = 0) {
  return [=](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    const auto n = request.problem->tensors[0].elements();
    if (!sizes.contains(n)) return outcome;
    simgpu::Finding& store = outcome.activity.findings.emplace_back(finding("RL0201"));
    store.kernel = "n" + std::to_string(n);
    store.where.file = "scale.cu";
    store.where.line = line > 0 ? line : 100 + static_cast<std::uint32_t>(n);
    store.object = "byte 0 of shared array n" + std::to_string(n) + " (4 bytes)";
    return outcome;
  };
}

TEST_F(GroupsOfCasesTest, WhereAHiddenCaseAloneFailsIsNotShown) {
  const TaskResult task = grade_task_with(out_of_bounds({90}));
  ASSERT_EQ(task.diagnostics.size(), 1U);
  const Diagnostic& story = task.diagnostics[0];
  EXPECT_EQ(story.code, Code("RL0201"));
  EXPECT_EQ(story.file, "scale.cu");
  EXPECT_EQ(story.line, 0U);
  EXPECT_THAT(story.labels, IsEmpty());
  EXPECT_THAT(story.message + story.context, testing::Not(HasSubstr("90")));
  EXPECT_THAT(story.notes, testing::Contains(HasSubstr("no multiples of a block")));
}

TEST_F(GroupsOfCasesTest, WhereAHiddenCaseFailsIsShownIfAPublicOneFailsThere) {
  const TaskResult task = grade_task_with(out_of_bounds({7, 90}, 2));
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].line, 2U);
  EXPECT_THAT(task.diagnostics[0].context, HasSubstr("n7"));
  EXPECT_THAT(task.diagnostics[0].groups, ElementsAre("edges", "long"));
}

TEST_F(GroupsOfCasesTest, APublicFailureElsewhereShowsNoPlaceOfAHiddenOne) {
  const TaskResult task = grade_task_with(out_of_bounds({7, 90}));
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_EQ(task.diagnostics[0].line, 107U);
  EXPECT_EQ(task.diagnostics[1].line, 0U);
}

TEST_F(GroupsOfCasesTest, TheTasksVerdictIsThatOfItsWorstGroup) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    const auto n = request.problem->tensors[0].elements();
    if (n == 4) outcome.outputs[1][3] ^= std::byte{1};
    if (n == 7) outcome.end = End::killed;
    return outcome;
  });
  EXPECT_THAT(verdicts(task), ElementsAre(kWrong, Verdict::runtime_error, kPass));
  EXPECT_EQ(task.verdict, Verdict::runtime_error);
}

TEST_F(GroupsOfCasesTest, ASuspectTimeKeepsThePointsOfAllGroups) {
  const TaskResult task =
      grade_failing({1000}, [](RunOutcome& outcome) { outcome.activity.elapsed_us = 10; });
  EXPECT_EQ(task.verdict, Verdict::suspect);
  EXPECT_THAT(verdicts(task), ElementsAre(Verdict::suspect, kPass, kPass));
  EXPECT_EQ(task.score, 10);
}

TEST_F(GroupsOfCasesTest, AKernelsStubEndsTheTaskAtOnce) {
  const TaskResult task = grade_task_with([](const RunRequest&) {
    RunOutcome outcome;
    outcome.end = End::not_implemented;
    return outcome;
  });
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(task.verdict, Verdict::not_implemented);
  EXPECT_THAT(scores(task), ElementsAre(0, 0, 0));
  EXPECT_EQ(task.diagnostics.size(), 1U);
}

TEST_F(GroupsOfCasesTest, AStubOfOneOfSeveralKernelsLeavesTheOthers) {
  TaskSpec& task = part_.tasks[0];
  for (CaseSpec& spec : task.cases) spec.parameters["function"] = spec.group;
  const TaskResult result = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    if (request.problem->tensors[0].elements() == 4) outcome.end = End::not_implemented;
    return outcome;
  });
  EXPECT_THAT(scores(result), ElementsAre(0, 3, 2));
  EXPECT_EQ(result.verdict, Verdict::not_implemented);
}

TEST_F(GroupsOfCasesTest, EachFunctionOfAValuesTaskHasItsOwnStub) {
  TaskSpec& task = part_.tasks[0];
  task.kind = TaskKind::values;
  task.speeds.clear();
  const TaskResult result = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome = solve(request);
    const auto n = request.problem->tensors[0].elements();
    if (n != 7) {
      outcome.end = End::not_implemented;
      outcome.detail = "count";
      outcome.thrown = {"part7-test/scale.cu", static_cast<std::uint32_t>(n), ""};
    }
    return outcome;
  });
  EXPECT_EQ(runs_, 3) << "one case of each group that is a stub";
  EXPECT_THAT(verdicts(result),
              ElementsAre(Verdict::not_implemented, kPass, Verdict::not_implemented));
  EXPECT_EQ(result.score, 3);
  ASSERT_EQ(result.diagnostics.size(), 2U);
  EXPECT_EQ(result.diagnostics[0].line, 4U);
  EXPECT_EQ(result.diagnostics[1].line, 40U);
}

TEST_F(GroupsOfCasesTest, ALimitEndsItsGroupAndNoOther) {
  const TaskResult task =
      grade_failing({4}, [](RunOutcome& outcome) { outcome.end = End::time_limit; });
  EXPECT_THAT(verdicts(task), ElementsAre(Verdict::time_limit, kPass, kPass));
  EXPECT_EQ(task.cases.size(), 4U) << "the other basic case would only take as long";
  EXPECT_EQ(task.score, 5);
}

TEST_F(GroupsOfCasesTest, GroupsAreNotRunAfterThreeHaveEndedAtALimit) {
  TaskSpec& spec = part_.tasks[0];
  spec.groups.push_back({"odder", "", 1});
  spec.groups.push_back({"huge", "", 1});
  spec.cases.push_back(in("odder", "nine", 9));
  spec.cases.push_back(in("huge", "hundred", 100));
  const auto limited = [](RunOutcome& outcome) { outcome.end = End::time_limit; };
  const auto limit = Verdict::time_limit;
  const TaskResult task = grade_failing({4, 7, 40}, limited);
  EXPECT_THAT(verdicts(task), ElementsAre(limit, limit, limit, limit, limit));
  EXPECT_EQ(task.cases.size(), 3U);
  EXPECT_EQ(task.score, 0);
  ASSERT_EQ(task.diagnostics.size(), 2U);
  EXPECT_THAT(task.diagnostics[1].message, HasSubstr("were not run"));
  EXPECT_THAT(task.diagnostics[1].groups, ElementsAre("odder", "huge"));
}

TEST_F(GroupsOfCasesTest, SharesAreExactAndTheScoreIsRoundedOnce) {
  TaskSpec& task = part_.tasks[0];
  for (GroupSpec& group : task.groups) group.points = 10.0 / 3;
  EXPECT_EQ(grade_task_with(solve).score, 16);
  const TaskResult half = grade_wrong_for({7});
  EXPECT_EQ(half.score, 12.67);
  EXPECT_EQ(half.groups[0].score, 10.0 / 3);
}

TEST_F(GroupsOfCasesTest, ACompileErrorCostsEveryGroup) {
  build_.end = BuildOutcome::End::failed;
  build_.messages = "part7-test/scale.cu(3): error: expected a \";\"\n";
  const TaskResult task = grade_task_with(solve);
  EXPECT_THAT(verdicts(task), testing::Each(Verdict::compile_error));
  EXPECT_THAT(scores(task), ElementsAre(0, 0, 0));
}

TEST_F(GroupsOfCasesTest, AReplayedCaseIsOfItsGroupAlone) {
  request_.task = "scale";
  request_.case_number = 2;
  const TaskResult task = grade_task_with(solve);
  ASSERT_EQ(task.groups.size(), 1U);
  EXPECT_EQ(task.groups[0].name, "edges");
  EXPECT_EQ(task.groups[0].max_score, 0);
}

TEST_F(GroupsOfCasesTest, ACaseOfNoGroupIsAFaultOfTheCourse) {
  part_.tasks[0].cases[0].group = "corners";
  EXPECT_EQ(grade_task_with(solve).verdict, Verdict::grader_fault);
}

}  // namespace
}  // namespace rooflab
