#include "grader/pipeline/grade_tests.h"

#include <gmock/gmock.h>

#include <cmath>

#include "grader/pipeline/grade_fixture.h"
#include "labs/guest_support/student_cases.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ScaleCase {
  std::string name;
  std::vector<float> x;
  std::vector<float> y;
  double tolerance = 0;
};

/// Tests of y = 2 x against implementations that a test scripts: each makes y of x.
class GradeTestsTest : public GradeTest {
 protected:
  using Scale = std::function<std::vector<float>(std::vector<float>)>;

  GradeTestsTest() {
    TaskSpec& task = part_.tasks[0];
    task.kind = TaskKind::tests;
    task.cases.clear();
    task.speeds.clear();
    task.tested.most_cases = 4;
    task.tested.most_elements = 24;
    task.tested.chosen["n"] = {std::int64_t{1}, std::int64_t{8}};
    task.groups = {{.name = "right", .title = {}, .points = 2},
                   {.name = "signs", .title = {}, .points = 4, .question = "Is anything negative?"},
                   {.name = "edges", .title = {}, .points = 4, .question = "Is any length odd?"}};
    const Scale right = [](std::vector<float> x) {
      for (float& value : x) value *= 2;
      return x;
    };
    add("right_1", right);
    add("right_2", [right](std::vector<float> x) {
      x = right(x);
      for (float& value : x) value += 1e-4F;  // rounds in another way
      return x;
    });
    add("signs_1", [right](std::vector<float> x) {
      x = right(x);
      for (float& value : x) value = std::abs(value);
      return x;
    });
    add("edges_1", [right](std::vector<float> x) {
      const bool is_odd = x.size() % 2 == 1;
      x = right(x);
      if (is_odd) x.back() = 0;
      return x;
    });
    add(
        "edges_2",
        [right](std::vector<float> x) {
          x = right(x);
          if (x.size() == 1) throw std::runtime_error("cudaErrorIllegalAddress");
          return x;
        },
        true);
  }

  void add(const std::string& entry, Scale scale, bool hidden = false) {
    scales_[entry] = std::move(scale);
    implementations_.push_back(
        {"implementations.so", entry, entry.substr(0, entry.find('_')), hidden});
  }

  TaskResult grade(std::vector<ScaleCase> cases) {
    cases_ = std::move(cases);
    return grade_task_with([this](const RunRequest& request) { return run(request); });
  }

  /// The tests themselves, or an implementation with all cases that the request has, up to one
  /// that fails.
  RunOutcome run(const RunRequest& request) {
    RunOutcome outcome;
    if (request.library == library_) {
      ++calls_of_tests_;
      outcome.results = named_cases();
      return outcome;
    }
    const Scale& scale = scales_.at(request.entry);
    try {
      outcome.outputs = outputs_of(*request.problem, scale);
      for (std::size_t i = 0; makes_further_calls_ && i < request.further.size(); ++i) {
        outcome.failed_call = static_cast<int>(i) + 2;
        FreshCall call;
        call.outputs = outputs_of(request.fresh(static_cast<int>(i)), scale);
        outcome.fresh.push_back(std::move(call));
      }
      outcome.failed_call = 0;
    } catch (const std::runtime_error& error) {
      outcome.end = RunOutcome::End::exception;
      outcome.cuda_error = error.what();
    }
    return outcome;
  }

  static std::vector<std::vector<std::byte>> outputs_of(const Problem& problem,
                                                        const Scale& scale) {
    auto outputs = untouched(problem);
    outputs[1] = bytes_of(scale(floats_of(outputs[0])));
    return outputs;
  }

  Values named_cases() {
    KeptObjects kept;
    GuestCall call({}, {}, kept);
    StudentCases student(call);
    for (ScaleCase one : cases_) {
      if (drifts_) one.x[0] = static_cast<float>(calls_of_tests_);
      student.add(one.name, one.tolerance)
          .integer("n", static_cast<std::int64_t>(one.x.size()))
          .array("x", one.x)
          .array("y", one.y);
    }
    return call.results();
  }

  std::map<std::string, Scale> scales_;
  std::vector<ScaleCase> cases_;
  bool makes_further_calls_ = true;
  bool drifts_ = false;
  int calls_of_tests_ = 0;
};

const ScaleCase kNegative{"negative", {-1, 3}, {-2, 6}, 0.01};
const ScaleCase kOdd{"odd", {1, 2, 3}, {2, 4, 6}, 0.01};
const ScaleCase kOne{"one", {1}, {2}, 0.01};

std::vector<std::string> codes_of(const TaskResult& task) {
  std::vector<std::string> codes;
  for (const Diagnostic& story : task.diagnostics) codes.push_back(story.code.text());
  return codes;
}

TEST_F(GradeTestsTest, CasesThatCatchEveryMistakeHaveAllPoints) {
  const TaskResult task = grade({kNegative, kOdd, kOne});
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(task.score, 10);
  EXPECT_THAT(task.diagnostics, testing::IsEmpty());
  EXPECT_EQ(task.summary, "3 cases catch 3 of 3 mistakes");
}

TEST_F(GradeTestsTest, ATableSaysWhichCaseRefusesWhatAndOnlyCountsWhatIsHidden) {
  const TaskResult task = grade({kNegative, kOdd, kOne});
  ASSERT_TRUE(task.tests);
  EXPECT_EQ(task.tests->hidden, 1);
  EXPECT_EQ(task.tests->hidden_caught, 1);
  EXPECT_THAT(task.tests->cases.at(0).marks, ElementsAre("..", "x", "."));
  EXPECT_THAT(task.tests->cases.at(1).marks, ElementsAre("..", ".", "x"));
  EXPECT_EQ(task.tests->cases.at(1).hidden, 0);
  EXPECT_EQ(task.tests->cases.at(2).hidden, 1) << "a call that fails is refused";
  EXPECT_EQ(task.tests->cases.at(2).sizes, "n = 1");
}

TEST_F(GradeTestsTest, ADeviceThatMakesOneCallInAProcessGivesTheSame) {
  const TaskResult several = grade({kOne, kNegative, kOdd});
  makes_further_calls_ = false;
  const TaskResult one = grade({kOne, kNegative, kOdd});
  EXPECT_EQ(one.score, several.score);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(one.tests->cases.at(i).marks, several.tests->cases.at(i).marks);
  }
}

TEST_F(GradeTestsTest, AGroupEarnsItsShareAndAsksForTheRest) {
  const TaskResult task = grade({kNegative, kOdd});
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.score, 8) << "2 + 4 + half of 4";
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0616"));
  EXPECT_EQ(task.diagnostics[0].message, "1 of 2 wrong implementations pass all cases: edges");
  EXPECT_EQ(task.diagnostics[0].help, "Is any length odd?");
  EXPECT_EQ(task.tests->groups.at(2).question, "Is any length odd?");
  EXPECT_EQ(task.tests->groups.at(1).question, "") << "nothing is missing there";
}

TEST_F(GradeTestsTest, WhatACaseCatchesThatRefusesARightOneDoesNotCount) {
  ScaleCase strict = kNegative;
  strict.tolerance = 0;
  const TaskResult task = grade({strict, kOdd, kOne});
  EXPECT_EQ(task.score, 4) << "the edges alone";
  EXPECT_THAT(codes_of(task), ElementsAre("RL0617", "RL0616"));
  EXPECT_EQ(task.diagnostics[0].message,
            "the case \"negative\" refuses 1 of 2 right implementations");
  EXPECT_THAT(task.diagnostics[0].evidence.at(1),
              HasSubstr("y[0] is -1.9999, and the case expects -2, at most 0 off"));
  EXPECT_EQ(task.cases.at(0).verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.tests->groups.at(0).marks, ".x");
  EXPECT_EQ(task.tests->groups.at(1).marks, ".") << "although the case refuses it";
}

TEST_F(GradeTestsTest, RefusingEverythingEarnsNothing) {
  const TaskResult task = grade({{"all", {1, 2, 3}, {9, 9, 9}, 0.01}});
  EXPECT_EQ(task.score, 0);
  EXPECT_THAT(codes_of(task), ElementsAre("RL0617", "RL0616", "RL0616"));
}

TEST_F(GradeTestsTest, LettingEverythingPassEarnsNothing) {
  EXPECT_EQ(grade({{"any", {-1, 2, 3}, {-2, 4, 6}, 1e9}}).score, 0);
}

TEST_F(GradeTestsTest, AHiddenRightImplementationThatIsRefusedShowsNoValue) {
  add(
      "right_9", [](std::vector<float> x) { return std::vector<float>(x.size(), 1234); }, true);
  const TaskResult task = grade({kOdd});
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].message, "the case \"odd\" refuses 1 of 3 right implementations");
  EXPECT_THAT(task.diagnostics[0].evidence, testing::IsEmpty());
}

TEST_F(GradeTestsTest, AToleranceThatIsNoNumberIsNamedAsThat) {
  const TaskResult task = grade({{"all", {1, 2, 3}, {2, 4, 6}, std::nan("")}});
  EXPECT_THAT(codes_of(task), ElementsAre("RL0618"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("tolerance"));
}

TEST_F(GradeTestsTest, CasesThatDifferFromRunToRunEarnNothing) {
  drifts_ = true;
  const TaskResult task = grade({kNegative, kOdd, kOne});
  EXPECT_EQ(task.score, 0);
  EXPECT_THAT(codes_of(task), ElementsAre("RL0618"));
  EXPECT_THAT(task.diagnostics[0].message, HasSubstr("not the same each time"));
}

TEST_F(GradeTestsTest, CasesThatCannotBeRunEarnNothingAndSayWhatToDo) {
  const TaskResult task = grade({{"long", std::vector<float>(9), std::vector<float>(9), 0}});
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_THAT(codes_of(task), ElementsAre("RL0618"));
  EXPECT_EQ(task.diagnostics[0].message, "case \"long\" has n = 9");
  EXPECT_EQ(task.diagnostics[0].help, "choose n from 1 to 8");
  EXPECT_FALSE(task.tests);
}

TEST_F(GradeTestsTest, TestsThatEndInAnotherWayAreJudgedLikeAnyProgram) {
  using End = RunOutcome::End;
  for (const auto& [end, verdict] : {std::pair{End::time_limit, Verdict::time_limit},
                                     {End::killed, Verdict::runtime_error},
                                     {End::exited, Verdict::runtime_error},
                                     {End::not_implemented, Verdict::not_implemented},
                                     {End::memory_limit, Verdict::memory_limit}}) {
    const TaskResult task = grade_task_with([&, end = end](const RunRequest&) {
      RunOutcome outcome;
      outcome.end = end;
      return outcome;
    });
    EXPECT_EQ(task.verdict, verdict);
    EXPECT_EQ(task.score, 0);
  }
}

TEST_F(GradeTestsTest, AFaultOfTheMachineIsNoStudents) {
  cases_ = {kOdd};
  using End = RunOutcome::End;
  for (const End end : {End::device_fault, End::time_limit, End::killed}) {
    for (const char* entry : {"right_2", "edges_1"}) {
      const TaskResult task = grade_task_with([&](const RunRequest& request) {
        RunOutcome outcome = run(request);
        if (request.entry == entry) outcome.end = end;
        return outcome;
      });
      EXPECT_EQ(task.verdict, Verdict::grader_fault) << entry;
      EXPECT_EQ(task.max_score, 0);
    }
  }
}

TEST_F(GradeTestsTest, ACaseThatIsTooLargeIsLostAlone) {
  const ScaleCase large{"large", std::vector<float>(8), std::vector<float>(8), 0.01};
  const TaskResult task = grade({kNegative, kOdd, large, kOne});
  EXPECT_EQ(task.score, 10) << "the others catch every mistake";
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  ASSERT_EQ(task.diagnostics.size(), 1U);
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0618"));
  EXPECT_EQ(task.diagnostics[0].message,
            "the case \"large\" has 16 elements, 2 too many, and is not run: of the 24 that all "
            "cases may have together, those before it leave 14");
  EXPECT_EQ(task.tests->cases.size(), 3U);
  EXPECT_EQ(task.cases.back().name, "large");
  EXPECT_EQ(task.cases.back().verdict, Verdict::wrong_answer);
}

TEST_F(GradeTestsTest, WhereAllCasesAreTooLargeNothingIsCaught) {
  ScaleCase large{"large", std::vector<float>(8), std::vector<float>(8), 0.01};
  part_.tasks[0].tested.most_elements = 15;
  const TaskResult task = grade({large});
  EXPECT_EQ(task.score, 0);
  EXPECT_THAT(codes_of(task), ElementsAre("RL0618", "RL0616", "RL0616"));
}

}  // namespace
}  // namespace rooflab
