#include "grader/spec/draws.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace rooflab {
namespace {

using testing::Contains;

/// 0, 100, … of `count` numbers, and a page that has another.
Draw draw_of(const std::string& question, const std::string& name, int count) {
  Draw draw{.name = name, .question = question, .page = -1, .values = {}};
  for (int i = 0; i < count; ++i) draw.values.push_back(100.0 * i);
  return draw;
}

std::string student(int number) { return fmt::format("s{:04}", number); }

double number_of(int part, const Draw& draw, const std::string& student) {
  return numbers_of(part, {draw}, student).at(draw.name);
}

TEST(DrawsTest, WithoutAStudentTheNumbersAreThePages) {
  EXPECT_EQ(number_of(1, draw_of("ridge", "n", 7), ""), -1);
}

TEST(DrawsTest, EveryStudentGetsOneOfTheValues) {
  const Draw draw = draw_of("ridge", "n", 7);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THAT(draw.values, Contains(number_of(1, draw, student(i))));
  }
}

TEST(DrawsTest, EachValueIsAsLikelyAsAnyOther) {
  constexpr int kStudents = 1000, kValues = 10;
  for (const char* name : {"n", "m", "bandwidth"}) {
    std::map<double, int> counts;
    for (int i = 0; i < kStudents; ++i) {
      ++counts[number_of(1, draw_of("ridge", name, kValues), student(i))];
    }
    double chi_square = 0;
    const double expected = double{kStudents} / kValues;
    ASSERT_EQ(counts.size(), kValues);
    for (const auto& [value, count] : counts) {
      chi_square += (count - expected) * (count - expected) / expected;
    }
    EXPECT_LT(chi_square, 27.9) << name;  // 9 degrees of freedom: exceeded once in a thousand
  }
}

TEST(DrawsTest, PartQuestionNameAndStudentEachMakeAnotherDraw) {
  const Draw draw = draw_of("ridge", "n", 5000);
  const double number = number_of(1, draw, "ada");
  EXPECT_NE(number_of(2, draw, "ada"), number);
  EXPECT_NE(number_of(1, draw_of("roof", "n", 5000), "ada"), number);
  EXPECT_NE(number_of(1, draw_of("ridge", "m", 5000), "ada"), number);
  EXPECT_NE(number_of(1, draw, "bob"), number);
}

TEST(DrawsTest, NumbersOfOneStudentDoNotGoTogether) {
  const Draw n = draw_of("ridge", "n", 2), m = draw_of("ridge", "m", 2);
  int alike = 0;
  for (int i = 0; i < 1000; ++i) {
    const NamedNumbers numbers = numbers_of(1, {n, m}, student(i));
    alike += numbers.at("n") == numbers.at("m") ? 1 : 0;
  }
  EXPECT_GT(alike, 440);
  EXPECT_LT(alike, 560);
}

// Students have worked out their answers: a change of these would take their points.
TEST(DrawsTest, TheDrawIsTheSameForever) {
  const Draw draw = draw_of("gemm_intensity", "n", 1000);
  EXPECT_EQ(number_of(1, draw, "ada"), 10200);
  EXPECT_EQ(number_of(1, draw, "ada.lovelace@example.org"), 80300);
  EXPECT_EQ(number_of(5, draw, "s1815"), 82200);
}

TEST(DrawsTest, AQuestionMayShareTheNumberOfAnother) {
  const Draw shared = draw_of("ridge", "bandwidth", 100);
  EXPECT_EQ(numbers_of(1, {shared, draw_of("other", "n", 9)}, "ada").at("bandwidth"),
            number_of(1, shared, "ada"));
}

TEST(DrawsTest, AnIdIsFoldedInCaseAndBlanks) {
  EXPECT_EQ(student_id("  Ada@Example.ORG\t\n"), "ada@example.org");
  EXPECT_EQ(student_id("0042"), "0042");
  EXPECT_EQ(student_id("Zoë Ångström"), "zoë Ångström");
  EXPECT_EQ(student_id(std::string(100, 'a')), std::string(100, 'a'));
}

TEST(DrawsTest, HostileIdsAreNone) {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {""s, "   "s, std::string(101, 'a'), "a\nb"s, "a\0b"s, "\x1b[31mred"s, "a\x7f"s, "\xff\xfe"s,
        "\xc3"s, "\xc0\xaf"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s, "\xe2\x82"s, "a\xc2\x85"s,
        std::string(1'000'000, '\n')}) {
    EXPECT_EQ(student_id(text), std::nullopt) << testing::PrintToString(text.substr(0, 20));
  }
}

TEST(DrawsTest, IdsThatLookLikeOtherTextsDrawLikeAnyOther) {
  const Draw draw = draw_of("ridge", "n", 1000);
  std::set<double> numbers;
  for (const char* id : {"../../etc/passwd", "'; drop table students; --", "{n}", "$(reboot)",
                         "%s%n", "<script>", "1\\nridge\\nn\\nbob", "=1+1"}) {
    ASSERT_EQ(student_id(id).value_or("none"), std::string(id));
    numbers.insert(number_of(1, draw, id));
  }
  EXPECT_EQ(numbers.size(), 8U);
}

TEST(DrawsTest, APromptHasItsNumbersAsPeopleWriteThem) {
  const NamedNumbers numbers = {
      {"n", 1700}, {"tokens", 16384}, {"peak", 24.8}, {"bytes", 1234567}, {"shift", -20000}};
  EXPECT_EQ(with_numbers("{n} x {n}", numbers), "1700 x 1700");
  EXPECT_EQ(with_numbers("{tokens}, {bytes}, {shift}", numbers), "16,384, 1,234,567, -20,000");
  EXPECT_EQ(with_numbers("{peak} TFLOP/s", numbers), "24.8 TFLOP/s");
  EXPECT_EQ(with_numbers("{other} {", numbers), "{other} {");
  EXPECT_EQ(with_numbers("{n}", {}), "{n}");
}

}  // namespace
}  // namespace rooflab
