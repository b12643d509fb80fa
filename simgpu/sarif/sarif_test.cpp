#include "simgpu/sarif/sarif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace simgpu::sarif {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Page no_page(Code) { return {}; }

json run_of(const Run& run, const std::function<Page(Code)>& page_of = no_page) {
  return json::parse(document_of(run, page_of))["runs"][0];
}

Result race() {
  return {
      .code = "RL0302",
      .level = Level::error,
      .message = "`partial` is read too early",
      .details = {"help: a barrier"},
      .places = {{.file = "part1/gemv.cu", .line = 16, .column = 5, .length = 52, .text = "reads"},
                 {.file = "part1/gemv.cu", .line = 14, .text = "writes"}}};
}

TEST(Sarif, HasOneRunOfTheToolWithItsVersion) {
  const json document = json::parse(document_of({.tool = "grader", .version = "0.1.0"}, no_page));
  EXPECT_EQ(document["version"], "2.1.0");
  EXPECT_THAT(document["$schema"].get<std::string>(), HasSubstr("sarif-schema-2.1.0.json"));
  ASSERT_EQ(document["runs"].size(), 1);
  EXPECT_EQ(document["runs"][0]["tool"]["driver"]["name"], "grader");
  EXPECT_EQ(document["runs"][0]["tool"]["driver"]["version"], "0.1.0");
  EXPECT_TRUE(document["runs"][0]["results"].is_array());
}

TEST(Sarif, PlacesTheResultAndRelatesItsOtherLines) {
  const json run =
      run_of({.tool = "t", .version = "1", .base = "/home/ada/star ter", .results = {race()}});
  EXPECT_EQ(run["originalUriBaseIds"]["SUBMISSION"]["uri"], "file:///home/ada/star%20ter/");
  const json& result = run["results"][0];
  const json& first = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(first["artifactLocation"]["uri"], "part1/gemv.cu");
  EXPECT_EQ(first["artifactLocation"]["uriBaseId"], "SUBMISSION");
  EXPECT_EQ(first["region"], (json{{"startLine", 16}, {"startColumn", 5}, {"endColumn", 57}}));
  ASSERT_EQ(result["relatedLocations"].size(), 1);
  const json& other = result["relatedLocations"][0];
  EXPECT_EQ(other["physicalLocation"]["region"], (json{{"startLine", 14}}));
  EXPECT_EQ(other["message"]["text"], "writes");
}

TEST(Sarif, NamesEachCodeOnceAsARuleWithHelpAndPage) {
  Result bounds = race();
  bounds.code = "RL0201";
  const json run =
      run_of({.tool = "t", .version = "1", .results = {race(), bounds, race()}}, [](Code code) {
        return Page{"file:///p/" + code.text(), "# " + code.text()};
      });
  const json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), 2);
  EXPECT_EQ(rules[0]["id"], "RL0201");
  EXPECT_EQ(rules[0]["helpUri"], "file:///p/RL0201");
  EXPECT_EQ(rules[0]["help"]["markdown"], "# RL0201");
  EXPECT_EQ(rules[0]["help"]["text"], Code("RL0201").help());
  EXPECT_EQ(rules[0]["shortDescription"]["text"], Code("RL0201").meaning());
  for (const json& result : run["results"]) {
    EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
  }
}

TEST(Sarif, GivesAFileAsAWholeWhereNoLineIsKnownAndNoPlaceWhereNoneIs) {
  Result file = race();
  file.places = {{.file = "gemv.cu"}};
  Result nowhere = race();
  nowhere.places.clear();
  const json run = run_of({.tool = "t", .version = "1", .results = {file, nowhere}});
  EXPECT_FALSE(run["results"][0]["locations"][0]["physicalLocation"].contains("region"));
  EXPECT_FALSE(run["results"][1].contains("locations"));
}

TEST(Sarif, TakesNothingInAMessageForAPlaceholderOrALink) {
  Result result = race();
  result.message = "a{0}[click](http://evil.example)";
  const json run = run_of({.tool = "t", .version = "1", .results = {result}});
  const std::string text = run["results"][0]["message"]["text"];
  EXPECT_THAT(text, HasSubstr("a{{0}}"));
  EXPECT_THAT(text, Not(HasSubstr("](")));
  EXPECT_FALSE(run["results"][0]["message"].contains("markdown"));
}

TEST(Sarif, MakesAddressesOfAnyPath) {
  EXPECT_EQ(uri_of("/a b/#x?.cu"), "file:///a%20b/%23x%3F.cu");
  EXPECT_EQ(uri_of("javascript:alert(1)"), "javascript%3Aalert%281%29");
  EXPECT_EQ(uri_of("\xFF.cu"), "%FF.cu");
}

TEST(Sarif, IsJsonWhateverBytesTheTextsHold) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string noise(64, ' ');
    for (char& letter : noise) letter = static_cast<char>(random());
    Result result = race();
    result.message = noise;
    result.details = {noise};
    result.places[0].file = noise;
    result.places[1].text = noise;
    result.properties["task"] = noise;
    const std::string document = document_of(
        {.tool = "t", .version = "1", .base = "/" + noise, .results = {result}}, no_page);
    EXPECT_TRUE(json::accept(document)) << document;
  }
}

}  // namespace
}  // namespace simgpu::sarif
