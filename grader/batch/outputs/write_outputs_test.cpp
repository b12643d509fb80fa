#include "grader/batch/outputs/write_outputs.h"

#include <cmath>
#include <fstream>
#include <set>
#include <stdexcept>

#include "grader/batch/outputs/gradebooks.h"
#include "grader/batch/outputs/outputs_testing.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;

/// Beside the tables.
const std::set<std::string> kOthersOfTheClass{"class.html", "junit.xml", "analysis.html",
                                              "analysis.csv"};
const std::size_t kFilesOfTheClass = std::size(kClassTables) + kOthersOfTheClass.size();

TEST_F(Outputs, EachStudentHasAFeedbackPageAndAGradescopeFile) {
  const SampleClass sample = sample_class(12);
  write(sample);
  std::set<std::string> expected;
  for (const std::string& file : kOthersOfTheClass) expected.insert("out/" + file);
  for (const ClassTable& table : kClassTables) expected.insert(std::string("out/") + table.file);
  for (const StudentOutcome& student : sample.results.students) {
    expected.insert("out/feedback/" + student.student.key + ".html");
    expected.insert("out/gradescope/" + student.student.key + ".json");
  }
  std::set<std::string> written;
  for (const auto& [name, contents] : files()) written.insert(name);
  EXPECT_EQ(written, expected);
}

TEST_F(Outputs, AreTheSameBytesForTheSameClass) {
  const SampleClass sample = sample_class(12);
  write(sample, {.leaderboard = true});
  const auto first = files();
  write(sample, {.leaderboard = true});
  EXPECT_EQ(files(), first);
}

TEST_F(Outputs, HoldOneGradingAtATime) {
  const SampleClass sample = sample_class(6);
  std::map<std::string, int> loads;
  const LoadGrading counting = [&](const std::string& name) {
    ++loads[name];
    return sample.gradings.at(name);
  };
  write_outputs(folder() / "out", sample.results, counting, sample_gpu(), {});
  EXPECT_EQ(loads.size(), sample.gradings.size());
  for (const auto& [name, count] : loads) EXPECT_EQ(count, 1) << name;
}

TEST_F(Outputs, FilesOfStudentsWhoAreGoneAreRemovedAndThoseOfOthersStay) {
  write(sample_class(5));
  std::ofstream(folder() / "out/feedback/notes.html") << "<p>my own</p>";
  std::ofstream(folder() / "out/gradescope/config.json") << "{}";
  std::ofstream(folder() / "elsewhere.html") << text("feedback/student004.html");
  fs::create_symlink(folder() / "elsewhere.html", folder() / "out/feedback/link.html");
  write(sample_class(3));
  EXPECT_FALSE(fs::exists(folder() / "out/feedback/student004.html"));
  EXPECT_FALSE(fs::exists(folder() / "out/gradescope/student003.json"));
  EXPECT_TRUE(fs::exists(folder() / "out/feedback/student002.html"));
  EXPECT_TRUE(fs::exists(folder() / "out/feedback/notes.html"));
  EXPECT_TRUE(fs::exists(folder() / "out/gradescope/config.json"));
  EXPECT_TRUE(fs::exists(folder() / "out/feedback/link.html"));
  EXPECT_TRUE(fs::exists(folder() / "elsewhere.html"));
}

TEST_F(Outputs, TheRestIsWrittenWhenOneFileCannotBe) {
  fs::create_directories(folder() / "out/grades.csv/taken");
  fs::create_directories(folder() / "out/feedback/student001.html/taken");
  try {
    write(sample_class(3));
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot write"));
    EXPECT_THAT(error.what(), HasSubstr("grades.csv"));
  }
  for (const char* name :
       {"canvas.csv", "moodle.csv", "junit.xml", "class.html", "feedback/student000.html",
        "feedback/student002.html", "gradescope/student001.json"}) {
    EXPECT_TRUE(fs::is_regular_file(folder() / "out" / name)) << name;
  }
}

TEST_F(Outputs, AFolderThatCannotBeMadeIsAFileErrorWithARemedy) {
  std::ofstream(folder() / "out") << "a file";
  try {
    write(sample_class(2));
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("check that the folder exists and may be written to"));
  }
}

TEST_F(Outputs, AGradingThatCannotBeLoadedCostsItsDetailsAlone) {
  const SampleClass sample = one_student();
  const LoadGrading failing = [](const std::string&) -> GradeResult {
    throw std::runtime_error("this is no evidence of a grade");
  };
  try {
    write_outputs(folder() / "out", sample.results, failing, sample_gpu(), {});
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("this is no evidence of a grade; grade it again"));
  }
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("The details of this part could not be read"));
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("gemm_tiled"));
  EXPECT_THAT(text("gradescope/ada.json"), HasSubstr("gemm_tiled"));
}

TEST_F(Outputs, AGradingThatCannotBeDrawnCostsItsDetailsAlone) {
  SampleClass sample = one_student();
  for (auto& [name, grading] : sample.gradings) {
    TaskResult& task = grading.tasks.front();
    task.timings.resize(1);
    task.timings.front().bytes = task.timings.front().flops = task.timings.front().time_us = NAN;
    task.timings.front().time_us = 1;
    task.timings.front().bytes = 1;
  }
  EXPECT_THROW(write(sample), FileError);
  EXPECT_THAT(text("feedback/ada.html"), HasSubstr("The details of this part could not be read"));
}

TEST_F(Outputs, NobodyGetsTheFileOfANamesake) {
  SampleClass sample = sample_class(3);
  sample.results.students[2].student.key = sample.results.students[1].student.key;
  EXPECT_THROW(write(sample), FileError);
  EXPECT_FALSE(fs::exists(folder() / "out/feedback/student001.html"));
  EXPECT_TRUE(fs::exists(folder() / "out/feedback/student000.html"));
}

TEST_F(Outputs, NoFileLiesOutsideOfTheFolderWhateverAnybodyIsCalled) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample);
  EXPECT_EQ(files().size(), kFilesOfTheClass + 2 * 40U);
  for (const auto& [name, contents] : files()) EXPECT_TRUE(name.starts_with("out/")) << name;
}

TEST_F(Outputs, OfAClassWithoutStudentsAreWrittenToo) {
  write(sample_class(0), {.leaderboard = true});
  EXPECT_EQ(files().size(), kFilesOfTheClass);
}

}  // namespace
}  // namespace rooflab
