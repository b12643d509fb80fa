#include "grader/author/verify/right_submission.h"
#include "grader/author/verify/ran.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/spec/files.h"

/// A right submission of a task that was made up here: what its folder says, and each way in which
/// a grade can do it wrong.
namespace rooflab::verify {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class RightSubmissionTest : public testing::Test {
 protected:
  RightSubmissionTest() : folder_(testing::TempDir()) {
    part_.number = 7;
    part_.directory = "part7-test";
    part_.root = folder_.path() / "labs/part7-test";
    TaskSpec task;
    task.id = "scale";
    task.file = "scale.cu";
    task.uses = {"add.cu"};
    task.points = 5;
    task.cases.resize(2);
    task.cases[0].name = "four";
    task.cases[1].name = "five";
    SpeedSpec speed;
    speed.name = "2^20";
    speed.points = 3;
    task.speeds.push_back(speed);
    part_.tasks = {task};
    gpu_.id = "t4";
    gpu_.name = "T4";
    gpu_.peak_flops = {{"fp32", 8e12}};

    plant("file = \"scale.cu\"\n");
    write("labs/part7-test/right/by_blocks/scale.cu", "blocks\n");
    write("labs/part7-test/right/by_blocks/add.cu", "own\n");
    write("solutions/part7-test/scale.cu", "master\n");
    write("solutions/part7-test/add.cu", "add\n");

    graded_.exit_code = 0;
    graded_.document = {
        {"tasks",
         {{{"id", "scale"},
           {"verdict", "pass"},
           {"score", 5},
           {"cases",
            {{{"name", "four"}, {"verdict", "pass"}}, {{"name", "five"}, {"verdict", "pass"}}}},
           {"timings", {{{"name", "2^20"}}}},
           {"diagnostics", {{{"code", "RL0501"}, {"message", "uncoalesced"}}}}}}}};
  }

  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }
  void plant(const std::string& more) const {
    write(
        "labs/part7-test/right/by_blocks/right.toml",
        "task = \"scale\"\nstory = \"one block for each row\"\nstyle = \"early returns\"\n" + more);
  }
  RightSubmission loaded() const { return load_right_submissions(part_).at(0); }
  std::string submitted(const std::string& name) const {
    const auto submission = folder_.path() / "submission";
    write_submission(loaded(), part_, folder_.path() / "solutions", submission);
    return read_file(submission / "part7-test" / name);
  }
  json& task() { return graded_.document.at("tasks").at(0); }
  Outcome judged() const { return judge_right({part_, gpu_}, graded_, loaded()); }
  std::vector<std::string> stories() const {
    std::vector<std::string> all;
    for (const Failure& failure : judged().failures) all.push_back(failure.story);
    return all;
  }

  TemporaryFolder folder_;
  PartSpec part_;
  gpu_spec::GpuSpec gpu_;
  Ran graded_;
};

TEST_F(RightSubmissionTest, BringsItsOwnFilesAndTakesTheOthersFromTheSolution) {
  EXPECT_EQ(submitted("scale.cu"), "blocks\n");
  EXPECT_EQ(submitted("add.cu"), "add\n");
  plant("file = [\"scale.cu\", \"add.cu\"]\n");
  EXPECT_EQ(submitted("add.cu"), "own\n");
}

TEST_F(RightSubmissionTest, NamesATaskAndFilesOfIt) {
  plant("file = \"other.cu\"\n");
  EXPECT_THAT([&] { loaded(); },
              ThrowsMessage<SpecError>(HasSubstr("other.cu is no file of the task scale")));
  plant("file = \"scale.cu\"\nmax_score = 3\n");
  EXPECT_THAT([&] { loaded(); }, ThrowsMessage<SpecError>(HasSubstr("max_score")));
}

TEST_F(RightSubmissionTest, MayBeSlowAndGetAdviceAboutIt) { EXPECT_THAT(stories(), IsEmpty()); }

TEST_F(RightSubmissionTest, ANaiveOneEarnsNextToNothingForItsSpeed) {
  plant("file = \"scale.cu\"\nnaive = true\n");
  task()["timings"][0] = {
      {"name", "2^20"}, {"points", 0.4}, {"max_points", 3}, {"target_efficiency", 0.5}};
  EXPECT_THAT(stories(), IsEmpty());
  task()["timings"][0]["points"] = 0.5;
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("it is naive, and earns 0.5 of 3 points")));
  plant("file = \"scale.cu\"\n");
  EXPECT_THAT(stories(), IsEmpty()) << "another one may earn what it can";
}

TEST_F(RightSubmissionTest, ANaiveOneMayHaveThePointsOfATimeThatTellsNothing) {
  plant("file = \"scale.cu\"\nnaive = true\n");
  task()["timings"][0] = {
      {"name", "2^20"}, {"points", 3}, {"max_points", 3}, {"target_efficiency", 0}};
  EXPECT_THAT(stories(), IsEmpty());
}

TEST_F(RightSubmissionTest, FailsForAnyOtherVerdictAndSaysWhatTheSubmissionDoes) {
  task()["verdict"] = "race";
  EXPECT_THAT(stories(), ElementsAre("it is right, and its verdict is race, RL0501: uncoalesced\n"
                                     "what it does: one block for each row (early returns)"));
  EXPECT_EQ(judged().failures[0].replay,
            "build/bin/grader verify --only right --part 7 --gpu t4 --right by_blocks");
}

TEST_F(RightSubmissionTest, FailsForACaseThatIsNotPassedOrNotRun) {
  task()["cases"][1]["verdict"] = "time-limit";
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("the case \"five\" is told time-limit")));
  task()["cases"].erase(1);
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("the case \"five\" was not run")));
  task().erase("timings");
  EXPECT_THAT(stories(), Contains(HasSubstr("the timed case \"2^20\" was not run")));
}

TEST_F(RightSubmissionTest, FailsForPointsThatAreTakenFromItsAnswers) {
  task()["score"] = 4;
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("earns 4 points, and may earn no less than 5")));
  task()["score"] = 5;
  plant("file = \"scale.cu\"\nmin_score = 6.5\n");
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("earns 5 points, and may earn no less than 6.5")));
}

TEST_F(RightSubmissionTest, FailsForADiagnosticThatIsNoAdvice) {
  task()["diagnostics"].push_back({{"code", "RL0505"}, {"message", "too fast"}});
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("no advice about speed, RL0505: too fast")));
}

TEST_F(RightSubmissionTest, FailsForAnotherExitCodeAndAGradeOfAnotherTask) {
  graded_.exit_code = 1;
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("exit code 1 instead of 0")));
  task()["id"] = "other";
  EXPECT_THAT(stories(), ElementsAre(HasSubstr("not of the task scale alone")));
}

}  // namespace
}  // namespace rooflab::verify
