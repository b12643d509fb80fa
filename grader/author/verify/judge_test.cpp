#include "grader/author/verify/judge.h"
#include "grader/author/verify/ran.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/spec/files.h"

/// Judging of grades made up here: each promise that is broken is told, and nothing else.
namespace rooflab::verify {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() : folder_(testing::TempDir()) {
    part_.number = 7;
    part_.directory = "part7-test";
    TaskSpec scale = task("scale", TaskKind::kernel, "scale.cu", 5);
    scale.cases.resize(2);
    scale.cases[0].name = "four";
    scale.cases[1].name = "hidden five";
    scale.cases[1].hidden = true;
    SpeedSpec speed;
    speed.name = "2^20";
    speed.points = 3;
    speed.full_efficiency = 0.4;
    scale.speeds.push_back(speed);
    TaskSpec tensor = task("tensor", TaskKind::kernel, "tensor.cu", 4);
    speed.peak = "bf16_tensor";
    tensor.speeds.push_back(speed);
    TaskSpec answers = task("answers", TaskKind::answers, "answers.toml", 2);
    answers.questions.resize(1);
    answers.questions[0].id = "ridge";
    part_.tasks = {scale, tensor, answers};

    gpu_.id = "t4";
    gpu_.name = "T4";
    gpu_.peak_flops = {{"fp32", 8e12}};

    solution_.exit_code = 0;
    solution_.document = {{"score", 10},
                          {"bonus", 0},
                          {"tasks",
                           {{{"id", "scale"},
                             {"verdict", "pass"},
                             {"score", 8},
                             {"max_score", 8},
                             {"cases", {{{"name", "four"}}, {{"name", "hidden five"}}}},
                             {"diagnostics", json::array()},
                             {"timings",
                              {{{"name", "2^20"},
                                {"points", 3},
                                {"max_points", 3},
                                {"efficiency", 0.6},
                                {"target_efficiency", 0.4}}}}},
                            {{"id", "tensor"},
                             {"verdict", "not-applicable"},
                             {"score", 0},
                             {"max_score", 0},
                             {"cases", json::array()},
                             {"diagnostics", {diagnostic("RL0612", "the T4 has no bf16_tensor")}}},
                            {{"id", "answers"},
                             {"verdict", "pass"},
                             {"score", 2},
                             {"max_score", 2},
                             {"cases", {{{"name", "ridge"}}}},
                             {"diagnostics", json::array()}}}}};

    write_file_atomically(folder_.path() / "part7-test/scale.cu",
                          "#include \"x.h\"\nvoid f() { rooflab::todo(\"begin\"); }\n");
    write_file_atomically(folder_.path() / "part7-test/answers.toml", "ridge = \"\"   # FLOP/B\n");
    starter_ = solution_;
    starter_.exit_code = 1;
    starter_.document["score"] = 0;
    for (const char* task : {"/tasks/0", "/tasks/2"}) {
      at(starter_, task)["verdict"] = "not-implemented";
      at(starter_, task)["score"] = 0;
    }
    at(starter_, "/tasks/0")["diagnostics"] = {diagnostic("RL0601", "still a TODO", "scale.cu", 2)};
    at(starter_, "/tasks/2")["diagnostics"] = {
        diagnostic("RL0601", "no question is answered yet", "answers.toml", 0)};
    at(starter_, "/tasks/2/diagnostics/0")["help"] = "start with ridge";

    mistake_.name = "scale_forgets_the_end";
    mistake_.task = "scale";
    mistake_.file = "scale.cu";
    mistake_.verdict = Verdict::wrong_answer;
    mistake_.code = "RL0413";
    mistake_.says = "partial tile";
    mistake_.loses = {"edges"};
    mistake_.max_score = 3;
    wrong_.exit_code = 1;
    wrong_.document = {{"tasks",
                        {{{"id", "scale"},
                          {"verdict", "wrong-answer"},
                          {"score", 3},
                          {"groups", {group("basic", 3, 3), group("edges", 0, 2)}},
                          {"diagnostics",
                           {diagnostic("RL0413", "the last, partial tile is missing"),
                            diagnostic("RL0401", "3 of 4 are wrong")}}}}}};
  }

  static TaskSpec task(const std::string& id, TaskKind kind, const std::string& file,
                       double points) {
    TaskSpec task;
    task.id = id;
    task.kind = kind;
    task.file = file;
    task.points = points;
    return task;
  }
  static json diagnostic(const std::string& code, const std::string& message,
                         const std::string& file = "", int line = 0) {
    return {{"code", code}, {"message", message}, {"file", file}, {"line", line}, {"help", ""}};
  }
  static json group(const std::string& name, double score, double max_score) {
    return {{"name", name}, {"score", score}, {"max_score", max_score}};
  }
  static json& at(Ran& ran, const std::string& pointer) {
    return ran.document.at(json::json_pointer(pointer));
  }

  Graded graded() const { return {part_, gpu_}; }
  Outcome solution() const { return judge_solution(graded(), solution_); }
  Outcome starter() const { return judge_starter(graded(), starter_, folder_.path()); }
  Outcome mistake() const { return judge_mistake(graded(), wrong_, mistake_); }

  static void expect_one(const Outcome& outcome, const std::string& story,
                         const std::string& replay) {
    ASSERT_THAT(outcome.failures, testing::SizeIs(1));
    EXPECT_THAT(outcome.failures[0].story, HasSubstr(story));
    EXPECT_THAT(outcome.failures[0].replay, HasSubstr(replay));
    EXPECT_FALSE(outcome.fault);
  }

  TemporaryFolder folder_;
  PartSpec part_;
  gpu_spec::GpuSpec gpu_;
  Mistake mistake_;
  Ran solution_;
  Ran starter_;
  Ran wrong_;
};

TEST_F(JudgeTest, ASolutionWithAllPointsAndMarginIsProved) {
  const Outcome outcome = solution();
  EXPECT_TRUE(outcome.proved()) << outcome.failures[0].story;
  EXPECT_THAT(outcome.margin, Optional(DoubleEq(0.6 / 0.4)));
  EXPECT_THAT(outcome.not_applicable, ElementsAre("tensor"));
}

TEST_F(JudgeTest, ASolutionWithoutMarginFailsWithTaskCaseEfficiencyTargetAndFactor) {
  at(solution_, "/tasks/0/timings/0")["efficiency"] = 0.48;
  expect_one(solution(), "scale: 2^20 on a T4: an efficiency of 0.48 is 1.20x its target of 0.4",
             "build/bin/grader --part 7 --task scale --submission solutions --device sim:t4");
}

TEST_F(JudgeTest, ASolutionWhoseEfficiencyIsNoNumberFails) {
  at(solution_, "/tasks/0/timings/0")["efficiency"] = std::nan("");
  EXPECT_FALSE(solution().proved());
}

TEST_F(JudgeTest, ASolutionThatDoesNotPassFailsWithTheFirstDiagnostic) {
  at(solution_, "/tasks/0")["verdict"] = "race";
  at(solution_, "/tasks/0")["diagnostics"] = {diagnostic("RL0301", "As is overwritten")};
  expect_one(solution(), "scale: the solution does not pass: its verdict is race, RL0301: As is",
             "--task scale");
}

TEST_F(JudgeTest, ASolutionThatMissesPointsFailsWithWhatTheyWereFor) {
  at(solution_, "/tasks/0")["score"] = 7.5;
  at(solution_, "/tasks/0/timings/0")["points"] = 2.5;
  expect_one(solution(), "earns 7.5 of 8 points, 2.5 of 3 for the time of 2^20", "--task scale");
}

TEST_F(JudgeTest, ASolutionThatIsFoundFaultWithFailsAtFullMarks) {
  at(solution_, "/tasks/0")["diagnostics"] = {diagnostic("RL0309", "4 MiB were never freed")};
  expect_one(solution(), "scale: the solution is told RL0309: 4 MiB were never freed",
             "--task scale");
}

TEST_F(JudgeTest, ACaseThatWasNotRunProvesNothing) {
  at(solution_, "/tasks/0/cases").erase(1);
  expect_one(solution(), "the case \"hidden five\" was not run", "--task scale");
  solution_.document["tasks"].erase(0);
  expect_one(solution(), "scale: the grade says nothing of it", "--task scale");
}

TEST_F(JudgeTest, ATimedCaseThatWasNotRunProvesNothing) {
  at(solution_, "/tasks/0").erase("timings");
  expect_one(solution(), "the timed case \"2^20\" was not run", "--task scale");
}

TEST_F(JudgeTest, WhatAGpuCanRunHasToBeGraded) {
  gpu_.peak_flops["bf16_tensor"] = 1e14;
  expect_one(solution(), "tensor: a T4 has every peak that it needs, and yet", "--task tensor");
}

TEST_F(JudgeTest, WhatAGpuCannotRunMustNotBeGraded) {
  at(solution_, "/tasks/1")["verdict"] = "pass";
  expect_one(solution(), "tensor: a T4 lacks the peak that it needs, and yet", "--task tensor");
}

TEST_F(JudgeTest, AGradeThatIsNotThereIsAFault) {
  solution_.document = nullptr;
  solution_.exit_code = 3;
  solution_.log = "grader: the disk is full\n";
  const Outcome outcome = solution();
  EXPECT_TRUE(outcome.fault);
  EXPECT_THAT(outcome.failures[0].story,
              AllOf(HasSubstr("exit code 3"), HasSubstr("the disk is full")));
}

TEST_F(JudgeTest, ATaskThatTheGraderFailedAtIsAFault) {
  at(solution_, "/tasks/0")["verdict"] = "grader-fault";
  EXPECT_TRUE(solution().fault);
}

TEST_F(JudgeTest, AStarterThatNamesItsPlacesIsProved) {
  const Outcome outcome = starter();
  EXPECT_TRUE(outcome.proved()) << outcome.failures[0].story;
}

TEST_F(JudgeTest, AStarterWithALeakedAnswerFails) {
  at(starter_, "/tasks/0")["verdict"] = "pass";
  starter_.document["score"] = 8;
  EXPECT_THAT(starter().failures,
              ElementsAre(Field(&Failure::story, HasSubstr("scale: the starter leaves nothing")),
                          Field(&Failure::story, HasSubstr("earns 8 points"))));
}

TEST_F(JudgeTest, AStarterThatIsWrongOnPurposeIsFoundAsDeclared) {
  part_.tasks[0].starter_finds = simgpu::Code("RL0201");
  expect_one(starter(), "scale: part.toml says that the grader finds RL0201 in the starter",
             "--task scale");
  at(starter_, "/tasks/0")["verdict"] = "runtime-error";
  at(starter_, "/tasks/0")["diagnostics"] = {diagnostic("RL0201", "past the end", "scale.cu", 1)};
  EXPECT_TRUE(starter().proved());
  at(starter_, "/tasks/0/diagnostics/0")["code"] = "RL0202";
  expect_one(starter(), "finds RL0201 in the starter", "--task scale");
  at(starter_, "/tasks/0")["diagnostics"] = json::array();
  EXPECT_FALSE(starter().proved());
}

TEST_F(JudgeTest, AMessageThatPointsAtNoTodoFails) {
  at(starter_, "/tasks/0/diagnostics/0")["line"] = 1;
  expect_one(starter(), "points at scale.cu:1, where no TODO stands: #include", "--task scale");
  at(starter_, "/tasks/0/diagnostics/0")["line"] = 0;
  EXPECT_FALSE(starter().proved());
  at(starter_, "/tasks/0/diagnostics/0")["file"] = "";
  expect_one(starter(), "names no file of the starter", "--task scale");
}

TEST_F(JudgeTest, AMessageAboutAnswersNamesAQuestionThatIsOpen) {
  write_file_atomically(folder_.path() / "part7-test/answers.toml", "ridge = \"12\"\n");
  expect_one(starter(), "answers: the message names no question that is open", "--task answers");
}

TEST_F(JudgeTest, AMistakeThatGetsWhatItDeclaresIsProvedAndRecognised) {
  const Outcome outcome = mistake();
  EXPECT_TRUE(outcome.proved()) << outcome.failures[0].story;
  EXPECT_THAT(outcome.recognition, Optional(Recognition::recognised));
}

TEST_F(JudgeTest, AMistakeThatDeclaresTheWrongCodeFails) {
  mistake_.code = "RL0412";
  expect_one(mistake(), "declares RL0412, which no diagnostic has; the first is RL0413",
             "verify --only mistakes --part 7 --gpu t4 --mistake scale_forgets_the_end");
  EXPECT_THAT(mistake().recognition, Optional(Recognition::wrongly_recognised));
}

TEST_F(JudgeTest, AMistakeWithAnotherVerdictOrOtherWordsOrPointsFails) {
  mistake_.verdict = Verdict::race;
  expect_one(mistake(), "declares the verdict race; its verdict is wrong-answer", "--mistake");
  mistake_.verdict = Verdict::wrong_answer;
  mistake_.says = "along N";
  expect_one(mistake(), "does not say \"along N\"", "--mistake");
  mistake_.says = "";
  at(wrong_, "/tasks/0")["score"] = 4;
  expect_one(mistake(), "earns 4 points, and may earn 3", "--mistake");
}

TEST_F(JudgeTest, AMistakeLosesExactlyTheGroupsThatItDeclares) {
  at(wrong_, "/tasks/0/groups/0")["score"] = 0;
  expect_one(mistake(), "loses basic, edges, and declares edges", "--mistake");
  at(wrong_, "/tasks/0/groups/0")["score"] = 3;
  at(wrong_, "/tasks/0/groups/1")["score"] = 2;
  expect_one(mistake(), "loses no group, and declares edges", "--mistake");
  mistake_.loses = {};
  EXPECT_THAT(mistake().failures, IsEmpty());
}

TEST_F(JudgeTest, AMistakeWithASymptomFirstIsUnrecognised) {
  at(wrong_, "/tasks/0/diagnostics").erase(0);
  mistake_.code = "RL0401";
  mistake_.says = "";
  mistake_.held_out = true;
  const Outcome outcome = mistake();
  EXPECT_TRUE(outcome.proved()) << outcome.failures[0].story;
  EXPECT_THAT(outcome.recognition, Optional(Recognition::unrecognised));
  EXPECT_TRUE(outcome.held_out);
}

TEST_F(JudgeTest, WhatAReaderFoundCountsWhileTheDeclaredDiagnosisIsTold) {
  mistake_.judged = Recognition::wrongly_recognised;
  EXPECT_THAT(mistake().recognition, Optional(Recognition::wrongly_recognised));
  at(wrong_, "/tasks/0/diagnostics").erase(0);
  EXPECT_THAT(mistake().recognition, Optional(Recognition::unrecognised));
}

TEST_F(JudgeTest, AMistakeWithoutAnyDiagnosticIsUnrecognisedAndFails) {
  at(wrong_, "/tasks/0")["diagnostics"] = json::array();
  EXPECT_THAT(mistake().failures, Contains(Field(&Failure::story, HasSubstr("the first is none"))));
  EXPECT_THAT(mistake().recognition, Optional(Recognition::unrecognised));
}

TEST_F(JudgeTest, AStarterOfAnotherPlaceIsNotRead) {
  at(starter_, "/tasks/0/diagnostics/0")["file"] = "none.cu";
  EXPECT_THAT(starter().failures, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace rooflab::verify
