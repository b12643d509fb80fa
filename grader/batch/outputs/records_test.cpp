#include <cstdlib>
#include <nlohmann/json.hpp>

#include "grader/batch/outputs/outputs_testing.h"

namespace rooflab {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Records : public Outputs {
 protected:
  Json results_json(const std::string& key) const {
    return Json::parse(text("gradescope/" + file_stem(key) + ".json"));
  }
};

TEST_F(Records, GradescopeGetsATestForEachTaskAndTheTotal) {
  const SampleClass sample = one_student();
  write(sample);
  const StudentOutcome& student = sample.results.students[0];
  const Json json = results_json("ada");
  EXPECT_NEAR(json["score"], student.parts[0].total() + student.parts[1].total(), 0.0101);
  EXPECT_EQ(json["stdout_visibility"], "hidden");
  EXPECT_EQ(json["visibility"], "visible");
  EXPECT_EQ(json["output_format"], "text");
  EXPECT_EQ(json["extra_data"]["parts"][1]["part"], 2);
  EXPECT_FALSE(json.contains("leaderboard"));
  std::size_t at = 0;
  for (const PartOutcome& outcome : student.parts) {
    for (std::size_t i = 0; i < outcome.tasks.size(); ++i) {
      const TaskLine& task = outcome.tasks[i];
      const Json& test = json["tests"][at++];
      EXPECT_THAT(test["name"], HasSubstr(task.id + ": " + task.title));
      EXPECT_EQ(test["number"], std::to_string(outcome.part) + "." + std::to_string(i + 1));
      EXPECT_EQ(test["status"], task.verdict == Verdict::pass ? "passed" : "failed");
      EXPECT_NEAR(test["score"], task.score, 0.00501);
      EXPECT_EQ(test["max_score"], task.max_score);
      EXPECT_EQ(test["output_format"], "text");
      EXPECT_EQ(test["visibility"], "visible");
      for (const std::string& code : task.codes) EXPECT_THAT(test["output"], HasSubstr(code));
    }
    if (outcome.part == 1) {
      EXPECT_EQ(json["tests"][at]["score"], 3.5);
      EXPECT_EQ(json["tests"][at++]["max_score"], 5);
    }
  }
  EXPECT_EQ(json["tests"].size(), at);
}

TEST_F(Records, GradescopeGetsTheBandOfAModelledTime) {
  SampleClass sample = one_student();
  for (TaskResult& task : sample.gradings.at(part(sample, 0, 0).grading).tasks) {
    for (Timing& timing : task.timings) {
      timing.time_us = 483;
      timing.modelled = {.low_us = 416, .high_us = 560};
    }
  }
  write(sample);
  EXPECT_THAT(results_json("ada").dump(), HasSubstr("1024^3: 483 us, 420 to 560, "));
}

TEST_F(Records, GradescopeGetsNoScoreAtAllWhenTheGraderFailed) {
  SampleClass sample = one_student();
  make_fault(part(sample, 0, 1));
  write(sample, {.leaderboard = true});
  const Json json = results_json("ada");
  EXPECT_FALSE(json.contains("score"));
  EXPECT_FALSE(json.contains("leaderboard"));
  for (const Json& test : json["tests"]) EXPECT_FALSE(test.contains("score")) << test;
  EXPECT_THAT(json["output"], HasSubstr("Instructor: grade the class again"));
  EXPECT_THAT(json["tests"], Contains(::testing::Truly([](const Json& test) {
                return test["name"] == "Part 2, A decoder layer" && !test.contains("status");
              })));
}

TEST_F(Records, PointsWhoseTasksCannotBeReadAreInTheSumOfTheTestsToo) {
  SampleClass sample = one_student();
  PartOutcome& unread = part(sample, 0, 1);
  part(sample, 0, 0).pending = {{"why_memory_bound", 5}};  // there is no total, but a sum of tests
  const auto sum_of_tests = [&] {
    double sum = 0;
    const Json json = results_json("ada");
    for (const Json& test : json["tests"]) sum += test.value("score", 0.0);
    return sum;
  };
  for (const double keeps : {1.0, 0.5}) {
    unread.keeps = keeps;
    write(sample);
    const double known = sum_of_tests();
    SampleClass damaged = sample;
    part(damaged, 0, 1).tasks.clear();
    part(damaged, 0, 1).tasks_unread = true;
    damaged.gradings.erase(unread.grading);
    EXPECT_THROW(write(damaged), FileError);
    EXPECT_NEAR(sum_of_tests(), known, 0.02);
    EXPECT_THAT(text("junit.xml"), HasSubstr("their details could not be read"));
  }
}

TEST_F(Records, GradescopeGetsALeaderboardWhereOneIsWanted) {
  const SampleClass sample = one_student();
  write(sample, {.leaderboard = true});
  const Json board = results_json("ada")["leaderboard"];
  double efficiency = 0, timed = 0, points = 0;
  for (const PartOutcome& outcome : sample.results.students[0].parts) {
    points += outcome.score + outcome.bonus;
    for (const TaskLine& task : outcome.tasks) {
      if (task.time_us) efficiency += task.efficiency, ++timed;
    }
  }
  EXPECT_NEAR(board[0]["value"], points, 0.00501);
  EXPECT_NEAR(board[1]["value"], 100 * efficiency / timed, 0.00501);
  EXPECT_EQ(board[1]["order"], "desc");
}

TEST_F(Records, JUnitCountsFailuresOfStudentsAndErrorsOfTheGrader) {
  SampleClass sample = one_student();
  make_fault(part(sample, 0, 1));
  write(sample);
  const std::string xml = text("junit.xml");
  int failures = 0;
  for (const TaskLine& task : part(sample, 0, 0).tasks) {
    failures += task.verdict == Verdict::pass ? 0 : 1;
    EXPECT_THAT(xml, HasSubstr("<testcase classname=\"part1\" name=\"" + task.id + "\""));
  }
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"ada\" tests=\"8\" failures=\"" +
                             std::to_string(failures) + "\" errors=\"1\" skipped=\"0\">"));
  EXPECT_THAT(xml,
              HasSubstr("<error type=\"fault\" message=\"the worker was ended by SIGKILL\"/>"));
}

/// Runs python3 on what is fed to it; its exit status, or -1 when there is none.
int python(const std::string& program) {
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0) return -1;
  return std::system(("python3 -c '" + program + "'").c_str());
}

TEST_F(Records, JUnitIsXmlWhateverAnybodyIsCalledOrPrints) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample, {.assignment = hostile_texts()[2] + hostile_texts()[13]});
  const std::string file = (folder() / "out/junit.xml").string();
  const int status = python("import xml.etree.ElementTree as e; r = e.parse(\"" + file +
                            "\").getroot(); assert len(r.findall(\"testsuite\")) == 40; "
                            "assert int(r.get(\"tests\")) == len(r.findall(\".//testcase\")); "
                            "assert int(r.get(\"failures\")) == len(r.findall(\".//failure\")); "
                            "assert int(r.get(\"errors\")) == len(r.findall(\".//error\"))");
  if (status == -1) GTEST_SKIP() << "this needs python3";
  EXPECT_EQ(status, 0);
}

TEST_F(Records, EveryJsonFileIsJsonWhateverAnybodyIsCalledOrPrints) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample, {.leaderboard = true});
  for (const StudentOutcome& student : sample.results.students) {
    const Json json = results_json(student.student.key);
    EXPECT_TRUE(json.contains("tests"));
    EXPECT_EQ(json.dump().find("\\u001b"), std::string::npos);
  }
}

}  // namespace
}  // namespace rooflab
