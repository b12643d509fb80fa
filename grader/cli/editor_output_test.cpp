#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/cli/cli_fixture.h"
#include "grader/spec/files.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kWithoutEnd = "bool broken( {\n";

/// What a task of a part with one task looks like whose file does not compile: it needs no GPU.
class EditorOutputTest : public CliTest {
 protected:
  EditorOutputTest() {
    environment_["ROOFLAB_ROOT"] = ROOFLAB_SOURCE_DIR;
    std::filesystem::create_directories(folder_.path() / "my work");
    std::filesystem::copy(ROOFLAB_SOURCE_DIR "/starter/part0-first-kernel",
                          folder_.path() / "my work/part0-first-kernel");
    write("my work/part0-first-kernel/vector_add.cu", kWithoutEnd);
  }

  Ran grade(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--task", "vector_add", "--device", "sim:a100", "--submission",
                               "my work", "--html", "report.html"});
    return run(more);
  }
};

TEST_F(EditorOutputTest, PrintsDiagnosesAsLinesAndTheReportOnStandardError) {
  const Ran ran = grade({"--problems"});
  EXPECT_EQ(ran.code, 1) << ran.error;
  const Pattern line(R"(my work/part0-first-kernel/vector_add\.cu:1:\d+: error: .* \[RL0101\])");
  std::istringstream lines(ran.out);
  std::string first;
  ASSERT_TRUE(std::getline(lines, first)) << ran.error;
  EXPECT_TRUE(line.fits(first)) << first;
  EXPECT_THAT(ran.error, HasSubstr("Part 0"));
}

TEST_F(EditorOutputTest, WritesSarifOfTheSameDiagnosesAsTheJson) {
  const Ran ran = grade({"--sarif", "out.sarif", "--json", "out.json"});
  EXPECT_EQ(ran.code, 1) << ran.error;
  const json run = json::parse(read_file(folder_.path() / "out.sarif"))["runs"][0];
  const json diagnostic =
      json::parse(read_file(folder_.path() / "out.json"))["tasks"][0]["diagnostics"][0];
  const json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], diagnostic["code"]);
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "part0-first-kernel/vector_add.cu");
  EXPECT_EQ(run["originalUriBaseIds"]["SUBMISSION"]["uri"],
            "file://" + (folder_.path() / "my%20work/").string());
  const json& rule = run["tool"]["driver"]["rules"][0];
  EXPECT_THAT(rule["help"]["markdown"].get<std::string>(), HasSubstr("# RL0101"));
  EXPECT_THAT(rule["helpUri"].get<std::string>(), HasSubstr("handouts/errors/RL0101.md"));
}

TEST_F(EditorOutputTest, ReplacesItsOwnSarifAndNoOtherFile) {
  write("out.sarif", "mine\n");
  expect_refusal({"--task", "vector_add", "--sarif", "out.sarif"}, 2, "--sarif out.sarif");
  EXPECT_EQ(read_file(folder_.path() / "out.sarif"), "mine\n");
  std::filesystem::remove(folder_.path() / "out.sarif");
  grade({"--sarif", "out.sarif"});
  const Ran again = grade({"--sarif", "out.sarif"});
  EXPECT_EQ(again.code, 1) << again.error;
}

TEST_F(EditorOutputTest, RefusesTwoDocumentsOnStandardOutput) {
  expect_refusal({"--part", "0", "--problems", "--json", "-"}, 2, "--problems and --json -");
  expect_refusal({"--part", "0", "--sarif", "-"}, 2, "need a file");
}

}  // namespace
}  // namespace rooflab
