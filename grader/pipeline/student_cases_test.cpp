#include "grader/pipeline/student_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "grader/guest/call_protocol.h"
#include "grader/pipeline/grade_fixture.h"
#include "labs/guest_support/student_cases.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A case of ScaleOracle.
struct ScaleCall {
  std::string name = "two";
  std::int64_t n = 2;
  std::vector<float> x = {1, 2};
  std::vector<float> y = {2, 4};
  double tolerance = 0.5;
};

/// What an adapter hands on of them.
Values named(const std::vector<ScaleCall>& cases) {
  KeptObjects kept;
  GuestCall call({}, {}, kept);
  StudentCases student(call);
  for (const ScaleCall& one : cases) {
    student.add(one.name, one.tolerance).integer("n", one.n).array("x", one.x).array("y", one.y);
  }
  return call.results();
}

TaskSpec scale_tests() {
  TaskSpec task;
  task.tested.most_cases = 3;
  task.tested.most_elements = 20;
  task.tested.chosen["n"] = {std::int64_t{1}, std::int64_t{8}};
  return task;
}

ReadCases read(const Values& results) {
  return read_student_cases(results, scale_tests(), ScaleOracle());
}

/// Why the cases cannot be run; empty when they can.
std::string objection_to(const Values& results) {
  try {
    read(results);
    return {};
  } catch (const UnusableCases& error) {
    EXPECT_FALSE(error.remedy().empty()) << error.what();
    return error.what();
  }
}
std::string objection_to_case(const ScaleCall& one) { return objection_to(named({one})); }

TEST(StudentCasesTest, ACaseBecomesACallAndWhatIsExpectedOfIt) {
  const auto cases = read(named({{.x = {1.5F, -0.0F}, .y = {3, -0.25F}}})).cases;
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].name, "two");
  EXPECT_EQ(cases[0].chosen, (Values{{"n", std::int64_t{2}}}));
  EXPECT_EQ(cases[0].problem.tensors.at(0).data, bytes_of({1.5F, -0.0F}));
  ASSERT_EQ(cases[0].expected.size(), 1U);
  EXPECT_THAT(cases[0].expected[0].value, ElementsAre(3, -0.25));
  EXPECT_THAT(cases[0].expected[0].tolerance, ElementsAre(0.5, 0.5));
}

TEST(StudentCasesTest, ThereIsACaseAndThereAreNotTooMany) {
  EXPECT_EQ(objection_to(named({})), "there is no case");
  EXPECT_EQ(objection_to(Values{}), "there is no case");
  EXPECT_EQ(objection_to(Values{{"cases", "many"}}), "there is no case");
  EXPECT_EQ(objection_to(Values{{"cases", std::numeric_limits<std::int64_t>::max()}}),
            "there are 9223372036854775807 cases, and 3 are allowed");
}

TEST(StudentCasesTest, EveryCaseHasANameOfItsOwn) {
  EXPECT_EQ(objection_to(named({{}, {}})), "two cases are named \"two\"");
}

TEST(StudentCasesTest, NamesThatLookAlikeAreTheSame) {
  for (const char* right : {"K = 1", "~!\"'<&>", "x"}) {
    EXPECT_EQ(objection_to_case({.name = right}), "") << right;
  }
  for (const std::string& wrong :
       {std::string(), std::string(" two"), std::string("two "), std::string("a  b"),
        std::string("two\u200b"), std::string("\u202etwo"), std::string("\u0442wo"),
        std::string("t\u00e9"), std::string("a\tb"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("\x7f"), std::string("\xff"), std::string(61, 'x'),
        std::string(1 << 21, 'x')}) {
    EXPECT_THAT(objection_to_case({.name = wrong}),
                HasSubstr("case 1 has no name of 1 to 60 characters of ASCII"))
        << wrong.substr(0, 20);
  }
}

TEST(StudentCasesTest, ACaseForWhichNoElementsAreLeftIsLeftOutAlone) {
  const std::vector<float> eight(8);
  const ReadCases read_cases = read(named({{.name = "eight", .n = 8, .x = eight, .y = eight},
                                           {.name = "more", .n = 8, .x = eight, .y = eight},
                                           {.name = "two"}}));
  ASSERT_EQ(read_cases.cases.size(), 2U);
  EXPECT_EQ(read_cases.cases[1].name, "two") << "it still fits";
  ASSERT_EQ(read_cases.left_out.size(), 1U);
  EXPECT_EQ(read_cases.left_out[0].name, "more");
  EXPECT_EQ(read_cases.left_out[0].elements, 16);
  EXPECT_EQ(read_cases.left_out[0].left, 4);
}

TEST(StudentCasesTest, ArraysThatNoReplyHasRoomForAreNamedByTheirNumberOfElements) {
  const std::vector<float> vast(100'000);
  const Values results = named({{.name = "vast", .n = 2, .x = vast}});
  EXPECT_EQ(results.at("0.x"), Value(std::int64_t{100'000}));
  EXPECT_EQ(objection_to(results), "case \"vast\" has 100000 elements for x, which is 2");
  EXPECT_EQ(objection_to_case({.y = vast}), "case \"two\" has 100000 elements for y, which is 2");
}

TEST(StudentCasesTest, AnyNumberOfCasesIsHandedOnWithinAReply) {
  const std::vector<float> large(32'768);
  std::vector<ScaleCall> many(1000, {.x = large, .y = {}});
  const Values results = named(many);
  EXPECT_EQ(objection_to(results), "there are 1000 cases, and 3 are allowed");
  std::size_t bytes = 0;
  for (const auto& [name, value] : results) {
    const auto* text = std::get_if<std::string>(&value);
    bytes += name.size() + (text == nullptr ? 0 : text->size()) + 64;
  }
  EXPECT_LT(bytes, kMaxReplyBytes);
  EXPECT_LT(results.size(), 1000U) << "more than a reply may have";
}

TEST(StudentCasesTest, SizesAreThoseThatTheTaskAllows) {
  EXPECT_EQ(objection_to_case({.n = 9}), "case \"two\" has n = 9");
  EXPECT_EQ(objection_to_case({.n = -1}), "case \"two\" has n = -1");
  Values results = named({{}});
  results["0.n"] = 2.0;
  EXPECT_EQ(objection_to(results), "case \"two\" has n = 2") << "a size is an integer";
  results.erase("0.n");
  EXPECT_EQ(objection_to(results), "case \"two\" has n = nothing");
}

TEST(StudentCasesTest, ArraysHaveTheirShapes) {
  EXPECT_EQ(objection_to_case({.x = {1, 2, 3}}), "case \"two\" has 3 elements for x, which is 2");
  EXPECT_EQ(objection_to_case({.x = {}}), "case \"two\" has 0 elements for x, which is 2");
  EXPECT_EQ(objection_to_case({.y = {1}}), "case \"two\" has 1 elements for y, which is 2");
  Values results = named({{}});
  results["0.x"] = "0000000g00000000";
  EXPECT_THAT(objection_to(results), HasSubstr("0 elements for x"));
  results["0.x"] = "-0000001+0000001";
  EXPECT_THAT(objection_to(results), HasSubstr("0 elements for x"));
}

TEST(StudentCasesTest, WhatIsExpectedIsANumberWithinATolerance) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(objection_to_case({.y = {}}), "case \"two\" expects nothing of any output");
  EXPECT_EQ(objection_to_case({.y = {2, kNaN}}), "case \"two\" expects NaN at element 1 of y");
  EXPECT_EQ(objection_to_case({.y = {2, kInfinity}}), "") << "as the log of nothing is";
  for (const double wrong : {-1.0, double{kNaN}, double{kInfinity}}) {
    EXPECT_THAT(objection_to_case({.tolerance = wrong}), HasSubstr("has no tolerance")) << wrong;
  }
}

}  // namespace
}  // namespace rooflab
