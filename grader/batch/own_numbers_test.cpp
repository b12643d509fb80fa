#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grader/batch/class_fixture.h"
#include "grader/batch/collect.h"
#include "grader/batch/intake/late_policy.h"
#include "grader/batch/neighbours.h"
#include "grader/batch/right_answers.h"
#include "grader/batch/whose_numbers.h"
#include "grader/pipeline/grade_task.h"
#include "grader/report/evidence.h"
#include "grader/spec/groups.h"

namespace rooflab {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Grades answers as workers do.
class AnswersExecutor : public Executor {
 public:
  AnswersExecutor(const PartSpec& part, std::filesystem::path solutions)
      : part_(part), solutions_(std::move(solutions)) {}

  void run(const std::vector<Job>& jobs, const std::function<void(const JobEnd&)>& ended,
           const std::function<bool()>&) override {
    for (const Job& job : jobs) {
      const JobDescription description = read_job(job.folder);
      GradeRequest request{.submission = sources_of(job.folder),
                           .task = {},
                           .case_number = {},
                           .seed = description.seed,
                           .students = description.students,
                           .solutions = solutions_};
      GradeResult result;
      result.part = description.part;
      result.device = description.device;
      result.seed = description.seed;
      result.tasks = {grade_answers(part_, request, part_.tasks[0])};
      write_result(job.folder, result, "a100", {}, texts_in(sources_of(job.folder), part_),
                   numbers_in(sources_of(job.folder), part_));
      ++graded;
      ended({.name = job.name, .done = true, .why = {}});
    }
  }

  int graded = 0;

 private:
  const PartSpec& part_;
  std::filesystem::path solutions_;
};

/// A class of three whose questions draw numbers: the answer to each is a sixth of its n.
class OwnNumbers : public ClassFixture {
 protected:
  OwnNumbers() {
    TaskSpec task;
    task.id = "answers";
    task.kind = TaskKind::answers;
    task.file = "answers.toml";
    std::string key;
    for (const std::string id : {"first", "second"}) {
      Draw n{.name = "n", .question = id, .page = 600, .values = {}};
      for (int i = 100; i < 9000; ++i) n.values.push_back(i);
      QuestionSpec question{id, QuestionKind::number, "", {}, 1};
      question.draws = {n};
      question.pattern = id + " of {n}?";
      task.questions.push_back(question);
      key += fmt::format(
          "[{}]\nanswer = 100\ntolerance = 0.01\nformula = \"n / 6\"\n"
          "slips = [{{ formula = \"n / 3\", cause = \"a value has four bytes\" }}]\n",
          id);
    }
    task.points = 2;
    complete_groups(task);
    course_.parts[0].tasks = {asked_of(task, 1, ""), course_.parts[0].tasks[0]};
    const auto keys = file("solutions/part1-test/answers.key.toml", key);
    course_.keys[1] = load_answer_key(keys, course_.parts[0].tasks[0]);
  }

  double right(const std::string& question, const std::string& student) const {
    for (const QuestionSpec& one : course_.parts[0].tasks[0].questions) {
      if (one.id == question) return numbers_of(1, one.draws, student).at("n") / 6;
    }
    return 0;
  }

  /// Hands in the right answers of `whose`.
  void answer(const std::string& who, const std::string& whose,
              const std::string& line = "") const {
    hand_in(who,
            fmt::format("{}first = {}\nsecond = {}\n", line, right("first", whose),
                        right("second", whose)),
            "answers.toml");
  }

  BatchSummary grade_class() {
    BatchRequest with_roster = request();
    with_roster.roster = file("roster.csv",
                              "login,email,name\nada,Ada.Lovelace@example.org,Ada\n"
                              "bob,bob@example.org,Bob\ncat,cat@example.org,Cat\n");
    return grade_class(with_roster);
  }
  BatchSummary grade_class(const BatchRequest& request) {
    AnswersExecutor executor(course_.parts[0], folder_.path() / "solutions");
    Batch batch(request);
    const BatchSummary summary = batch.run(course_, work(), executor, listener_);
    graded_ += executor.graded;
    results_ = collect(batch.store(), course_, LatePolicy());
    return summary;
  }

  /// What people are told of a student's answers.
  std::vector<std::string> told_of(const std::string& student) const {
    for (const StudentOutcome& outcome : results_.students) {
      if (outcome.student.key == student) return outcome.parts.at(0).tasks.at(0).for_people;
    }
    return {"nobody of that name"};
  }

  ClassResults results_;
  int graded_ = 0;
};

TEST_F(OwnNumbers, EverybodyOnTheRosterIsGradedWithTheirOwn) {
  answer("ada", "ada");
  answer("bob", "bob");
  hand_in("cat", "first = 100\nsecond = 100\n", "answers.toml");
  grade_class();
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|2", "cat|0"));
  for (const char* student : {"ada", "bob", "cat"}) EXPECT_THAT(told_of(student), IsEmpty());
}

TEST_F(OwnNumbers, EveryNameOfTheRosterCountsWhereTheFileSaysIt) {
  answer("ada", "ada.lovelace@example.org", "student = \"Ada.Lovelace@Example.org\"\n");
  answer("bob", "bob@example.org");
  grade_class();
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|0")) << "without a line the roster's key counts";
}

TEST_F(OwnNumbers, EqualFilesOfTwoStudentsAreTwoGradings) {
  answer("ada", "ada");
  answer("bob", "ada");
  grade_class();
  EXPECT_EQ(graded_, 2);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|0"));
}

TEST_F(OwnNumbers, EqualFilesWithoutAnswersAreOneGrading) {
  hand_in("ada", "xx");
  hand_in("bob", "xx");
  grade_class();
  EXPECT_EQ(graded_, 1);
}

TEST_F(OwnNumbers, WithoutARosterTheyAreThePagesUnlessTheFileNamesItsOwner) {
  hand_in("ada", "first = 100\nsecond = 100\n", "answers.toml");
  answer("bob", "bob", "student = \"bob\"\n");
  answer("cat", "bob", "student = \"bob\"\n");
  grade_class(request());
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|2", "cat|0"));
}

TEST_F(OwnNumbers, AFileThatNamesAnotherIsGradedAsItsOwnersAndShown) {
  answer("ada", "ada", "student = \"ada\"\n");
  answer("bob", "ada", "student = \"ada\"\n");
  grade_class();
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|0"));
  EXPECT_THAT(told_of("bob"), ElementsAre(HasSubstr("that they are those of ada"),
                                          HasSubstr("first, second are wrong here and right with "
                                                    "the numbers of ada, who handed in the same")));
  EXPECT_THAT(told_of("ada"), IsEmpty());
}

TEST_F(OwnNumbers, OneAnswerOfANeighbourIsNotedWhereBothHandedInTheSame) {
  answer("ada", "ada");
  hand_in("bob",
          fmt::format("first = {}\nsecond = {}\n", right("first", "ada"), right("second", "bob")),
          "answers.toml");
  grade_class();
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|1"));
  EXPECT_THAT(told_of("bob"),
              ElementsAre("first is wrong here and right with the numbers of ada, who "
                          "handed in the same number; that can be chance"));
}

TEST_F(OwnNumbers, OneAnswerThatFitsSomebodyWhoHandedInNothingIsNoNote) {
  hand_in("bob", fmt::format("first = {}\nsecond = 1\n", right("first", "ada")), "answers.toml");
  grade_class();
  EXPECT_THAT(told_of("bob"), IsEmpty());
  answer("bob", "ada");
  BatchRequest again = request();
  again.regrade = {"changed"};
  again.roster = folder_.path() / "roster.csv";
  grade_class(again);
  EXPECT_THAT(told_of("bob"), ElementsAre(AllOf(HasSubstr("first, second are wrong here"),
                                                HasSubstr("numbers of ada; that"))));
}

TEST_F(OwnNumbers, WhatHasACauseOfItsOwnIsNoNote) {
  answer("ada", "ada");
  hand_in("bob", fmt::format("first = {}\nsecond = 100\n", 2 * right("first", "bob")),
          "answers.toml");
  hand_in("cat", fmt::format("first = {}\nsecond = 100\n", 2 * right("first", "cat")),
          "answers.toml");
  grade_class();
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|0", "cat|0"));
  EXPECT_THAT(told_of("bob"), IsEmpty());
  EXPECT_THAT(told_of("cat"), IsEmpty());
}

TEST_F(OwnNumbers, NoStudentReadsOfANeighbour) {
  answer("ada", "ada", "student = \"ada\"\n");
  answer("bob", "ada", "student = \"ada\"\n");
  grade_class();
  std::vector<std::string> pages;
  for (const auto& page : files_below(out() / "feedback")) {
    if (read_file(page).find("bob") != std::string::npos) pages.push_back(read_file(page));
  }
  ASSERT_FALSE(pages.empty());
  EXPECT_THAT(pages, Each(AllOf(Not(HasSubstr("those of ada")), Not(HasSubstr("numbers of ada")))));
  EXPECT_THAT(read_file(out() / "class.html"), HasSubstr("right with the numbers of ada"));
}

TEST_F(OwnNumbers, WhoHandsInTogetherHasOneSetOfNumbers) {
  write_file_atomically(submissions() / "submission_metadata.yml",
                        "submission_1:\n  :submitters:\n  - :name: Bob\n  - :name: Ada\n"
                        "  :created_at: 2026-11-21 12:00:00.000000000 Z\n");
  answer("submission_1", "bob");
  grade_class();
  EXPECT_EQ(graded_, 1);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|2")) << "the first whom the platform names";
  EXPECT_THAT(told_of("ada"), IsEmpty());
  answer("submission_1", "ada", "student = \"ada\"\n");
  BatchRequest again = request();
  again.regrade = {"changed"};
  again.roster = folder_.path() / "roster.csv";
  grade_class(again);
  EXPECT_THAT(grades(), ElementsAre("ada|2", "bob|2")) << "the member whom the file names";
}

TEST_F(OwnNumbers, FeedbackHasThePromptsWithTheStudentsNumbers) {
  hand_in("ada", "first = 1\nsecond = 1\n", "answers.toml");
  grade_class();
  const auto pages = files_below(out() / "feedback");
  ASSERT_EQ(pages.size(), 3U);
  const std::string asked = course_.parts[0].tasks[0].questions[0].pattern;
  const double n = 6 * right("first", "ada");
  int found = 0;
  for (const auto& page : pages) {
    found += read_file(page).find(with_numbers(asked, {{"n", n}})) != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(found, 1);
}

TEST_F(OwnNumbers, StaffAreToldWhatWasRightForTheStudent) {
  hand_in("ada", "first = 1\nsecond = 1\n", "answers.toml");
  answer("bob", "bob@example.org", "student = \"bob@example.org\"\n");
  grade_class();
  Store store(out() / "batch.sqlite");
  const auto right_of = [&](const std::string& student) {
    for (const StudentOutcome& one : results_.students) {
      if (one.student.key != student) continue;
      const std::string& grading = one.parts.at(0).grading;
      return right_answers(1, course_.parts[0].tasks[0], course_.keys[1],
                           from_evidence(store.evidence(grading)).tasks.at(0),
                           store.grading(grading)->subject.students);
    }
    return std::optional<RightAnswers>();
  };
  ASSERT_TRUE(right_of("ada") && right_of("bob"));
  EXPECT_EQ(right_of("ada")->student, "ada");
  EXPECT_DOUBLE_EQ(number_in(right_of("ada")->values.at("first")), right("first", "ada"));
  EXPECT_EQ(right_of("bob")->student, "bob@example.org") << "whom the file names";
  EXPECT_DOUBLE_EQ(number_in(right_of("bob")->values.at("second")),
                   right("second", "bob@example.org"));
  for (const auto& page : files_below(out() / "feedback")) {
    EXPECT_THAT(read_file(page), Not(HasSubstr(fmt::format("{:.6g}", right("first", "ada")))))
        << "no student is told";
  }
  course_.parts[0].tasks[0].questions[0].pattern = "another question of {n}?";
  EXPECT_FALSE(right_of("ada")) << "the part has changed since";
}

TEST(IdsOf, AreTheNamesOfTheRosterInTheFormThatIsDrawnFrom) {
  Student ada{.key = "S1815", .name = "Ada", .email = "Ada@Example.org", .login = "ada"};
  EXPECT_THAT(ids_of(ada), ElementsAre("s1815", "ada", "ada@example.org"));
  EXPECT_THAT(ids_of({.key = "x\ny", .name = "Eve"}), IsEmpty());
}

/// A part whose free texts are worth 4 points and 2 of a bonus.
TEST_F(ClassFixture, ABonusAddsItsPointsAndNoMaximumCountsThem) {
  TaskSpec& answers = course_.parts[0].tasks[1];
  answers.questions.push_back({.id = "more",
                               .kind = QuestionKind::text,
                               .prompt = "And?",
                               .choices = {},
                               .points = 2,
                               .bonus = true});
  executor_.ask(course_.parts[0]);
  hand_in("ada", "xxxxxxxxxx");
  hand_in("ada", "why = \"memory\"\nmore = \"launches\"\n", "answers.toml");
  BatchRequest by_hand = request();
  by_hand.manual = file("points.csv", "student,part,item,points\nada,1,why,4\nada,1,more,2\n");
  run(by_hand);
  Batch batch(request());
  const ClassResults results = collect(batch.store(), course_, LatePolicy());
  const PartOutcome& part = results.students.at(0).parts.at(0);
  EXPECT_EQ(results.parts.at(0).max_manual, 4);
  EXPECT_EQ(part.max_manual, 4);
  EXPECT_EQ(part.total(), 16);
  EXPECT_THAT(part.pending, IsEmpty());
  EXPECT_THAT(query("SELECT item, bonus FROM hand_questions ORDER BY position", 2),
              ElementsAre("why|0", "more|1"));
}

}  // namespace
}  // namespace rooflab
