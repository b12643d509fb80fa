#include "grader/report/editor_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/problem_lines.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using simgpu::sarif::Level;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const EditorPlaces kPlaces{.folder = "part1-metrics", .files = {{"gemv", "gemv.cu"}}};

GradeResult graded(Diagnostic diagnostic, Verdict verdict = Verdict::race) {
  TaskResult task;
  task.id = "gemv";
  task.verdict = verdict;
  task.diagnostics = {std::move(diagnostic)};
  GradeResult result;
  result.tasks = {task};
  return result;
}

Diagnostic race() {
  return {.code = "RL0302",
          .message = "`partial` is read too early",
          .file = "gemv.cu",
          .line = 16,
          .context = "kernel gemv_kernel",
          .labels = {{"gemv.cu", 16, 5, 3, "    sum += partial[i];", "thread 0 reads"},
                     {"gemv.cu", 14, 3, 7, "  partial[thread] = sum;", "thread 33 writes"}},
          .evidence = {"32 of 32 elements differ"},
          .pattern = {},
          .notes = {"by intervals"},
          .help = "a barrier",
          .commands = {}};
}

TEST(EditorResults, HaveThePlacesOfADiagnosisInOrderWithinTheSubmission) {
  const auto results = editor_results(graded(race()), kPlaces);
  ASSERT_EQ(results.size(), 1);
  ASSERT_EQ(results[0].places.size(), 2);
  EXPECT_EQ(results[0].places[0].file, "part1-metrics/gemv.cu");
  EXPECT_EQ(results[0].places[0].line, 16);
  EXPECT_EQ(results[0].places[0].column, 5);
  EXPECT_EQ(results[0].places[0].length, 3);
  EXPECT_EQ(results[0].places[1].text, "thread 33 writes");
  EXPECT_EQ(results[0].properties.at("task"), "gemv");
  EXPECT_THAT(results[0].details, testing::ElementsAre("32 of 32 elements differ",
                                                       "note: by intervals", "help: a barrier"));
}

TEST(EditorResults, CountCharactersAndNotBytes) {
  Diagnostic diagnostic = race();
  diagnostic.labels[0].excerpt = "/* größe */ x";
  diagnostic.labels[0].column = 1 + std::string("/* größe */ ").size();
  diagnostic.labels[0].length = 1;
  const auto results = editor_results(graded(diagnostic), kPlaces);
  EXPECT_EQ(results[0].places[0].column, 13);
  EXPECT_EQ(results[0].places[0].length, 1);
}

TEST(EditorResults, AreErrorsOnlyWhereATaskFailsByThem) {
  const auto level = [](Diagnostic diagnostic, Verdict verdict) {
    return editor_results(graded(std::move(diagnostic), verdict), kPlaces)[0].level;
  };
  EXPECT_EQ(level(race(), Verdict::race), Level::error);
  EXPECT_EQ(level(race(), Verdict::pass), Level::warning);
  EXPECT_EQ(level(race(), Verdict::not_implemented), Level::warning);
  Diagnostic slow = race();
  slow.code = "RL0501";
  EXPECT_EQ(level(slow, Verdict::pass), Level::note);
}

TEST(EditorResults, StandInTheTasksFileWhereNoPlaceIsKnown) {
  Diagnostic diagnostic = race();
  diagnostic.file.clear();
  diagnostic.line = 0;
  diagnostic.labels.clear();
  const auto results = editor_results(graded(diagnostic), kPlaces);
  ASSERT_EQ(results[0].places.size(), 1);
  EXPECT_EQ(results[0].places[0].file, "part1-metrics/gemv.cu");
  EXPECT_EQ(results[0].places[0].line, 0);
  EXPECT_THAT(problem_lines(results, "starter"), HasSubstr("starter/part1-metrics/gemv.cu:1:1: "));
}

TEST(ProblemLines, AreThoseOfCompilersWithNotesForFurtherPlaces) {
  EXPECT_EQ(problem_lines(editor_results(graded(race()), kPlaces), "starter"),
            "starter/part1-metrics/gemv.cu:16:5: error: `partial` is read too early [RL0302]\n"
            "starter/part1-metrics/gemv.cu:14:3: note: thread 33 writes [RL0302]\n");
}

TEST(ProblemLines, AreOneEachWhateverASubmissionSays) {
  Diagnostic diagnostic = race();
  diagnostic.message = std::string("a\n") + kProblemsEnd + "\nx.cu:1:1: error: b\x1b[31m";
  diagnostic.labels[1].text = "\r\nstarter/y.cu:1:1: error: c [RL0101]\xe2\x80\xa8";
  const std::string lines = problem_lines(editor_results(graded(diagnostic), kPlaces), "starter");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  const Pattern form("(starter/part1-metrics/gemv\\.cu:\\d+:\\d+: (error|note): [^\\n]*\n){2}");
  EXPECT_TRUE(form.fits(lines)) << lines;
  EXPECT_EQ(lines.find('\x1b'), std::string::npos);
}

TEST(ProblemLines, LeaveOutWhatHasNoPlace) {
  Diagnostic diagnostic = race();
  diagnostic.file.clear();
  diagnostic.labels.clear();
  EXPECT_THAT(problem_lines(editor_results(graded(diagnostic), {.folder = "part1"}), "starter"),
              IsEmpty());
}

}  // namespace
}  // namespace rooflab
