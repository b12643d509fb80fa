#include "grader/batch/intake/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rooflab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable parse_csv(std::string_view text) {
  CsvTable table;
  for (const CsvRow& row : read_csv(text, "r.csv").rows) table.push_back(row.fields);
  return table;
}

std::string csv_error(std::string_view text, std::size_t most_rows = 10) {
  try {
    read_csv(text, "r.csv", {.most_rows = most_rows});
  } catch (const CsvError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Csv, IsReadAsRfc4180HasIt) {
  EXPECT_THAT(parse_csv("\xEF\xBB\xBFname,note\r\n\"Lovelace, Ada\",\"says \"\"hi\"\"\"\r\n\r\n"
                        "  x ,\n\"two\nlines\",,end"),
              ElementsAre(ElementsAre("name", "note"), ElementsAre("Lovelace, Ada", "says \"hi\""),
                          ElementsAre("  x ", ""), ElementsAre("two\nlines", "", "end")));
  EXPECT_TRUE(parse_csv("").empty());
}

TEST(Csv, RowsKnowTheirLines) {
  const auto rows = read_csv("a\r\n\r\n\"b\nb\",1\rc\n\"d\"\n", "r.csv").rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].line, 1U);
  EXPECT_EQ(rows[1].line, 3U);
  EXPECT_EQ(rows[2].line, 5U);
  EXPECT_EQ(rows[2].fields.front(), "c");
  EXPECT_EQ(rows[3].line, 6U);
}

TEST(Csv, TheSeparatorIsFoundInTheFirstRow) {
  EXPECT_EQ(read_csv("a;b;c\n1,5;x;y\n", "r.csv").delimiter, ';');
  EXPECT_EQ(read_csv("a\tb\n1\t2,5;3\n", "r.csv").delimiter, '\t');
  EXPECT_EQ(read_csv("\xEF\xBB\xBF\r\n\"a, b, c\";\"d\"\n", "r.csv").delimiter, ';');
  EXPECT_EQ(read_csv("only\n1;2\n", "r.csv").delimiter, ',');
  EXPECT_THAT(parse_csv("a;\"b\nc;\";d\r\n1;2,5;\r\n"),
              ElementsAre(ElementsAre("a", "b\nc;", "d"), ElementsAre("1", "2,5", "")));
}

TEST(Csv, HeadingsThatAreKnownDecideOverCounts) {
  const auto knows = [](const std::vector<std::string>& row) { return row.front() == "id"; };
  EXPECT_EQ(read_csv("id;name, first, last\n", "r.csv", {.knows = knows}).delimiter, ';');
  EXPECT_EQ(read_csv("id,a;b;c\n", "r.csv", {.knows = knows}).delimiter, ',');
}

TEST(Csv, ExcelsOwnWordOnTheSeparatorIsTaken) {
  const CsvFile file = read_csv("\xEF\xBB\xBFsep=;\r\na, b;c\r\n", "r.csv");
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_THAT(file.rows[0].fields, ElementsAre("a, b", "c"));
  EXPECT_EQ(file.rows[0].line, 2U);
}

TEST(Csv, NumbersAreWrittenAsTheirSpreadsheetWritesThem) {
  EXPECT_EQ(decimal_of("2.5", ','), 2.5);
  EXPECT_EQ(decimal_of("2,5", ';'), 2.5);
  EXPECT_EQ(decimal_of("2.5", '\t'), 2.5);
  for (const char* none : {"", "many", "nan", "inf", "2 5", "1.234,5", "2,5,0"}) {
    EXPECT_EQ(decimal_of(none, ';'), std::nullopt) << none;
  }
  EXPECT_EQ(decimal_of("2,5", ','), std::nullopt) << "it may be two fields that lost their quotes";
}

TEST(Csv, ARowInAnotherEncodingIsNamed) {
  try {
    require_utf8(read_csv("a;b\nx;M\xFCller\n", "r.csv"), "r.csv");
    FAIL() << "nothing was said";
  } catch (const CsvError& error) {
    EXPECT_THAT(error.what(), HasSubstr("r.csv:2: the row is not in UTF-8"));
  }
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
  EXPECT_EQ(parse_csv(to_csv(table)), table);
  const CsvTable marked = {
      {"\xEF\xBB\xBF"
       "begins with a byte order mark"}};
  EXPECT_EQ(parse_csv(to_csv(marked)), marked);
  EXPECT_EQ(to_csv({{"a", "b;c"}, {"-1"}}), "a,\"b;c\"\r\n-1\r\n");
}

TEST(Csv, ARowOfOneEmptyFieldStaysARow) {
  const CsvTable table = {{"name"}, {""}, {"ada"}, {""}};
  EXPECT_EQ(to_csv(table), "name\r\n\"\"\r\nada\r\n\"\"\r\n");
  EXPECT_EQ(parse_csv(to_csv(table)), table);
}

TEST(Csv, FormulasBecomeText) {
  for (const char* formula :
       {"=1+1", "+cmd|'x'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "-inf", "+", "-",
        "=HYPERLINK(\"http://x\",\"y\")", "\xEF\xBB\xBF=1", " \xEF\xBB\xBF +1+1",
        // What East Asian keyboards make of them, and blanks of all sorts before them.
        "\uFF1D1+1", "\uFF0B1+1", "\uFF0D1+1", "\uFF20SUM(A1)", "\uFE661", "\uFE62x", "\uFE63x",
        "\uFE6Bx", "\u3000=1", "\u200B=1", "\u2060\uFF1D1", " \u00A0\t=1", "\n=1", "\r\n=1",
        "\u2003\u3000 @x", "\t\uFF1D1"}) {
    const std::string written = parse_csv(to_csv({{formula}})).at(0).at(0);
    // What a separator of another country makes a cell of its own is kept from being one, too.
    std::string expected = std::string("'") + formula;
    const std::size_t last = expected.find_last_of("\t\r\n");
    if (last != std::string::npos) expected.insert(last + 1, "'");
    EXPECT_EQ(written, expected);
  }
}

TEST(Csv, NoPartOfAFieldIsAFormulaWhereSemicolonsSeparate) {
  EXPECT_EQ(to_csv({{"a;=1+1;-2;-x"}}), "\"a;'=1+1;-2;'-x\"\r\n");
  EXPECT_EQ(to_csv({{"a\n=1\t@x"}}), "\"a\n'=1\t'@x\"\r\n");
  for (const char* field : {"a;=cmd|'/C calc'!A0", "x\t+1+1", "text\n=1", "a;\"=1\"", ";;=1",
                            "a; =1", "a\r\n\uFF1D1", "=1;=2"}) {
    std::string text = to_csv({{"name", field, "end"}});
    std::erase(text, '"');
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(",;\t\r\n", at), text.size());
      const std::string cell = text.substr(at, end - at);
      const std::size_t first = std::min(cell.find_first_not_of(' '), cell.size());
      EXPECT_FALSE(std::string_view("=+-@").find(cell[first]) != std::string_view::npos &&
                   first < cell.size())
          << field << ": " << cell;
      EXPECT_FALSE(cell.starts_with("\uFF1D")) << field;
      at = end + 1;
    }
  }
}

TEST(Csv, WhatIsNoFormulaStaysAsItIs) {
  for (const char* text :
       {"a=1", "-1.5", "+2e3", "\u5F20\u4E09", "'=1", "\u3000name", "1-2", "e@x.org"}) {
    EXPECT_EQ(parse_csv(to_csv({{text}})).at(0).at(0), text);
  }
}

}  // namespace
}  // namespace rooflab
