#include "grader/batch/intake/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/batch/intake/csv.h"
#include "grader/batch/intake/fold_name.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string roster_error(std::string_view text) {
  try {
    Roster::parse(text, "r.csv");
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

std::string key_of(const Roster& roster, const StudentHints& hints) {
  const auto student = roster.find(hints);
  return student ? student->key : "nobody";
}

TEST(Roster, ReadsAGradebookOfCanvas) {
  const Roster roster = Roster::parse(
      "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (42)\n"
      ",,,,,Manual Posting\n"
      "    Points Possible,,,,,100\n"
      "\"Lovelace, Ada\",501,s1815,ada,Mon,\n"
      "\"Student, Test\",599,,0f3a,Mon,\n",
      "r.csv");
  ASSERT_EQ(roster.students().size(), 1U);
  const Student& ada = roster.students().front();
  EXPECT_EQ(ada.key, "ada");
  EXPECT_EQ(ada.name, "Lovelace, Ada");
  EXPECT_EQ(ada.canvas_id, "501");
  EXPECT_EQ(ada.sis_id, "s1815");
  EXPECT_EQ(ada.login, "ada");
  EXPECT_EQ(ada.section, "Mon");
  EXPECT_TRUE(ada.on_roster);
}

TEST(Roster, ReadsAWorksheetOfMoodle) {
  const Roster roster = Roster::parse(
      "Identifier,\"Full name\",\"Email address\",Status,Grade\n"
      "\"Participant 1234\",\"Ada Lovelace\",ada@example.org,Submitted,\n",
      "r.csv");
  EXPECT_EQ(roster.students().front().moodle_identifier, "Participant 1234");
  EXPECT_EQ(roster.students().front().key, "ada@example.org");
  EXPECT_EQ(key_of(roster, {.moodle_identifier = "1234"}), "ada@example.org");
}

TEST(Roster, ReadsAGradebookOfBrightspace) {
  const Roster roster = Roster::parse(
      "OrgDefinedId,Username,Last Name,First Name,Email,Lab Points Grade,End-of-Line Indicator\n"
      "#001815,#ada,Lovelace,Ada,ada@example.org,,#\n",
      "r.csv");
  const Student& ada = roster.students().front();
  EXPECT_EQ(ada.key, "ada");
  EXPECT_EQ(ada.login, "ada");
  EXPECT_EQ(ada.sis_id, "001815");
  EXPECT_EQ(ada.name, "Ada Lovelace");
}

TEST(Roster, ReadsARosterOfGradescopeAndPlainTables) {
  const Roster gradescope = Roster::parse(
      "First Name,Last Name,SID,Email,Sections\nAda,Lovelace,1815,ada@example.org,Mon\n", "r.csv");
  EXPECT_EQ(gradescope.students().front().name, "Ada Lovelace");
  EXPECT_EQ(gradescope.students().front().key, "1815");
  const Roster plain =
      Roster::parse("\xEF\xBB\xBFID;Name;E-Mail\r\n7;\"Hopper; Grace\";g@x\r\n;;\r\n", "r.csv");
  ASSERT_EQ(plain.students().size(), 1U);
  EXPECT_EQ(plain.students().front().key, "7");
  EXPECT_EQ(plain.students().front().name, "Hopper; Grace");
  EXPECT_EQ(plain.students().front().email, "g@x");
}

TEST(Roster, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(roster_error(""), AllOf(HasSubstr("r.csv:1: "), HasSubstr("empty")));
  EXPECT_THAT(roster_error("shoe size,colour\n44,red\n"),
              AllOf(HasSubstr("r.csv:1: no column says who"), HasSubstr("shoe size\", \"colour"),
                    HasSubstr("have one called key, id")));
  EXPECT_THAT(roster_error("id,name\n"), HasSubstr("no students"));
  EXPECT_THAT(roster_error("id,name\n7,Ada\n8,Bob\n7,Eve\n"),
              HasSubstr("r.csv:4: \"7\" is the student of line 2 too; remove one"));
  EXPECT_THAT(roster_error("id,name\n7,Ada\n8,Jos\xE9\n"),
              HasSubstr("r.csv:3: the row is not in UTF-8; save the table as"));
  EXPECT_THAT(roster_error("id,section\n7,Mon\n,Tue\n"), HasSubstr("r.csv:3: nothing says who"));
}

class FindTest : public ::testing::Test {
 protected:
  Roster roster_ = Roster::parse(
      "key,name,email,login,student id\n"
      "ada,\"Lovelace, Ada\",ada@x.org,al1,100\n"
      "grace,Grace Brewster Hopper,grace@x.org,gh2,200\n"
      "jose,José Núñez,jose@x.org,jn3,300\n"
      "kim1,Kim Lee,kim1@x.org,k1,400\n"
      "kim2,Kim Lee,kim2@x.org,k2,500\n",
      "r.csv");
};

TEST_F(FindTest, GoesByIdentifiersThenLoginsThenAddressesThenNames) {
  EXPECT_EQ(key_of(roster_, {.name = "Grace Brewster Hopper", .sis_id = "100"}), "ada");
  EXPECT_EQ(key_of(roster_, {.name = "Grace Brewster Hopper", .login = "AL1"}), "ada");
  EXPECT_EQ(key_of(roster_, {.name = "Grace Brewster Hopper", .email = "Ada@X.org"}), "ada");
  EXPECT_EQ(key_of(roster_, {.name = "ada  lovelace"}), "ada");
  EXPECT_EQ(key_of(roster_, {.name = "Hopper, Grace Brewster"}), "grace");
  EXPECT_EQ(key_of(roster_, {.name = "JOSE NUNEZ"}), "jose");
  EXPECT_EQ(key_of(roster_, {.name = "Jose\xCC\x81 Nun\xCC\x83"
                                     "ez"}),
            "jose");
  EXPECT_EQ(key_of(roster_, {.login = "lab1-gh2"}), "grace");
}

TEST_F(FindTest, ReadsNamesAsCanvasWritesThem) {
  EXPECT_EQ(key_of(roster_, {.canvas_name = "lovelaceada"}), "ada");
  EXPECT_EQ(key_of(roster_, {.canvas_name = "hoppergracebrewster"}), "grace");
  EXPECT_EQ(key_of(roster_, {.canvas_name = "núñezjosé"}), "jose");
  EXPECT_EQ(key_of(roster_, {.canvas_name = "adalovelac"}), "nobody");
}

TEST_F(FindTest, FindsNobodyWhereSeveralFitOrHintsDisagree) {
  EXPECT_EQ(key_of(roster_, {}), "nobody");
  EXPECT_EQ(key_of(roster_, {.name = "Kim Lee"}), "nobody");
  EXPECT_EQ(key_of(roster_, {.name = "Kim Lee", .login = "k2"}), "kim2");
  EXPECT_EQ(key_of(roster_, {.login = "gh2", .sis_id = "100"}), "nobody");
  EXPECT_EQ(key_of(roster_, {.email = "grace@x.org", .login = "al1"}), "nobody");
}

TEST(Roster, KnowsWhoIsInAGroupOfCanvas) {
  const Roster roster = Roster::parse(
      "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
      "Ada Lovelace,501,s1,ada,Mon,Group 3,77,\n"
      "Bob Kahn,502,s2,bob,Tue,Group 3,77,\n"
      "Eve Moneypenny,503,s3,eve,Mon,Äpfel & Birnen,78,\n"
      "Zoe Zuse,504,s4,zoe,Mon,,,\n",
      "groups.csv");
  const auto keys = [&](const StudentHints& hints) {
    std::vector<std::string> all;
    for (const Student& student : roster.group_of(hints)) all.push_back(student.key);
    return all;
  };
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(keys({.canvas_id = "77", .canvas_name = "group3"}), ElementsAre("ada", "bob"));
  EXPECT_THAT(keys({.canvas_id = "78", .canvas_name = "äpfelbirnen"}), ElementsAre("eve"));
  EXPECT_THAT(keys({.canvas_id = "9", .canvas_name = "group3"}), IsEmpty()) << "another's number";
  EXPECT_THAT(keys({.canvas_id = "501", .canvas_name = "lovelaceada"}), IsEmpty());
  EXPECT_THAT(keys({.login = "ada"}), IsEmpty()) << "only Canvas calls files after groups";
  EXPECT_EQ(roster.students()[0].canvas_id, "501");
  EXPECT_EQ(roster.students()[0].section, "Mon");
}

TEST(FoldName, LeavesLettersAndDigits) {
  EXPECT_EQ(fold_name("  Łukasz   Størm-Ößæ 2 "), "lukasz storm ossae 2");
  EXPECT_EQ(fold_name("Nguyễn Thị"), "nguyen thi");
  EXPECT_EQ(fold_name("ЛЕВ Τόλης"), "лев τόλης");
  EXPECT_EQ(fold_name("a\xFF"
                      "b\xC3"),
            "a b");
  EXPECT_EQ(fold_letters("O'Brien, Anne"), "obrienanne");
}

TEST(Roster, IsKeptWithTheColumnsThatAreUsedAndNoOthers) {
  const Roster roster = Roster::parse(
      "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (42),Final Score,group_name\n"
      "    Points Possible,,,,,100,100,\n"
      "\"Lovelace, \"\"=Ada\"\"\",501,s1815,ada,Mon,61.25,87.5,Team 1\n",
      "r.csv");
  const std::string kept = roster.kept();
  for (const char* mark : {"61.25", "87.5", "Lab 1", "Final"}) {
    EXPECT_EQ(kept.find(mark), std::string::npos) << mark;
  }
  const auto again = Roster::from_kept(kept);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kept(), kept);
  const Student& ada = again->students().at(0);
  EXPECT_EQ(ada.key, "ada");
  EXPECT_EQ(ada.name, "Lovelace, \"=Ada\"") << "no apostrophe as a table would have";
  EXPECT_EQ(ada.canvas_id, "501");
  EXPECT_EQ(ada.sis_id, "s1815");
  EXPECT_EQ(ada.section, "Mon");
  EXPECT_TRUE(ada.on_roster);
  EXPECT_EQ(again->group_of({.canvas_name = "team1"}).size(), 1U);
}

TEST(Roster, TellsWhatItHasKeptFromATable) {
  for (const char* text : {"", "key,name\nada,Ada\n", "[1]", "{\"key\": \"ada\"}", "[[["}) {
    EXPECT_FALSE(Roster::from_kept(text)) << text;
  }
}

TEST(Roster, GoesOnWithoutAStudentWhoIsForgotten) {
  const Roster roster = Roster::parse("key,group\nada,a\nbob,b\n", "r.csv");
  const Roster rest = roster.without("ada");
  ASSERT_EQ(rest.students().size(), 1U);
  EXPECT_EQ(rest.students()[0].key, "bob");
  EXPECT_EQ(rest.group_of({.canvas_name = "b"}).size(), 1U);
  EXPECT_TRUE(rest.group_of({.canvas_name = "a"}).empty());
}

}  // namespace
}  // namespace rooflab
