#include "grader/batch/outputs/feedback_archives.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>

#include "grader/batch/outputs/outputs_testing.h"
#include "grader/batch/unpack/read_archive.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class FeedbackArchivesTest : public Outputs {
 protected:
  static SampleClass class_of(Platform platform) {
    SampleClass sample = sample_class(3);
    int number = 0;
    for (StudentOutcome& student : sample.results.students) {
      student.platform = platform;
      ++number;
      student.return_name = platform == Platform::canvas
                                ? fmt::format("{}_{}", 500 + number, 9000 + number)
                                : fmt::format("{}", 500 + number);
    }
    return sample;
  }

  std::map<std::string, std::string> entries(const std::string& archive) const {
    std::map<std::string, std::string> files;
    for (const ArchiveFile& file : read_archive(text(archive))) files[file.path] = file.contents;
    return files;
  }

  std::vector<std::string> names(const std::string& archive) const {
    std::vector<std::string> names;
    for (const auto& [name, contents] : entries(archive)) names.push_back(name);
    return names;
  }

  bool exists(const std::string& name) const { return fs::exists(folder() / "out" / name); }
};

TEST_F(FeedbackArchivesTest, OfCanvasNameUserAndAttachmentAndHoldTheStudentsPage) {
  SampleClass sample = class_of(Platform::canvas);
  sample.results.students[0].student.name = "Lovelace, Ada";
  write(sample);
  const auto files = entries("canvas_feedback.zip");
  ASSERT_EQ(files.size(), 3U);
  const std::string key = sample.results.students[0].student.key;
  EXPECT_EQ(files.at("lovelaceada_501_9001_feedback.html"), text("feedback/" + key + ".html"));
  EXPECT_FALSE(exists("moodle_feedback.zip"));
  EXPECT_FALSE(exists("gradescope_rerun.zip"));
}

TEST_F(FeedbackArchivesTest, OfMoodleNameTheParticipantAndThePluginThatTakesFiles) {
  SampleClass sample = class_of(Platform::moodle);
  sample.results.students[0].student.name = "Ada_von Lovelace";
  write(sample);
  EXPECT_THAT(names("moodle_feedback.zip"),
              AllOf(SizeIs(3), Contains("adavonlovelace_501_assignfeedback_file_feedback.html"),
                    Each(MatchesRegex("[a-z0-9]+_[0-9]+_assignfeedback_file_feedback.html"))));
}

TEST_F(FeedbackArchivesTest, HaveNamesThatHarmNobody) {
  SampleClass sample = class_of(Platform::canvas);
  const std::vector<std::string> hostile{"../../etc/passwd",
                                         "=cmd|' /C calc'!A0",
                                         "12345",
                                         std::string(5000, 'x'),
                                         "..",
                                         "",
                                         "a\\b\x1b[2J",
                                         "漢字"};
  const StudentOutcome model = sample.results.students[0];
  sample.results.students.clear();
  for (const std::string& name : hostile) {
    sample.results.students.push_back(model);
    StudentOutcome& student = sample.results.students.back();
    student.student.name = name;
    student.student.key = fmt::format("key{}", sample.results.students.size());
    student.return_name = fmt::format("7_{}", sample.results.students.size());
  }
  write(sample);
  EXPECT_THAT(names("canvas_feedback.zip"),
              AllOf(SizeIs(hostile.size()),
                    Each(MatchesRegex("[a-z][a-z0-9]{0,46}_7_[0-9]+_feedback.html"))));
}

TEST_F(FeedbackArchivesTest, GoWithTheLastWhoseFeedbackTheyHeld) {
  SampleClass sample = class_of(Platform::moodle);
  write(sample);
  ASSERT_TRUE(exists("moodle_feedback.zip"));
  for (StudentOutcome& student : sample.results.students) student.return_name.clear();
  write(sample);
  EXPECT_FALSE(exists("moodle_feedback.zip"));
}

TEST_F(FeedbackArchivesTest, OfGradescopeAreAnAutograderThatHandsOutTheResult) {
  const SampleClass sample = class_of(Platform::gradescope);
  write(sample);
  const fs::path autograder = folder() / "autograder";
  for (const auto& [name, contents] : entries("gradescope_rerun.zip")) {
    write_file_atomically(autograder / "source" / name, contents);
  }
  ASSERT_TRUE(fs::exists(autograder / "source" / "setup.sh"));
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no Python";
  fs::create_directories(autograder / "results");
  const auto run = [&](const std::string& metadata) {
    write_file_atomically(autograder / "submission_metadata.json", metadata);
    const std::string command = fmt::format(
        "AUTOGRADER_ROOT={0} python3 {0}/source/run_autograder "
        "2> {0}/error",
        autograder.string());
    return WEXITSTATUS(std::system(command.c_str()));
  };
  EXPECT_EQ(run(R"({"id": 502, "assignment": {"id": 501}, "users": [{"id": 503}]})"), 0);
  const std::string key = sample.results.students[1].student.key;
  EXPECT_EQ(read_file(autograder / "results" / "results.json"),
            text("gradescope/" + key + ".json"));

  fs::remove(autograder / "results" / "results.json");
  EXPECT_NE(run(R"({"id": 999, "assignment": {"id": 501}})"), 0);
  EXPECT_FALSE(fs::exists(autograder / "results" / "results.json")) << "no score for who has none";
  EXPECT_THAT(read_file(autograder / "error"), HasSubstr("999 was not graded with the class"));
  EXPECT_NE(run(R"({"id": "../../x"})"), 0);
}

TEST_F(FeedbackArchivesTest, AreTheSameBytesForTheSameClass) {
  const SampleClass sample = class_of(Platform::moodle);
  write(sample);
  const std::string first = text("moodle_feedback.zip");
  write(sample);
  EXPECT_EQ(text("moodle_feedback.zip"), first);
}

TEST_F(FeedbackArchivesTest, AreExplainedWithWhatIsInNone) {
  SampleClass sample = class_of(Platform::canvas);
  sample.results.students[0].return_name.clear();  // of a group
  sample.results.students[1].platform = Platform::none;
  sample.results.students[1].return_name.clear();
  for (StudentOutcome& student : sample.results.students) student.submission = "a";
  EXPECT_THAT(words_about_return(sample.results),
              ElementsAre(HasSubstr("canvas_feedback.zip has the feedback of 1 student;"),
                          HasSubstr("1 student handed in together on Canvas"),
                          HasSubstr("by a name that is none of Canvas's")));
  for (StudentOutcome& student : sample.results.students) student.submission.clear();
  EXPECT_THAT(words_about_return(sample.results), IsEmpty()) << "nobody handed anything in";
}

}  // namespace
}  // namespace rooflab
