#include "grader/batch/hold_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/batch/class_fixture.h"
#include "grader/spec/tested.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Two tasks, the first with two groups and a time that needs both, all worth 20 points.
PartSpec two_tasks() {
  PartSpec part{.number = 1, .title = "", .directory = "part1-test", .root = {}, .tasks = {}};
  TaskSpec gemm;
  gemm.id = "gemm";
  gemm.points = 10;
  gemm.groups = {{"basics", "", 6}, {"edges", "", 4}};
  SpeedSpec speed;
  speed.name = "1024^3";
  speed.points = 5;
  speed.groups = {"basics", "edges"};
  gemm.speeds = {speed};
  TaskSpec gemv;
  gemv.id = "gemv";
  gemv.points = 5;
  gemv.groups = {{"all", "", 5}};
  part.tasks = {gemm, gemv};
  return part;
}

/// Of that part: the edges are wrong, so the time has no points either.
GradeResult wrong_edges() {
  Diagnostic of_edges, of_both;
  of_edges.message = "the edge of the tile is wrong";
  of_edges.groups = {"edges"};
  of_both.message = "a line is slow";
  of_both.groups = {"basics", "edges"};
  Timing timing;
  timing.name = "1024^3";
  timing.max_points = 5;
  TaskResult gemm;
  gemm.id = "gemm";
  gemm.verdict = Verdict::wrong_answer;
  gemm.score = 6;
  gemm.max_score = 15;
  gemm.groups = {{"basics", "", Verdict::pass, 6, 6}, {"edges", "", Verdict::wrong_answer, 0, 4}};
  gemm.cases = {{.name = "64", .group = "basics"}, {.name = "65", .group = "edges"}};
  gemm.diagnostics = {of_edges, of_both};
  gemm.timings = {timing};
  gemm.counters = {{"dram__bytes.sum", 1}};
  gemm.printed = "in case 65";
  TaskResult gemv;
  gemv.id = "gemv";
  gemv.score = gemv.max_score = 5;
  GradeResult result;
  result.part = 1;
  result.tasks = {gemm, gemv};
  return result;
}

TEST(WithoutHeldTests, AResultHasNothingOfAGroupThatIsHeldBack) {
  const GradeResult rest =
      without_held(wrong_edges(), {{.part = 1, .task = "gemm", .groups = {"edges"}}}, two_tasks());
  ASSERT_EQ(rest.tasks.size(), 2U);
  const TaskResult& gemm = rest.tasks[0];
  EXPECT_EQ(gemm.verdict, Verdict::pass) << "of what is left";
  EXPECT_EQ(gemm.score, 6);
  EXPECT_EQ(gemm.max_score, 6) << "without the time, which would tell that the edges fail";
  EXPECT_THAT(gemm.groups, SizeIs(1));
  EXPECT_THAT(gemm.cases, SizeIs(1));
  EXPECT_THAT(gemm.timings, IsEmpty());
  EXPECT_THAT(gemm.counters, IsEmpty());
  EXPECT_EQ(gemm.printed, "");
  ASSERT_THAT(gemm.diagnostics, SizeIs(1));
  EXPECT_THAT(gemm.diagnostics[0].groups, ElementsAre("basics"));
  EXPECT_EQ(rest.score(), 11);
  EXPECT_EQ(rest.max_score(), 11);
}

TEST(HeldOfTask, SaysWhichCasesTimesAndStoriesStudentsDoNotSeeYet) {
  const GradeResult result = wrong_edges();
  const TaskResult& gemm = result.tasks[0];
  const HeldOfTask edges =
      held_of({{.part = 1, .task = "gemm", .groups = {"edges"}}}, two_tasks(), "gemm");
  EXPECT_TRUE(edges.any());
  EXPECT_FALSE(edges.hides(gemm.cases[0]));
  EXPECT_TRUE(edges.hides(gemm.cases[1]));
  EXPECT_TRUE(edges.hides(gemm.diagnostics[0]));
  EXPECT_FALSE(edges.hides(gemm.diagnostics[1])) << "it is about the basics, too";
  EXPECT_THAT(edges.timings, ElementsAre("1024^3"));
  const HeldOfTask whole = held_of({{.part = 1, .task = "gemm"}}, two_tasks(), "gemm");
  EXPECT_TRUE(whole.hides(gemm.cases[0]) && whole.hides(gemm.diagnostics[1]));
  EXPECT_FALSE(held_of({{.part = 2, .task = "gemm"}}, two_tasks(), "gemm").any());
}

TEST(WithoutHeldTests, WhatStudentsTestsRefuseIsNotShownWhereAGroupIsHeldBack) {
  GradeResult result = wrong_edges();
  TaskResult& tests = result.tasks[0];
  tests.tests.emplace().hidden_caught = 4;
  tests.score = 11.01;  // each group is rounded by itself
  Diagnostic refused;
  refused.code = simgpu::Code("RL0617");
  tests.diagnostics.push_back(refused);
  const auto left_of = [&](const std::string& group) {
    return without_held(result, {{.part = 1, .task = "gemm", .groups = {group}}}, two_tasks())
        .tasks[0];
  };
  EXPECT_FALSE(left_of("edges").tests.has_value());
  EXPECT_LE(left_of("edges").score, left_of("edges").max_score);
  const auto tells_refused = [](const TaskResult& task) {
    return std::ranges::find(task.diagnostics, simgpu::Code("RL0617"), &Diagnostic::code) !=
           task.diagnostics.end();
  };
  EXPECT_TRUE(tells_refused(left_of("edges"))) << "it is about the right ones";
  result.tasks[0].groups[0].name = kRightGroup;
  EXPECT_FALSE(tells_refused(left_of(kRightGroup)));
}

TEST(WithoutHeldTests, AResultHasNothingOfATaskThatIsHeldBack) {
  const GradeResult rest = without_held(
      wrong_edges(), {{.part = 1, .task = "gemm"}, {.part = 2, .task = "gemv"}}, two_tasks());
  ASSERT_EQ(rest.tasks.size(), 1U);
  EXPECT_EQ(rest.tasks[0].id, "gemv") << "that of another part stays";
  EXPECT_EQ(rest.max_score(), 5);
  EXPECT_EQ(without_held(wrong_edges(),
                         {{.part = 1, .task = "gemm", .groups = {"basics", "edges"}}}, two_tasks())
                .tasks.size(),
            1U)
      << "nothing is left of it";
  EXPECT_EQ(without_held(wrong_edges(), {}, two_tasks()).score(), 11);
}

TEST(HeldTests, ThatThePartDoesNotHaveAreRefusedWithTheNearest) {
  Course course;
  course.parts = {two_tasks()};
  const auto error = [&](const HeldTest& test) {
    return complaint([&] { require_known({test}, course); });
  };
  EXPECT_THAT(error({.part = 1, .task = "gem", .place = "late.toml:7"}),
              AllOf(HasSubstr("late.toml:7: "), HasSubstr("no task `gem`; did you mean `gemm`?")));
  EXPECT_THAT(error({.part = 1, .task = "gemm", .groups = {"edge"}, .place = "late.toml:7"}),
              HasSubstr("no group of cases `edge`; did you mean `edges`? there are basics, edges"));
  EXPECT_EQ(error({.part = 1, .task = "gemm", .groups = {"edges"}}), "");
  EXPECT_EQ(error({.part = 9, .task = "x"}), "") << "another batch grades it";
}

constexpr const char* kPolicy =
    "due = 2026-11-20T12:00:00Z\n[[step]]\nafter_hours = 0\nkeeps = 0.5\n"
    "[[after_due]]\npart = 1\ntask = \"count\"\n";
constexpr std::int64_t kDue = 1'795'176'000;  // 2026-11-20T12:00:00Z, by `date`

TEST_F(ClassFixture, BeforeTheDeadlineFeedbackAndTotalsLeaveOutWhatThePolicySays) {
  hand_in("ada", "xxx");
  BatchRequest with_policy = request();
  with_policy.policy = file("late.toml", kPolicy);
  Batch batch(with_policy);
  BatchWork before = work();
  before.now = kDue;
  batch.run(course_, before, executor_, listener_);
  const std::string later = "tests worth 10 more points show and count after 2026-11-20 12:00 UTC";
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("part 1: " + later)));
  const std::string page = read_file(out() / "feedback" / "ada.html");
  EXPECT_THAT(page, AllOf(HasSubstr(later), HasSubstr("0 of 0 points by the grader"),
                          Not(HasSubstr("Counting"))));
  EXPECT_THAT(read_file(out() / "gradescope" / "ada.json"),
              AllOf(HasSubstr(later), Not(HasSubstr("Counting"))));
  EXPECT_THAT(read_file(out() / "grades.csv"), Not(HasSubstr("count wrong-answer")));
  EXPECT_THAT(query("SELECT score FROM gradings", 1), ElementsAre("3.0")) << "it is graded";

  BatchWork after = work();
  after.now = kDue + 1;
  batch.write_outputs(course_, after, listener_);
  EXPECT_THAT(read_file(out() / "feedback" / "ada.html"),
              AllOf(HasSubstr("3 of 10 points by the grader"), HasSubstr("Counting"),
                    Not(HasSubstr("show and count after"))));
}

TEST_F(ClassFixture, AMistypedTestIsRefusedBeforeAnythingIsShown) {
  hand_in("ada", "xxx");
  BatchRequest with_policy = request();
  with_policy.policy = file("late.toml", std::string(kPolicy) + "groups = [\"edge\"]\n");
  EXPECT_THAT(complaint([&] { run(with_policy); }), HasSubstr("no group of cases `edge`"));
  EXPECT_FALSE(std::filesystem::exists(out() / "feedback"));
}

TEST_F(ClassFixture, APartWhoseEvidenceCannotBeReadHasNoTotalBeforeTheDeadline) {
  hand_in("ada", "xxx");
  BatchRequest with_policy = request();
  with_policy.policy = file("late.toml", kPolicy);
  run(with_policy);
  Database(out() / "batch.sqlite").execute("UPDATE evidence SET evidence = '{'");
  Batch batch(with_policy);
  BatchWork before = work();
  before.now = kDue - 1;
  batch.write_outputs(course_, before, listener_);
  EXPECT_THAT(read_file(out() / "feedback" / "ada.html"),
              AllOf(HasSubstr("not graded yet"), Not(HasSubstr("3 of"))));
}

}  // namespace
}  // namespace rooflab
