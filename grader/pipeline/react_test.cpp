// Wrong numbers, explained by calls with other parameters: which cases have them, and what is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "grader/pipeline/grade_fixture.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::int64_t size(const Values& values, const char* name) {
  return std::get<std::int64_t>(values.at(name));
}

/// bytes = rows * columns + rows.
class BytesOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const Values& sizes = problem.parameters;
    return {{"bytes", size(sizes, "rows") * size(sizes, "columns") + size(sizes, "rows")}};
  }
};

using Function = std::function<Values(const Values&)>;

/// A device on which the student's function is this one.
FakeDevice::Behaviour calling(Function function) {
  return [function = std::move(function)](const RunRequest& request) {
    RunOutcome outcome;
    outcome.results = function(request.problem->parameters);
    for (std::size_t i = 0; i < request.further.size(); ++i) {
      FreshCall call;
      call.problem = request.fresh(static_cast<int>(i));
      call.results = function(call.problem.parameters);
      outcome.fresh.push_back(std::move(call));
    }
    return outcome;
  };
}

Values without_the_last_term(const Values& sizes) {
  return {{"bytes", size(sizes, "rows") * size(sizes, "columns")}};
}

class ReactTest : public GradeTest {
 protected:
  ReactTest() {
    TaskSpec& task = part_.tasks[0];
    task.kind = TaskKind::values;
    task.speeds.clear();
    task.cases = {sizes_case(3, 5, false), sizes_case(40, 90, false), sizes_case(77, 9, true)};
    oracle_ = [] { return std::make_unique<BytesOracle>(); };
  }

  static CaseSpec sizes_case(std::int64_t rows, std::int64_t columns, bool hidden) {
    CaseSpec spec;
    spec.name = std::to_string(rows) + " rows";
    spec.parameters = {{"rows", rows}, {"columns", columns}};
    spec.expect = {{"bytes", rows * columns + rows}};
    spec.hidden = hidden;
    return spec;
  }
};

/// n, of which a number that is one too large is a slip.
class SlipOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    return {{"n", size(problem.parameters, "rows")}};
  }
  std::optional<Complaint> explain(const Problem&, const Values& got,
                                   const Values& expected) const override {
    if (size(got, "n") != size(expected, "n") + 1) return std::nullopt;
    return Complaint{"RL0439", "one is added", "do not add it"};
  }
};

class SlipTest : public ReactTest {
 protected:
  SlipTest() {
    for (CaseSpec& spec : part_.tasks[0].cases) {
      spec.expect = {{"n", size(spec.parameters, "rows")}};
    }
    oracle_ = [] { return std::make_unique<SlipOracle>(); };
  }
};

TEST_F(SlipTest, ASlipThatAllCallsShowIsTold) {
  const TaskResult task = grade_task_with(calling([](const Values& sizes) -> Values {
    return {{"n", size(sizes, "rows") + 1}};
  }));
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("one is added"));
}

TEST_F(SlipTest, OneThatOtherCallsRefuteIsNot) {
  // One too large at 3 and at 40 rows, as the slip's, and further off elsewhere.
  const TaskResult task = grade_task_with(calling([](const Values& sizes) -> Values {
    const std::int64_t rows = size(sizes, "rows");
    return {{"n", rows == 3 || rows == 40 ? rows + 1 : rows + rows / 8 + 2}};
  }));
  EXPECT_THAT(task.diagnostics.at(0).message, Not(HasSubstr("one is added")));
}

TEST_F(ReactTest, ATermThatIsMissingIsToldWithTheNumbersOfThePublicCase) {
  const TaskResult task = grade_task_with(calling(without_the_last_term));
  ASSERT_EQ(task.diagnostics.size(), 1U);
  const Diagnostic& story = task.diagnostics[0];
  EXPECT_EQ(story.code, Code("RL0438"));
  EXPECT_EQ(story.message, "bytes lacks the term rows: at rows = 3 it is 3 too small");
  EXPECT_EQ(story.evidence.at(0), "bytes: expected 18, got 15");
  EXPECT_THAT(story.evidence.at(1), AllOf(HasSubstr("with "), HasSubstr("expected")));
}

TEST_F(ReactTest, WhereOnlyTheCasesMayTellNothingElseIsCalled) {
  request_.causes = CauseSearch::quick;
  const TaskResult task = grade_task_with(calling(without_the_last_term));
  ASSERT_FALSE(task.diagnostics.empty());
  EXPECT_EQ(task.diagnostics[0].code, Code("RL0407"));
  EXPECT_EQ(runs_, 3);
}

TEST_F(ReactTest, ARightTaskIsCalledOncePerCase) {
  const TaskResult task = grade_task_with(calling([](const Values& sizes) {
    return BytesOracle().results_elsewhere({sizes, {}});
  }));
  EXPECT_EQ(task.verdict, Verdict::pass);
  EXPECT_EQ(runs_, 3);
}

TEST_F(ReactTest, WhatOnlyAHiddenCaseShowsIsNotLookedInto) {
  part_.tasks[0].cases[2] = sizes_case(300, 9, true);
  const TaskResult task = grade_task_with(calling([](const Values& sizes) {
    const bool is_hidden = size(sizes, "rows") == 300;
    return is_hidden ? without_the_last_term(sizes) : BytesOracle().results_elsewhere({sizes, {}});
  }));
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0407"));
  EXPECT_EQ(runs_, 3);
}

TEST_F(ReactTest, ACauseThatIsDeclaredStays) {
  part_.tasks[0].ratios = {{"bytes", 0.5, "halves are counted"}};
  const TaskResult task = grade_task_with(calling([](const Values& sizes) {
    const Values right = BytesOracle().results_elsewhere({sizes, {}});
    return Values{{"bytes", static_cast<double>(size(right, "bytes")) / 2}};
  }));
  EXPECT_THAT(task.diagnostics.at(0).message, HasSubstr("halves are counted"));
  EXPECT_EQ(runs_, 3);
}

/// flops = (2 * width + 5) * max(rows, columns).
class FlopsOracle : public Oracle {
 public:
  Values results_elsewhere(const Problem& problem) const override {
    const Values& sizes = problem.parameters;
    const std::int64_t longer = std::max(size(sizes, "rows"), size(sizes, "columns"));
    return {{"flops", (2 * size(sizes, "width") + 5) * longer}};
  }
};

TEST_F(ReactTest, ADeclaredCauseOfALaterCaseIsToldInPlaceOfALaw) {
  const auto wide_case = [](std::int64_t rows, std::int64_t columns, std::int64_t width) {
    CaseSpec spec;
    spec.name = std::to_string(rows) + " rows";
    spec.parameters = {{"rows", rows}, {"columns", columns}, {"width", width}};
    spec.expect = FlopsOracle().results_elsewhere({spec.parameters, {}});
    return spec;
  };
  TaskSpec& spec = part_.tasks[0];
  spec.cases = {wide_case(3, 5, 4), wide_case(40, 20, 10), wide_case(12, 90, 6)};
  oracle_ = [] { return std::make_unique<FlopsOracle>(); };
  const auto with_one_flop = calling([](const Values& sizes) {
    const std::int64_t longer = std::max(size(sizes, "rows"), size(sizes, "columns"));
    return Values{{"flops", (size(sizes, "width") + 5) * longer}};
  });

  EXPECT_THAT(grade_task_with(with_one_flop).diagnostics.at(0).message,
              HasSubstr("half of width would give what is returned"));
  spec.ratios = {{"flops", 0.6, "a step is two FLOPs"}};  // of the second case
  EXPECT_THAT(grade_task_with(with_one_flop).diagnostics.at(0).message,
              HasSubstr("a step is two FLOPs"));
}

TEST_F(ReactTest, AFunctionThatFailsElsewhereIsToldByItsNumbersAlone) {
  const TaskResult task = grade_task_with([](const RunRequest& request) {
    RunOutcome outcome;
    outcome.results = without_the_last_term(request.problem->parameters);
    if (!request.further.empty()) {
      outcome.end = RunOutcome::End::exception;
      outcome.failed_call = 2;
    }
    return outcome;
  });
  EXPECT_EQ(task.verdict, Verdict::wrong_answer);
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0407"));
}

TEST_F(ReactTest, ResultsThatAreNoNumbersSayNothing) {
  const TaskResult task = grade_task_with(calling([](const Values&) {
    return Values{{"bytes", std::string("\x1b[31mmany")}};
  }));
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0407"));
}

TEST_F(ReactTest, AnOracleThatContradictsTheCaseIsNotAsked) {
  for (CaseSpec& spec : part_.tasks[0].cases) spec.expect = {{"bytes", std::int64_t{1}}};
  const TaskResult task = grade_task_with(calling(without_the_last_term));
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0407"));
  EXPECT_EQ(runs_, 3);
}

TEST_F(ReactTest, ARealGpuMakesNoFurtherCalls) {
  checked_ = CheckedCall{};
  const TaskResult task = grade_task_with(calling(without_the_last_term));
  EXPECT_EQ(task.diagnostics.at(0).code, Code("RL0407"));
}

}  // namespace
}  // namespace rooflab
