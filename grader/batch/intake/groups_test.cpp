#include "grader/batch/intake/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/batch/intake/csv.h"

namespace rooflab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRoster =
    "key,name,email,login,student id,canvas user id,identifier\n"
    "ada,Ada Lovelace,ada@x.org,ada,1815,71,Participant 31\n"
    "bob,Bob Example,bob@x.org,bob,1905,72,Participant 32\n"
    "eve,Eve Example,eve@x.org,eve,1912,73,Participant 33\n"
    "wei1,Wei Chen,wei1@x.org,wei1,2001,74,\n"
    "wei2,Wei Chen,wei2@x.org,wei2,2002,75,\n";

Groups groups_in(const std::string& text) {
  return Groups::parse(text, "groups.csv", Roster::parse(kRoster, "roster.csv"));
}

std::string groups_error(const std::string& text) {
  try {
    groups_in(text);
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Groups, KnowStudentsByWhateverTheRosterHas) {
  const Groups groups =
      groups_in("group,student\nred,ADA\nred,32\nblue,1912\nblue,wei2@X.org\nblue,74\n");
  EXPECT_THAT(groups.members_of("red"), ElementsAre("ada", "bob"));
  EXPECT_THAT(groups.members_of("blue"), ElementsAre("eve", "wei2", "wei1"));
  EXPECT_EQ(groups.group_of("bob"), "red");
  EXPECT_EQ(groups.group_of("nobody"), "");
  EXPECT_THAT(groups.members_of(""), IsEmpty());
}

TEST(Groups, AreReadWithAnySeparatorAndAnyOrderOfColumns) {
  for (const char* text :
       {"Student;Group\nada;red\nbob;red\n", "group\tlogin\nred\tada\nred\tbob\n",
        "\xEF\xBB\xBFsep=;\nteam;e-mail\nred;ada@x.org\nred;bob@x.org\n"}) {
    EXPECT_THAT(groups_in(text).members_of("red"), ElementsAre("ada", "bob")) << text;
  }
}

TEST(Groups, AreReadAsCanvasExportsThem) {
  const Groups groups = groups_in(
      "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,sis_group_id\n"
      "Wei Chen,75,2002,wei2,A,Team 1,9,\nAda Lovelace,71,1815,ada,A,Team 1,9,\n"
      "Bob Example,72,1905,bob,A,,,\n");
  EXPECT_THAT(groups.members_of("Team 1"), ElementsAre("wei2", "ada"));
  EXPECT_EQ(groups.group_of("bob"), "") << "who works alone has an empty group";
}

TEST(Groups, WithAnErrorAreRefusedByLine) {
  EXPECT_THAT(groups_error("group,student\nred,ada\nblue,ADA\n"),
              AllOf(HasSubstr("groups.csv:3: ada is in a group already, red, by line 2"),
                    HasSubstr("remove one")));
  EXPECT_THAT(groups_error("group,student\nred,ada\n\nred,mallory\n"),
              AllOf(HasSubstr("groups.csv:4: \"mallory\" is nobody on the roster"),
                    HasSubstr("write a key")));
  EXPECT_THAT(groups_error("group,student\nred,Wei Chen\n"), HasSubstr("or several"));
  EXPECT_THAT(groups_error("group,login,email\nred,ada,bob@x.org\n"),
              HasSubstr("groups.csv:2: the row means both"));
  EXPECT_THAT(groups_error("group,student\nred,\n"), HasSubstr("nothing says who is in group red"));
  EXPECT_THAT(groups_error(""), HasSubstr("groups.csv:1: the table of groups is empty"));
  EXPECT_THAT(groups_error("group,student\n"), HasSubstr("headings, but no groups"));
  EXPECT_THAT(groups_error("ada,bob\n"), HasSubstr("name the columns group and student"));
}

TEST(Groups, OfHostileNamesAreRefusedOnOneShortLine) {
  const std::string name = "a\x1b[2J\u202e" + std::string(100'000, 'x');
  const std::string error = groups_error("group,student\nred," + name + "\n");
  EXPECT_LT(error.size(), 400U);
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

TEST(Groups, AreKeptByKeysAlone) {
  const Groups groups = groups_in("group,email\n\"re\"\"d\",ada@x.org\n\"re\"\"d\",bob@x.org\n");
  EXPECT_EQ(groups.kept().find("@x.org"), std::string::npos);
  const Groups again = Groups::from_kept(groups.kept());
  EXPECT_THAT(again.members_of("re\"d"), ElementsAre("ada", "bob"));
  EXPECT_EQ(again.group_of("bob"), "re\"d");
  EXPECT_EQ(Groups::from_kept("[1]").group_of("bob"), "");
  EXPECT_EQ(Groups::from_kept("").group_of("bob"), "");
}

TEST(Groups, GoOnWithoutAStudentWhoIsForgotten) {
  const Groups rest = groups_in("group,student\nred,ada\nred,bob\nblue,eve\n").without("ada");
  EXPECT_EQ(rest.kept(), R"({"blue":["eve"],"red":["bob"]})");
  EXPECT_EQ(rest.without("eve").without("nobody").kept(), R"({"red":["bob"]})");
}

}  // namespace
}  // namespace rooflab
