#include "grader/batch/outputs/class_analysis.h"

#include <fmt/format.h>

#include "grader/batch/outputs/analysis_page.h"
#include "grader/batch/outputs/count_bar.h"
#include "grader/batch/outputs/outputs_testing.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/contrast_testing.h"
#include "grader/report/html_style.h"
#include "grader/spec/journal.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A class whose gradings are written by hand.
class Analysis : public ::testing::Test {
 protected:
  Analysis() { results_.parts = {{.number = 1, .title = "Metrics", .max_score = 10}}; }

  /// A student who handed in `submission`; empty for one of their own.
  GradeResult& hand_in(const std::string& submission = {}) {
    const std::string key = fmt::format("s{}", results_.students.size());
    StudentOutcome student;
    student.student.key = key;
    student.submission = submission.empty() ? key : submission;
    PartOutcome outcome;
    outcome.part = 1;
    outcome.state = PartState::graded;
    outcome.grading = key;
    student.parts = {outcome};
    results_.students.push_back(student);
    GradeResult& grading = gradings_[key];
    grading.part = 1;
    TaskResult task;
    task.id = "gemv";
    task.score = task.max_score = 10;
    grading.tasks = {task};
    return grading;
  }
  TaskResult& task_handed_in(const std::string& submission = {}) {
    return hand_in(submission).tasks[0];
  }
  void answer(const AnswerResult& answer, double others = 10) {
    TaskResult& task = task_handed_in();
    task.answers = {answer};
    task.groups = {{.name = "peak", .title = "How much?", .max_score = 1}};
    task.max_score = 11;
    task.score = others + (answer.verdict == Verdict::pass ? 1 : 0);
    task.groups[0].score = answer.verdict == Verdict::pass ? 1 : 0;
  }
  PartAnalysis analysed() const {
    return analyse_class(results_, [&](const std::string& name) { return gradings_.at(name); })
        .parts.at(0);
  }
  std::string html() const {
    return part_analysis_html(analysed(), {}, [](SubmissionIndex submission, int) {
      return fmt::format("student {}", submission);
    });
  }

  ClassResults results_;
  std::map<std::string, GradeResult> gradings_;
};

const AnswerResult kRight{.question = "peak", .given = "4096"};
const AnswerResult kHalf{.question = "peak",
                         .verdict = Verdict::wrong_answer,
                         .given = "2048",
                         .cause = "a multiply-add counts as two FLOPs"};

TEST_F(Analysis, PartnersCountOnce) {
  task_handed_in("lab.zip");
  task_handed_in("lab.zip");
  task_handed_in();
  EXPECT_EQ(analysed().submissions, 2U);
  EXPECT_EQ(analysed().tasks[0].passed, 2U);
}

TEST_F(Analysis, PointsAreLostToGroupsAndToSpeed) {
  for (int i = 0; i < 3; ++i) {
    TaskResult& task = task_handed_in();
    task.score = 5;
    task.groups = {{.name = "edges", .title = "odd sizes", .score = 0, .max_score = 4},
                   {.name = "basic", .title = {}, .score = 3, .max_score = 3}};
    Timing timing;
    timing.name = "1024^3";
    timing.points = 2;
    timing.max_points = 3;
    task.timings = {timing};
  }
  EXPECT_THAT(
      analysed().tasks[0].lost,
      ElementsAre(AllOf(Field(&PointsLost::name, "edges"), Field(&PointsLost::points, 12),
                        Field(&PointsLost::submissions, 3U)),
                  AllOf(Field(&PointsLost::name, "speed of 1024^3"),
                        Field(&PointsLost::is_speed, true), Field(&PointsLost::points, 3))));
}

TEST_F(Analysis, OnlyTimesOfTasksThatPassMakeTheMedianEfficiency) {
  for (const auto& [verdict, efficiency] :
       {std::pair(Verdict::pass, 0.2), std::pair(Verdict::pass, 0.4),
        std::pair(Verdict::race, 0.9)}) {
    TaskResult& task = task_handed_in();
    task.verdict = verdict;
    Timing timing;
    timing.name = "1024^3";
    timing.time_us = 1;
    timing.efficiency = efficiency;
    task.timings = {timing};
  }
  EXPECT_THAT(analysed().tasks[0].timed[0].efficiencies, ElementsAre(0.2, 0.4));
}

TEST_F(Analysis, HiddenCasesAreNamedAndMarkedInWords) {
  for (int i = 0; i < 3; ++i) {
    task_handed_in().cases = {{"64 x 64", Verdict::pass, false},
                              {"one <row>", i == 0 ? Verdict::pass : Verdict::race, true}};
  }
  EXPECT_THAT(analysed().tasks[0].cases,
              ElementsAre(AllOf(Field(&CaseFailures::name, "one <row>"),
                                Field(&CaseFailures::is_hidden, true),
                                Field(&CaseFailures::failed, 2U), Field(&CaseFailures::ran, 3U))));
  EXPECT_THAT(html(), AllOf(HasSubstr("<b class=\"hidden\">hidden</b> one &lt;row&gt;"),
                            HasSubstr("2 of 3"), Not(HasSubstr("64 x 64"))));
}

TEST_F(Analysis, NamesThatAStudentGaveToCasesAreNotShownToTheClass) {
  for (int i = 0; i < 3; ++i) {
    TaskResult& task = task_handed_in();
    task.verdict = Verdict::wrong_answer;
    task.cases = {{"ada lovelace is wrong", Verdict::wrong_answer, false}};
    task.tests.emplace();
    for (const char* code : {"RL0617", "RL0618"}) {
      Diagnostic story;
      story.code = *simgpu::Code::parse(code);
      story.message = "the case \"ada lovelace is wrong\" refuses 1 of 2 right implementations";
      task.diagnostics.push_back(story);
    }
  }
  EXPECT_THAT(analysed().tasks[0].cases, IsEmpty());
  EXPECT_THAT(html(), AllOf(Not(HasSubstr("lovelace")),
                            HasSubstr("a case that refuses a right implementation")));
}

TEST_F(Analysis, AnswersAreCountedByWhatBecameOfThem) {
  answer(kRight);
  answer(kHalf);
  answer({.question = "peak",
          .verdict = Verdict::wrong_answer,
          .given = "4.1",
          .is_other_unit = true});
  answer({.question = "peak", .verdict = Verdict::wrong_answer});
  answer({.question = "peak", .verdict = Verdict::not_implemented});
  const QuestionAnalysis question = analysed().questions.at(0);
  EXPECT_EQ(question.right, 1U);
  EXPECT_EQ(question.wrong, 1U);
  EXPECT_EQ(question.other_unit, 1U);
  EXPECT_EQ(question.unreadable, 1U);
  EXPECT_EQ(question.missing, 1U);
  EXPECT_EQ(question.asked(), 5U);
  EXPECT_EQ(question.prompt, "How much?");
}

TEST_F(Analysis, AMisconceptionThatSeveralShareShowsWithItsCause) {
  for (int i = 0; i < 4; ++i) answer(kHalf);
  for (int i = 0; i < 2; ++i) {
    answer({.question = "peak", .verdict = Verdict::wrong_answer, .given = "77"});
  }
  answer({.question = "peak", .verdict = Verdict::wrong_answer, .given = "1"});
  EXPECT_THAT(html(), HasSubstr("4 of 7 answered <b>2048</b> by a known slip: a multiply-add "
                                "counts as two FLOPs"));
  EXPECT_THAT(html(), HasSubstr("2 of 7 answered <b>77</b></p>"));
  EXPECT_THAT(html(), Not(HasSubstr("answered <b>1</b>"))) << "one alone has it";
}

TEST_F(Analysis, WithNumbersOfTheirOwnStudentsShareACause) {
  for (const char* given : {"10", "20", "30"}) {
    AnswerResult own = kHalf;
    own.given = given;
    answer(own);
  }
  EXPECT_THAT(
      analysed().questions[0].shared,
      ElementsAre(AllOf(Field(&SharedAnswer::given, ""), Field(&SharedAnswer::submissions, 3U))));
  EXPECT_THAT(html(), HasSubstr("3 of 3 by a known slip: a multiply-add counts as two FLOPs"));
}

TEST_F(Analysis, AQuestionThatTheGoodHaveRightDiscriminates) {
  for (int i = 0; i < 12; ++i) answer(kRight, 9);
  for (int i = 0; i < 12; ++i) answer(kHalf, 3);
  const auto found = analysed().questions[0].discrimination;
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->correlation, 1, 1e-9);
  EXPECT_NEAR(found->right_share, 0.9, 1e-9);
  EXPECT_NEAR(found->wrong_share, 0.3, 1e-9);
}

TEST_F(Analysis, AQuestionThatTellsNothingHasNoCorrelation) {
  for (int i = 0; i < 24; ++i) answer(i % 2 == 0 ? kRight : kHalf, i % 4 < 2 ? 9 : 3);
  EXPECT_NEAR(analysed().questions[0].discrimination->correlation, 0, 1e-9);
}

TEST_F(Analysis, ASmallClassSaysNothingOfDiscrimination) {
  for (std::size_t i = 0; i + 1 < kLeastForDiscrimination; ++i) answer(i < 10 ? kRight : kHalf, 5);
  EXPECT_FALSE(analysed().questions[0].discrimination);
  EXPECT_THAT(html(), HasSubstr("too few to tell"));
  for (int i = 0; i < 30; ++i) answer(kRight, 9);
  answer(kHalf, 2);
  EXPECT_TRUE(analysed().questions[0].discrimination);
}

TEST_F(Analysis, CodesAreCountedOnceForASubmissionWithTheirPlace) {
  for (int i = 0; i < 3; ++i) {
    Diagnostic story;
    story.code = "RL0401";
    story.message = fmt::format("{} of 64 elements of c are wrong", i + 1);
    story.file = "part1-metrics/gemv.cu";
    story.line = 7;
    TaskResult& task = task_handed_in();
    task.verdict = Verdict::wrong_answer;
    task.diagnostics = {story, story};
  }
  EXPECT_THAT(analysed().tasks[0].codes.at(0).sightings, SizeIs(3));
  EXPECT_THAT(html(), AllOf(HasSubstr("# of # elements of c are wrong <small>3 times</small>"),
                            HasSubstr("student 2 <small>part1-metrics/gemv.cu:7</small>")));
}

TEST_F(Analysis, ATaskThatIsStillATodoIsNoMistake) {
  Diagnostic story;
  story.code = "RL0601";
  TaskResult& task = task_handed_in();
  task.verdict = Verdict::not_implemented;
  task.diagnostics = {story};
  EXPECT_THAT(analysed().tasks[0].codes, IsEmpty());
}

TEST_F(Analysis, AFullJournalDoesNotSayThatATaskNeverPassed) {
  hand_in().journal = Journal{std::vector(
      kMostJournalRuns, JournalRun{.time = 0, .task = "gemv", .verdict = Verdict::race})};
  EXPECT_THAT(analysed().runs, IsEmpty());
}

TEST_F(Analysis, JournalsTellRunsAndHintsUntilATaskPasses) {
  for (int i = 0; i < 3; ++i) {
    JournalRun run{.time = 0, .task = "gemv", .verdict = Verdict::race, .codes = {"RL0301"}};
    Journal journal;
    for (int j = 0; j <= i; ++j) journal.runs.push_back(run);
    run.verdict = i == 2 ? Verdict::race : Verdict::pass;
    run.hints = 2;
    run.codes = {};
    journal.runs.push_back(run);
    hand_in().journal = journal;
  }
  hand_in();  // shares none
  const PartAnalysis part = analysed();
  EXPECT_EQ(part.journals, 3U);
  const JournalAnalysis task = part.runs.at(0);
  EXPECT_EQ(task.students, 3U);
  EXPECT_EQ(task.passed, 2U);
  EXPECT_THAT(task.runs, ElementsAre(2, 3));
  EXPECT_THAT(task.hints, ElementsAre(2, 2));
  EXPECT_EQ(task.codes.at("RL0301"), 3U);
  EXPECT_THAT(html(), HasSubstr("From the journals that 3 of 4 submissions share"));
}

TEST_F(Analysis, AGradingThatCannotBeReadCostsItselfAlone) {
  task_handed_in();
  hand_in();
  gradings_.erase("s1");
  EXPECT_EQ(analysed().submissions, 1U);
}

TEST_F(Outputs, WriteThePageAndTheTableOfWhatTheClassUnderstood) {
  const SampleClass sample = sample_class(40);
  write(sample);
  EXPECT_THAT(text("class.html"), HasSubstr("<a href=\"analysis.html\">"));
  EXPECT_THAT(text("analysis.html"),
              AllOf(HasSubstr("it is for instructors"), HasSubstr("Runs until a task passes"),
                    HasSubstr("answered <b>0.25</b>")));
  EXPECT_THAT(text("analysis.csv"),
              AllOf(HasSubstr("part,kind,task,item,count,of,points lost,median,detail"),
                    HasSubstr("1,shared wrong answer,answers,gemv_intensity,"),
                    HasSubstr("1,hidden case failed,gemv,one row,")));
}

TEST(CountBarTest, SaysInWordsWhatItShowsAndShowsItByAPattern) {
  const std::string bar =
      count_bar("3 <of> 4", {{BarPart::right, 3}, {BarPart::wrong, 1}, {BarPart::none, 0}});
  EXPECT_THAT(bar,
              AllOf(HasSubstr("aria-label=\"3 &lt;of&gt; 4\""),
                    HasSubstr("class=\"right\" x=\"0.0\" y=\"1\" width=\"120.0\""),
                    HasSubstr("fill=\"url(#bar-wrong)\" x=\"120.0\""), Not(HasSubstr("style="))));
  EXPECT_THAT(bar_legend(), AllOf(HasSubstr("id=\"bar-wrong\""), HasSubstr("id=\"bar-almost\"")));
  EXPECT_THAT(count_bar("none", {}), Not(HasSubstr("nan")));
}

TEST(ClassPageStyle, EveryTextHasEnoughContrastInLightAndInDark) {
  EXPECT_THAT(contrast_faults(std::string(kStyleSheet) + kPageStyle + kBarStyle + kAnalysisStyle),
              IsEmpty());
}

}  // namespace
}  // namespace rooflab
