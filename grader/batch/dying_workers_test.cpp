#include "grader/batch/class_fixture.h"
#include "grader/batch/execute/local_executor.h"

// Workers that are real processes, and end in every way but the right one
// (testing/stand_in_worker).
namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class DyingWorkersTest : public ClassFixture {
 protected:
  BatchSummary run(const BatchRequest& request, double limit_s = 60) {
    LocalExecutor executor(
        {.grader = std::filesystem::path(ROOFLAB_BINARY_DIR) / "tests" / "stand_in_worker",
         .jobs = 2});
    BatchWork work = ClassFixture::work();
    work.limit_s = limit_s;
    return Batch(request).run(course_, work, executor, listener_);
  }
  BatchSummary run(double limit_s = 60) { return run(request(), limit_s); }

  /// Of a student, the cells of grades.csv.
  std::string row_of(const std::string& student) const {
    const std::string table = read_file(out() / "grades.csv");
    const std::size_t begin = table.find("\n" + student + ",");
    return begin == std::string::npos
               ? ""
               : table.substr(begin + 1, table.find('\n', begin + 1) - begin - 1);
  }

  void expect_every_output(const std::vector<std::string>& students) const {
    for (const char* name : {"grades.csv", "class.html", "free_text.csv", "hidden_cases.csv"}) {
      EXPECT_TRUE(std::filesystem::exists(out() / name)) << name;
    }
    for (const std::string& student : students) {
      EXPECT_TRUE(std::filesystem::exists(out() / "feedback" / (student + ".html"))) << student;
      EXPECT_TRUE(std::filesystem::exists(out() / "gradescope" / (student + ".json"))) << student;
    }
  }
};

TEST_F(DyingWorkersTest, CostTheirOwnSubmissionsAlone) {
  const std::vector<std::string> troubled = {"dies", "dies half way", "leaves nonsense",
                                             "leaves half"};
  hand_in("ada", "xxxxx xxxxx");
  hand_in("bob", "xx");
  for (const std::string& how : troubled) hand_in("eve " + how, "xxx " + how);
  const BatchSummary summary = run();
  EXPECT_EQ(summary.submitted, 6U);
  EXPECT_EQ(summary.faults, troubled.size());
  EXPECT_FALSE(summary.stopped);
  EXPECT_THAT(grades(),
              UnorderedElementsAre("ada|10", "bob|2", "eve dies|fault", "eve dies half way|fault",
                                   "eve leaves half|fault", "eve leaves nonsense|fault"));
  EXPECT_THAT(query("SELECT DISTINCT state FROM gradings WHERE score IS NOT NULL", 1),
              ElementsAre("graded"));
  EXPECT_THAT(row_of("ada"), HasSubstr(",10,"));
  EXPECT_THAT(row_of("eve dies"), HasSubstr("fault"));
  EXPECT_THAT(listener_.lines,
              Contains(HasSubstr("the grader failed 3 times: the worker was ended by SIGKILL")));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("its worker left a result that cannot be read")));
  expect_every_output({"ada", "bob"});
}

TEST_F(DyingWorkersTest, AThirdTryThatSucceedsIsAGradeLikeAnyOther) {
  hand_in("ada", "xx dies twice");
  EXPECT_EQ(run().faults, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|2"));
}

TEST_F(DyingWorkersTest, OneThatHangsIsEndedAndTheOthersAreGraded) {
  hand_in("ada", "xxxx");
  hand_in("eve", "hangs");
  EXPECT_EQ(run(0.5).faults, 1U);
  EXPECT_THAT(grades(), ElementsAre("ada|4", "eve|fault"));
  EXPECT_THAT(listener_.lines, Contains(HasSubstr("took longer than 0.5 s")));
  expect_every_output({"ada"});
}

TEST_F(DyingWorkersTest, ResumingGoesOnAsIfNothingHadBeen) {
  hand_in("ada", "xx");
  hand_in("eve", "xxx dies");
  run();
  BatchRequest again = request();
  again.resume = true;
  EXPECT_EQ(run(again).faults, 1U) << "a fault stays one until somebody asks for another try";
  EXPECT_THAT(grades(), ElementsAre("ada|2", "eve|fault"));
  hand_in("eve", "xxx mended");
  again.regrade = {"changed"};
  EXPECT_EQ(run(again).faults, 0U);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "eve|3"));
  EXPECT_FALSE(std::filesystem::exists(out() / "work"));
}

TEST_F(DyingWorkersTest, EvidenceThatNobodyCanReadCostsItsOwnDetailsAlone) {
  hand_in("ada", "xxxxx xxxxx");
  hand_in("eve", "xxx");
  run();
  const std::string ada = row_of("ada"), eve = row_of("eve");
  const std::string canvas = read_file(out() / "canvas.csv");
  EXPECT_THAT(eve, HasSubstr(",graded,3,10,"));
  EXPECT_THAT(eve, HasSubstr(",0 of 1,count wrong-answer 3/10,"));
  for (const char* nonsense :
       {"[[[[", "{\"version\":3}", "{\"version\":999}", "\"for_people\":[\"", ""}) {
    {
      Database database(out() / "batch.sqlite");
      Statement(database,
                "UPDATE evidence SET evidence = ? WHERE grading = (SELECT name FROM gradings WHERE "
                "score = "
                "3)")
          .bind(std::string(nonsense) + std::string(100'000, '['))
          .run();
    }
    std::filesystem::remove(out() / "grades.csv");
    std::filesystem::remove_all(out() / "feedback");
    listener_.lines.clear();
    EXPECT_THAT(complaint([&] { run(); }), HasSubstr("grade it again")) << nonsense;
    EXPECT_THAT(listener_.lines,
                Contains(HasSubstr("eve, part 1: the points are known, and what they were given "
                                   "for cannot be read: this is no evidence of a grade")));
    EXPECT_EQ(row_of("ada"), ada);
    std::string expected = eve;
    expected.replace(expected.find("0 of 1,count wrong-answer 3/10"), 30, ",");
    EXPECT_EQ(row_of("eve"), expected) << "its points are what they were";
    EXPECT_EQ(read_file(out() / "canvas.csv"), canvas);
    expect_every_output({"ada", "eve"});
  }
}

}  // namespace
}  // namespace rooflab
