#include "grader/spec/work_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(WorkLogTest, EachVersionHasAHypothesisACounterAndAResult) {
  const WorkLogText log = read_work_log(
      "# mine\nhypothesis_1 = \"two loads for each multiply-add\"\ncounter_1 = \"sectors per "
      "load\"\n"
      "result_1 = '''as expected:\nL1 limits it'''\n\nhypothesis_3 = \"tiles\"\n");
  ASSERT_THAT(log.entries, SizeIs(2));
  EXPECT_EQ(log.entries[0].version, 1);
  EXPECT_EQ(log.entries[0].counter, "sectors per load");
  EXPECT_EQ(log.entries[0].result, "as expected:\nL1 limits it");
  EXPECT_EQ(log.entries[1].version, 3);
  EXPECT_EQ(entry_of(log, 3).hypothesis, "tiles");
  EXPECT_EQ(entry_of(log, 2).hypothesis, "");
  EXPECT_THAT(log.problems, IsEmpty());
}

TEST(WorkLogTest, AnEntryThatIsStillOpenIsNone) {
  const WorkLogText log = read_work_log("hypothesis_1 = \"\"\ncounter_1 = \"\"\nresult_1 = \"\"\n");
  EXPECT_THAT(log.entries, IsEmpty());
  EXPECT_THAT(log.problems, IsEmpty());
}

TEST(WorkLogTest, ALineThatIsNoEntryCostsNoOther) {
  const WorkLogText log =
      read_work_log("hypotesis_1 = \"x\"\nhypothesis_2 = 12\nhypothesis_3 = \"fine\"\n[log]\n");
  EXPECT_THAT(log.entries, ElementsAre(Field(&WorkLogEntry::hypothesis, "12"),
                                       Field(&WorkLogEntry::hypothesis, "fine")));
  ASSERT_THAT(log.problems, testing::Not(IsEmpty()));
  EXPECT_EQ(log.problems.front().message, "this line is no entry of a work log");
  EXPECT_THAT(log.problems.front().help, HasSubstr("hypothesis_2"));
}

TEST(WorkLogTest, WhatIsNestedOrEndlessIsBounded) {
  EXPECT_THAT(read_work_log("hypothesis_1 = " + std::string(200'000, '[')).entries, SizeIs(1));
  const WorkLogText log = read_work_log("result_1 = \"" + std::string(50'000, 'w') + "\"\n" +
                                        "counter_1 = \"" + std::string(5'000, 'c') + "\"\n");
  ASSERT_THAT(log.entries, SizeIs(1));
  EXPECT_LT(log.entries[0].result.size(), 2'010U);
  EXPECT_LT(log.entries[0].counter.size(), 210U);
}

TEST(WorkLogTest, ATextIsNotCutWithinACharacter) {
  std::string text(1'999, 'w');
  text += "\xE2\x89\xA4 and more";  // a character of three bytes across the bound
  const WorkLogText log = read_work_log("result_1 = \"" + text + "\"\n");
  EXPECT_EQ(log.entries.at(0).result, std::string(1'999, 'w') + " …");
}

TEST(WorkLogTest, VersionsBeyondTheLastAreNoEntries) {
  const WorkLogText log = read_work_log("hypothesis_0 = \"x\"\nhypothesis_100 = \"x\"\n");
  EXPECT_THAT(log.entries, IsEmpty());
  EXPECT_THAT(log.problems, SizeIs(2));
}

TEST(WorkLogTest, AnEntryThatIsAddedIsReadBackWhateverItSays) {
  const std::string text = with_entry("# mine", 2, R"(say "32 x 33" \ and
'''more''')");
  const WorkLogText log = read_work_log(text);
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(entry_of(log, 2).hypothesis, R"(say "32 x 33" \ and '''more''')");
  EXPECT_THAT(text, HasSubstr("# mine\n\nhypothesis_2 = "));
  EXPECT_THAT(text, HasSubstr("\ncounter_2 = \"\"\nresult_2 = \"\"\n"));
}

}  // namespace
}  // namespace rooflab
