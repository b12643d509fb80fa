#include "grader/batch/outputs/gradebooks.h"

#include <algorithm>
#include <sstream>

#include "grader/batch/outputs/outputs_testing.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The fields of a line without quotes.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all{""};
  for (const char c : line) {
    if (c == ',') {
      all.emplace_back();
    } else if (c != '\r') {
      all.back() += c;
    }
  }
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST_F(Outputs, GradesHaveARowForEachStudentAndPart) {
  SampleClass sample = sample_class(2);
  part(sample, 1, 0).previous_total = 12;
  part(sample, 1, 0).checkout = "3f2a9c1b7d40, changed";
  make_fault(part(sample, 1, 1));
  write(sample);
  const auto rows = lines(text("grades.csv"));
  ASSERT_EQ(rows.size(), 5U);
  const auto heading = fields(rows[0]);
  const auto column = [&](const std::vector<std::string>& row, const std::string& name) {
    const auto at = std::find(heading.begin(), heading.end(), name);
    return row.at(static_cast<std::size_t>(at - heading.begin()));
  };
  const PartOutcome& graded = part(sample, 1, 0);
  // The lateness and the tasks of these students hold no commas.
  const auto row = fields(rows[3]), fault = fields(rows[4]);
  EXPECT_EQ(column(row, "student"), "student001");
  EXPECT_EQ(column(row, "part"), "1");
  EXPECT_EQ(column(row, "state"), "graded");
  EXPECT_NEAR(std::stod(column(row, "score")), graded.score, 0.00501);
  EXPECT_NEAR(std::stod(column(row, "total")), graded.score + graded.bonus + 3.5, 0.00501);
  EXPECT_EQ(column(row, "manual"), "3.5");
  EXPECT_EQ(column(row, "max total"), "95");
  EXPECT_EQ(column(row, "previous total"), "12");
  EXPECT_THAT(rows[3], HasSubstr(",\"regraded, was 12\","));
  EXPECT_THAT(rows[3], HasSubstr(",\"3f2a9c1b7d40, changed\""));
  EXPECT_NEAR(std::stod(column(row, "change")), graded.total() - 12, 0.00501);
  EXPECT_EQ(column(fault, "state"), "fault");
  EXPECT_EQ(column(fault, "score"), "");
  EXPECT_EQ(column(fault, "total"), "");
  EXPECT_EQ(column(fault, "max total"), "80");
  EXPECT_EQ(column(fault, "why"), "the worker was ended by SIGKILL");
}

TEST_F(Outputs, CanvasGetsItsColumnsAndStudentsOfTheRosterAlone) {
  SampleClass sample = sample_class(3);
  sample.results.students[1].student.on_roster = false;
  make_fault(part(sample, 2, 1));
  part(sample, 2, 0).state = PartState::not_submitted;
  part(sample, 2, 0).score = part(sample, 2, 0).bonus = part(sample, 2, 0).manual = 0;
  sample.results.students[2].student.name = "Nightingale, Florence";
  write(sample, {.assignment = "Lab", .canvas_assignments = {{2, "4711"}}});
  const auto rows = lines(text("canvas.csv"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "Student,ID,SIS User ID,SIS Login ID,Section,Lab part 1,Lab part 2 (4711)\r");
  EXPECT_EQ(rows[1], "\"    Points Possible\",,,,,95,80\r");
  EXPECT_THAT(rows[2], HasSubstr(",1000,700000,student000,Tuesday,"));
  EXPECT_EQ(rows[3], "\"Nightingale, Florence\",1002,700002,student002,Tuesday,0,\r");
}

TEST_F(Outputs, MoodleGetsTheSumAndNothingWhereTheGraderFailed) {
  SampleClass sample = sample_class(2);
  make_fault(part(sample, 1, 1));
  write(sample);
  const auto rows = lines(text("moodle.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[0], HasSubstr("Identifier,Full name,Email address,Grade,Maximum grade,"
                                 "Last modified (grade),Part 1,Part 2,Feedback comments"));
  const double sum = part(sample, 0, 0).total() + part(sample, 0, 1).total();
  const auto whole = fields(rows[1]), failed = fields(rows[2]);
  EXPECT_EQ(whole[0], "Participant 2000");
  EXPECT_NEAR(std::stod(whole[3]), sum, 0.00501);
  EXPECT_NEAR(std::stod(whole[6]), part(sample, 0, 0).total(), 0.00501);
  EXPECT_EQ(whole[4], "175");
  EXPECT_EQ(failed[3], "");
  EXPECT_NE(failed[6], "");
  EXPECT_EQ(failed[7], "");
}

TEST_F(Outputs, BrightspaceGetsAGradeItemForEachPart) {
  SampleClass sample = sample_class(3);
  sample.results.students[1].student.on_roster = false;
  make_fault(part(sample, 0, 1));
  part(sample, 2, 0).score = 17.25;
  part(sample, 2, 0).bonus = part(sample, 2, 0).manual = 0;
  part(sample, 2, 1).state = PartState::not_submitted;
  part(sample, 2, 1).score = part(sample, 2, 1).bonus = part(sample, 2, 1).manual = 0;
  write(sample, {.assignment = "Lab"});
  const auto rows = lines(text("brightspace.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0],
            "OrgDefinedId,Username,Lab part 1 Points Grade,Lab part 2 Points Grade,"
            "End-of-Line Indicator\r");
  const auto failed = fields(rows[1]);
  EXPECT_EQ(failed[0], "700000");
  EXPECT_NEAR(std::stod(failed[2]), part(sample, 0, 0).total(), 0.00501);
  EXPECT_EQ(failed[3], "");
  EXPECT_EQ(rows[2], "700002,student002,17.25,0,#\r");
}

TEST_F(Outputs, RequestsHaveARowEachWithWhoDecidedAndBothScores) {
  SampleClass sample = sample_class(2);
  PartOutcome& outcome = part(sample, 1, 0);
  outcome.score = 16;
  outcome.bonus = 0;
  sample.results.students[1].requests = {{.id = 3,
                                          .part = outcome.part,
                                          .task = "gemm",
                                          .why = "my tile\nis right",
                                          .asked_by = "student001",
                                          .asked_at = 0,
                                          .old_score = 14.5,
                                          .state = RequestState::granted,
                                          .reason = "so it is",
                                          .decided_by = "Ada",
                                          .decided_at = 60,
                                          .regrade = true,
                                          .grading = "g-2"}};
  write(sample);
  const auto rows = lines(text("regrade_requests.csv"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[1], HasSubstr("gemm,my tile is right,student001,1970-01-01 00:00 UTC,granted,so "
                                 "it is,Ada,1970-01-01 00:01 UTC,started,14.5,16"));
  EXPECT_THAT(text("feedback/student001.html"),
              AllOf(HasSubstr("gemm: <b>granted</b>"), HasSubstr("Answer: <bdi>so it is</bdi>")));
  EXPECT_THAT(text("feedback/student000.html"), Not(HasSubstr("Regrade requests")));
}

TEST_F(Outputs, TheCommitThatGradedStandsInNotesAndPages) {
  SampleClass sample = sample_class(2);
  part(sample, 0, 0).checkout = "3f2a9c1b7d40";
  write(sample);
  const std::string key = sample.results.students[0].student.key;
  for (const std::string& name :
       {"feedback/" + key + ".html", "gradescope/" + key + ".json", std::string("moodle.csv"),
        std::string("class.html"), std::string("junit.xml")}) {
    EXPECT_THAT(text(name), HasSubstr("3f2a9c1b7d40")) << name;
  }
}

TEST_F(Outputs, NoFieldOfATableIsAFormulaOrALineOfItsOwn) {
  SampleClass sample = sample_class(40);
  make_hostile(sample);
  write(sample);
  std::size_t rostered = 0, rows = 0;
  for (const StudentOutcome& student : sample.results.students) {
    rostered += student.student.on_roster ? 1 : 0;
    rows += student.parts.size();
  }
  EXPECT_EQ(lines(text("grades.csv")).size(), 1 + rows);
  EXPECT_EQ(lines(text("canvas.csv")).size(), 2 + rostered);
  EXPECT_EQ(lines(text("moodle.csv")).size(), 1 + rostered);
  EXPECT_EQ(lines(text("brightspace.csv")).size(), 1 + rostered);
  for (const ClassTable& table : kClassTables) {
    const std::string written = text(table.file);
    for (const char* formula : {",=", ",@", ",+", ",\"=", ",\"@", ",\"+", "\n=", "\n\"="}) {
      // A comma inside of a field, as those of the hostile texts, is not followed by these.
      EXPECT_EQ(written.find(formula), std::string::npos) << table.file << ": " << formula;
    }
    EXPECT_EQ(written.find_first_of(std::string("\0\x1b\x0b", 3)), std::string::npos) << table.file;
    EXPECT_EQ(written.find("\u202E"), std::string::npos) << table.file;
  }
}

}  // namespace
}  // namespace rooflab
