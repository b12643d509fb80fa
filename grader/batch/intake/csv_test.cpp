#include "grader/batch/intake/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string csv_error(std::string_view text, std::size_t most_rows = 10) {
  try {
    parse_csv(text, "r.csv", most_rows);
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Csv, IsReadAsRfc4180HasIt) {
  EXPECT_THAT(parse_csv("\xEF\xBB\xBFname,note\r\n\"Lovelace, Ada\",\"says \"\"hi\"\"\"\r\n\r\n"
                        "  x ,\n\"two\nlines\",,end",
                        "r.csv"),
              ElementsAre(ElementsAre("name", "note"), ElementsAre("Lovelace, Ada", "says \"hi\""),
                          ElementsAre("  x ", ""), ElementsAre("two\nlines", "", "end")));
  EXPECT_TRUE(parse_csv("", "r.csv").empty());
}

TEST(Csv, RowsKnowTheirLines) {
  const auto rows = parse_csv_rows("a\r\n\r\n\"b\nb\",1\rc\n\"d\"\n", "r.csv");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].line, 1U);
  EXPECT_EQ(rows[1].line, 3U);
  EXPECT_EQ(rows[2].line, 5U);
  EXPECT_EQ(rows[2].fields.front(), "c");
  EXPECT_EQ(rows[3].line, 6U);
}

TEST(Csv, ThatCannotBeReadIsNamedByLine) {
  EXPECT_THAT(csv_error("a,b\n\"never closed,\nx\n"),
              HasSubstr("r.csv:2: a quote is never closed"));
  EXPECT_THAT(csv_error("a\nb\n\"in\"side\n"), HasSubstr("r.csv:3: "));
  EXPECT_THAT(csv_error("\xFF\xFE"
                        "a"),
              HasSubstr("save it as \"CSV UTF-8\""));
  EXPECT_THAT(csv_error("1\n2\n3\n", 2), HasSubstr("more than 2 rows"));
}

TEST(Csv, IsWrittenSoThatItReadsTheSame) {
  const CsvTable table = {{"plain", "a,b", "say \"hi\"", "two\nlines", " spaced ", ""},
                          {"-1.5", "+2e3", "0", "\xFF\x01", "ü"}};
  EXPECT_EQ(parse_csv(to_csv(table), "r.csv"), table);
  const CsvTable marked = {
      {"\xEF\xBB\xBF"
       "begins with a byte order mark"}};
  EXPECT_EQ(parse_csv(to_csv(marked), "r.csv"), marked);
  EXPECT_EQ(to_csv({{"a", "b;c"}, {"-1"}}), "a,\"b;c\"\r\n-1\r\n");
}

TEST(Csv, FormulasBecomeText) {
  for (const char* formula :
       {"=1+1", "+cmd|'x'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "-inf", "+", "-",
        "=HYPERLINK(\"http://x\",\"y\")", "\xEF\xBB\xBF=1", " \xEF\xBB\xBF +1+1"}) {
    const std::string written = parse_csv(to_csv({{formula}}), "r.csv").at(0).at(0);
    EXPECT_EQ(written, std::string("'") + formula);
  }
}

}  // namespace
}  // namespace rooflab
