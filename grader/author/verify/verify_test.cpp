#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "grader/author/verify/mistake.h"
#include "grader/author/verify/ran.h"
#include "grader/author/verify/report.h"
#include "grader/author/verify/runner.h"
#include "grader/spec/files.h"

namespace rooflab::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

Result proved(Claim claim) { return {std::move(claim), {}}; }
Result failed(Claim claim, const std::string& story) {
  Result result{std::move(claim), {}};
  result.outcome.failures.push_back({story, "build/bin/grader verify"});
  return result;
}
Result solution(int part, const std::string& gpu, double margin) {
  Result result = proved({.proof = Proof::solution, .part = part, .gpu = gpu});
  result.outcome.margin = margin;
  return result;
}
Result mistake(const std::string& gpu, Recognition recognition, bool held_out = false) {
  Result result = proved({.proof = Proof::mistakes, .part = 1, .gpu = gpu, .name = "one"});
  result.outcome.recognition = recognition;
  result.outcome.held_out = held_out;
  return result;
}

Report two_parts() {
  Report report{.parts = {{1, "Metrics"}, {2, "Roofline model"}}, .gpus = {"a100", "t4"}};
  report.results = {solution(1, "a100", 1.2999),
                    solution(1, "t4", 1.5),
                    solution(2, "a100", 2),
                    failed({.proof = Proof::solution, .part = 2, .gpu = "t4"}, "peaks: too slow"),
                    mistake("a100", Recognition::recognised),
                    mistake("a100", Recognition::wrongly_recognised, true),
                    proved({.proof = Proof::generated}),
                    failed({.proof = Proof::documents, .name = "links"}, "two lead nowhere")};
  Result inapplicable = proved({.proof = Proof::mistakes, .part = 1, .gpu = "t4", .name = "one"});
  inapplicable.outcome.applicable = false;
  inapplicable.outcome.not_applicable = {"gemm_wmma"};
  report.results.push_back(inapplicable);
  report.seconds = 61;
  return report;
}

TEST(MatrixTest, ShowsPartsByProofsAndGpus) {
  EXPECT_EQ(matrix_text(two_parts()),
            R"(                        solution            mistakes
                        a100      t4        a100  t4
Part 1, Metrics         ok 1.29x  ok 1.50x  2/2   n/a
Part 2, Roofline model  ok 2.00x  FAILED 1  -     -

Course, generated               ok
Course, documents: links        FAILED 1

Not applicable: gemm_wmma of part 1 on t4

Mistakes                      all  recognised  unrecognised  wrongly recognised
planted   a100                  1           1             0                   0
held out  a100                  1           0             0                   1

6 of 8 proofs hold, 2 FAILED, 1 not applicable · 1 min 01 s
)");
}

TEST(MatrixTest, Part0IsAPartAndNotTheCourse) {
  Report report{.parts = {{0, "First"}}, .gpus = {"a100"}};
  report.results = {solution(0, "a100", 2), proved({.proof = Proof::generated})};
  const std::string text = matrix_text(report);
  EXPECT_THAT(text, HasSubstr("Part 0, First  ok 2.00x\n"));
  EXPECT_THAT(text, HasSubstr("Course, generated"));
  EXPECT_EQ(describe(report.results[0].claim), "solution of part 0 on a100");
  EXPECT_EQ(describe(report.results[1].claim), "generated");
}

TEST(MatrixTest, BreaksIntoTablesOfAHundredColumns) {
  Report report{.parts = {{1, "Metrics"}}, .gpus = {}};
  for (int i = 0; i < 20; ++i) {
    report.gpus.push_back("gpu" + std::to_string(i));
    report.results.push_back(solution(1, report.gpus.back(), 1.5));
  }
  std::istringstream lines(matrix_text(report));
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100) << line;
    rows += line.starts_with("Part 1") ? 1 : 0;
  }
  EXPECT_EQ(rows, 3);
}

TEST(MatrixTest, LeavesRoomForTheNamesOfProofsOverOneGpu) {
  Report report{.parts = {{1, "Metrics"}}, .gpus = {"t4"}};
  report.results = {proved({.proof = Proof::starter, .part = 1, .gpu = "t4"}),
                    proved({.proof = Proof::solution, .part = 1, .gpu = "t4"})};
  EXPECT_THAT(matrix_text(report), testing::StartsWith("                 starter  solution\n"
                                                       "                 t4       t4\n"
                                                       "Part 1, Metrics  ok       ok\n"));
}

TEST(FailuresTest, TellEachWithTheCommandThatShowsItAgain) {
  EXPECT_EQ(failures_text(two_parts()),
            "FAILED: solution of part 2 on t4\n  peaks: too slow\n"
            "  replay: build/bin/grader verify\n\n"
            "FAILED: documents: links\n  two lead nowhere\n  replay: build/bin/grader verify\n\n");
}

TEST(ReportTest, SaysTheSameAsADocument) {
  const auto document = nlohmann::json::parse(to_json(two_parts()));
  EXPECT_EQ(document.at("proved"), false);
  EXPECT_EQ(document.at("checks").at(3).at("failures").at(0).at("story"), "peaks: too slow");
  EXPECT_EQ(document.at("checks").at(8).at("state"), "not-applicable");
  EXPECT_EQ(document.at("confusion").at("a100").at("planted").at("recognised"), 1);
  EXPECT_EQ(document.at("confusion").at("a100").at("held_out").at("wrongly_recognised"), 1);
}

class RunnerTest : public testing::Test {
 protected:
  static Check shell(const std::string& script) {
    return {.claim = {.proof = Proof::documents, .name = "x"},
            .command =
                [script](const std::filesystem::path& folder) {
                  return std::vector<std::string>{"/bin/sh", "-c", script, "sh", folder.string()};
                },
            .judge =
                [](const Ran& ran) {
                  Outcome outcome;
                  outcome.failures = {{ran.log + ran.end + std::to_string(ran.exit_code) +
                                           (ran.document.is_null() ? "" : ran.document.dump()),
                                       ""}};
                  return outcome;
                }};
  }

  static std::vector<std::string> run(const std::vector<Check>& checks, double limit_s = 60) {
    std::vector<std::string> words;
    for (const Outcome& outcome :
         run_checks(checks, {.jobs = 2, .limit_s = limit_s}, [](const std::string&) {})) {
      words.push_back(outcome.failures.at(0).story);
    }
    return words;
  }
};

TEST_F(RunnerTest, TellsEndsInTheOrderOfTheChecks) {
  EXPECT_THAT(run({shell("sleep 0.2; printf a"), shell("printf b; exit 4"),
                   shell("printf '[7]' > \"$1\"/grade.json")}),
              ElementsAre("a0", "b4", "0[7]"));
}

TEST_F(RunnerTest, TellsWhatACommandDiedOf) {
  EXPECT_THAT(run({shell("kill -KILL $$")}), ElementsAre(HasSubstr("SIGKILL")));
  EXPECT_THAT(run({shell("sleep 60")}, 0.2), ElementsAre(HasSubstr("longer than 0.2 s")));
}

TEST_F(RunnerTest, TakesAnUnusableFileForAFailureAndAnythingElseForAFault) {
  Check unusable = shell("");
  unusable.command = [](const std::filesystem::path&) -> std::vector<std::string> {
    throw SpecError("mistake.toml:3: no");
  };
  const Check garbage = shell("printf '{' > \"$1\"/grade.json");
  const auto outcomes = run_checks({unusable, garbage}, {.jobs = 1}, [](const std::string&) {});
  EXPECT_EQ(outcomes[0].failures.at(0).story, "mistake.toml:3: no");
  EXPECT_FALSE(outcomes[0].fault);
  EXPECT_TRUE(outcomes[1].fault);
}

TEST_F(RunnerTest, TriesATimeLimitAgainAlone) {
  const auto tries = std::make_shared<int>(0);
  Check slow = shell("true");
  slow.judge = [tries](const Ran&) {
    Outcome outcome;
    if (++*tries > 1) return outcome;
    outcome.out_of_time = true;
    outcome.failures.push_back({"no result after 20 s", ""});
    return outcome;
  };
  EXPECT_TRUE(run_checks({slow}, {.jobs = 2}, [](const std::string&) {}).at(0).proved());
  EXPECT_EQ(*tries, 2);
}

class MistakeFileTest : public testing::Test {
 protected:
  MistakeFileTest() : folder_(testing::TempDir()) {
    part_.directory = "part7-test";
    part_.root = folder_.path() / "labs/part7-test";
    part_.tasks.resize(1);
    part_.tasks[0].id = "scale";
    part_.tasks[0].file = "scale.cu";
    part_.tasks[0].uses = {"add.cu"};
    part_.tasks[0].groups = {{"basic", "", 6}, {"edges", "", 4}};
    part_.tasks[0].speeds.resize(1);
    part_.tasks[0].speeds[0].points = 5;
    part_.tasks[0].speeds[0].groups = {"basic"};
    write("solutions/part7-test/scale.cu", "a * 2;\nb * 2;\n");
    write("solutions/part7-test/add.cu", "add\n");
  }
  void write(const std::string& path, const std::string& text) const {
    write_file_atomically(folder_.path() / path, text);
  }
  void plant(const std::string& more) const {
    write("labs/part7-test/mistakes/halves/mistake.toml",
          "task = \"scale\"\nfile = \"scale.cu\"\nverdict = \"wrong-answer\"\ncode = \"RL0401\"\n"
          "max_score = 0\nstory = \"halves\"\n" +
              more);
  }
  std::string submitted() const {
    const auto submission = folder_.path() / "submission";
    write_submission(load_mistakes(part_).at(0), part_, folder_.path() / "solutions", submission);
    EXPECT_EQ(read_file(submission / "part7-test/add.cu"), "add\n");
    return read_file(submission / "part7-test/scale.cu");
  }

  TemporaryFolder folder_;
  PartSpec part_;
};

TEST_F(MistakeFileTest, IsAChangeOfTheSolution) {
  plant("[[edit]]\nfind = \"a * 2\"\nreplace = \"a / 2\"\n");
  EXPECT_EQ(submitted(), "a / 2;\nb * 2;\n");
  EXPECT_FALSE(load_mistakes(part_).at(0).held_out);
}

TEST_F(MistakeFileTest, LosesEveryGroupUnlessItSaysWhich) {
  plant("");
  EXPECT_THAT(load_mistakes(part_).at(0).loses, ElementsAre("basic", "edges"));
  plant("loses = [\"edges\"]\n");
  EXPECT_THAT(load_mistakes(part_).at(0).loses, ElementsAre("edges"));
  write("labs/part7-test/mistakes/halves/mistake.toml",
        "task = \"scale\"\nfile = \"scale.cu\"\nverdict = \"suspect\"\ncode = \"RL0505\"\n"
        "max_score = 10\nstory = \"cheats\"\n");
  EXPECT_THAT(load_mistakes(part_).at(0).loses, IsEmpty()) << "its answers are right";
}

TEST_F(MistakeFileTest, MayEarnWhatTheGroupsThatItKeepsAreWorth) {
  const auto most = [&](const std::string& loses) {
    write("labs/part7-test/mistakes/halves/mistake.toml",
          "task = \"scale\"\nfile = \"scale.cu\"\nverdict = \"wrong-answer\"\ncode = \"RL0401\"\n"
          "story = \"halves\"\n" +
              loses);
    return load_mistakes(part_).at(0).max_score;
  };
  EXPECT_EQ(most(""), 0);
  EXPECT_EQ(most("loses = [\"edges\"]\n"), 6 + 5);
  EXPECT_EQ(most("loses = [\"basic\"]\n"), 4) << "its speed stands on the basic cases";
}

TEST_F(MistakeFileTest, RefusesGroupsThatItCannotLose) {
  const auto refuses = [&](const std::string& loses, const std::string& message) {
    plant("loses = " + loses + "\n");
    EXPECT_THAT([&] { load_mistakes(part_); }, ThrowsMessage<SpecError>(HasSubstr(message)));
  };
  refuses("[\"corners\"]", "has no group \"corners\"");
  refuses("[]", "a failure loses a group at least");
}

TEST_F(MistakeFileTest, MayBeJudgedByAReader) {
  plant("judged = \"wrongly recognised\"\n");
  EXPECT_EQ(load_mistakes(part_).at(0).judged, Recognition::wrongly_recognised);
  plant("judged = \"well\"\n");
  EXPECT_THAT([&] { load_mistakes(part_); },
              ThrowsMessage<SpecError>(HasSubstr("\"well\" is no judgement")));
}

TEST_F(MistakeFileTest, MayLieBesideIt) {
  plant("held_out = true\n");
  write("labs/part7-test/mistakes/halves/scale.cu", "wrong\n");
  EXPECT_EQ(submitted(), "wrong\n");
  EXPECT_TRUE(load_mistakes(part_).at(0).held_out);
}

TEST_F(MistakeFileTest, RefusesAnEditThatFitsNowhereOrTwice) {
  plant("[[edit]]\nfind = \"c * 2\"\nreplace = \"\"\n");
  EXPECT_THAT([&] { submitted(); }, ThrowsMessage<SpecError>(HasSubstr("nowhere")));
  plant("[[edit]]\nfind = \"* 2\"\nreplace = \"\"\n");
  EXPECT_THAT([&] { submitted(); }, ThrowsMessage<SpecError>(HasSubstr("more than once")));
}

TEST_F(MistakeFileTest, RefusesAFolderThatSaysNothing) {
  write("labs/part7-test/mistakes/README.md", "Of all of them.\n");
  EXPECT_THAT(load_mistakes(part_), IsEmpty());
  write("labs/part7-test/mistakes/halves/mistakes.toml", "task = \"scale\"\n");
  EXPECT_THAT([&] { load_mistakes(part_); },
              ThrowsMessage<SpecError>(HasSubstr("halves/mistake.toml")));
}

TEST_F(MistakeFileTest, RefusesWhatItDoesNotKnow) {
  plant("heldout = true\n");
  EXPECT_THAT([&] { load_mistakes(part_); }, ThrowsMessage<SpecError>(HasSubstr("heldout")));
}

}  // namespace
}  // namespace rooflab::verify
