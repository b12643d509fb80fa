#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/cli/cli_fixture.h"
#include "grader/spec/draws.h"
#include "grader/spec/files.h"
#include "grader/spec/pattern.h"
#include "labs/toolkit/testing/trace_rules.h"

namespace rooflab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(CliTest, ListsPartsAndTasks) {
  const Ran parts = run({"list"});
  EXPECT_EQ(parts.code, 0) << parts.error;
  EXPECT_THAT(parts.out, HasSubstr("Part 7  Test part"));
  EXPECT_THAT(parts.out, HasSubstr("1 task, 5 points"));
  const Ran tasks = run({"--part", "7", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("case 1  square  n = 3"));
}

TEST_F(CliTest, ListsATimedCaseWithItsName) {
  write("labs/part8-timed/part.toml", R"(number = 8
title = "Timed part"
[[task]]
id = "scale"
title = "Scale"
kind = "kernel"
file = "scale.cu"
entry = "scale"
oracle = "scale"
points = 5
hints = ["first", "second", "third"]
[[task.case]]
name = "four"
parameters = { n = 4 }
[[task.speed]]
name = "2^20"
points = 0
parameters = { n = 1048576 }
)");
  const Ran tasks = run({"--part", "8", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("case 1  four  n = 4"));
  EXPECT_THAT(tasks.out, HasSubstr("timed  2^20  n = 1048576"));
}

TEST_F(CliTest, ListsGroupsOfCasesWithTheirPoints) {
  write("labs/part8-groups/part.toml", R"(number = 8
title = "Groups"
[[task]]
id = "scale"
title = "Scale"
kind = "kernel"
file = "scale.cu"
entry = "scale"
oracle = "scale"
points = 5
hints = ["first", "second", "third"]
[[task.group]]
name = "basic"
points = 3.5
title = "whole tiles"
[[task.group]]
name = "edges"
points = 1.5
[[task.case]]
name = "four"
group = "basic"
parameters = { n = 4 }
[[task.case]]
name = "five"
group = "edges"
parameters = { n = 5 }
[[task.case]]
name = "n = 6"
group = "edges"
parameters = { n = 6 }
)");
  const Ran tasks = run({"--part", "8", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("group  basic  3.5 points: whole tiles"));
  EXPECT_THAT(tasks.out, HasSubstr("group  edges  1.5 points\n"));
  EXPECT_THAT(tasks.out, HasSubstr("case 2  five   n = 5  (edges)"));
  EXPECT_THAT(tasks.out, HasSubstr("case 3  n = 6  (edges)\n"))
      << "what the name says is not said twice";
}

TEST_F(CliTest, ListsWhatACaseOfAStudentsTestsMayBe) {
  write("labs/part8-tests/part.toml", R"(number = 8
title = "Tests"
[[task]]
id = "scale_tests"
title = "Tests of scale"
kind = "tests"
file = "scale_tests.cpp"
entry = "scale_tests"
oracle = "scale"
points = 5
hints = ["first", "second", "third"]
[task.tested]
most_cases = 4
most_elements = 100
chosen.n = { low = 1, high = 9 }
[[task.group]]
name = "right"
points = 1
[[task.group]]
name = "edges"
points = 4
title = "odd lengths"
question = "Is every length even?"
)");
  const Ran tasks = run({"--part", "8", "--list"});
  EXPECT_EQ(tasks.code, 0) << tasks.error;
  EXPECT_THAT(tasks.out, HasSubstr("group  edges  4 points: odd lengths"));
  EXPECT_THAT(tasks.out, HasSubstr("parameter  n      1 to 9"));
  EXPECT_THAT(tasks.out, HasSubstr("cases  yours  at most 4"));
}

TEST_F(CliTest, HelpIsNoError) {
  const Ran help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("--submission"));
  EXPECT_LT(help.out.find("  explain "), help.out.find("Commands for those who teach"));
  EXPECT_GT(help.out.find("  batch "), help.out.find("Commands for those who teach"));
}

TEST_F(CliTest, TellsTheVersionThatTheChangelogEndsWith) {
  const Ran version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  const std::string number = version.out.substr(std::string("rooflab ").size(), 5);
  EXPECT_EQ(version.out, "rooflab " + number + "\n");
  std::ifstream changelog(ROOFLAB_SOURCE_DIR "/CHANGELOG.md");
  std::string heading;
  while (std::getline(changelog, heading) && !heading.starts_with("## ")) {
  }
  if (heading == "## Unreleased") {
    while (std::getline(changelog, heading) && !heading.starts_with("## ")) {
    }
  }
  EXPECT_THAT(heading, StartsWith("## " + number + ", 20"));
}

TEST_F(CliTest, ASeedOfMoreDigitsThanThereAreIsRefused) {
  for (const char* seed : {"99999999999999999999999", "18446744073709551616", "-1", "1.5", "0x",
                           "0x123456789012345678901234567890123", ""}) {
    expect_refusal({"--part", "7", "--seed", seed}, 2, "a seed is a whole number from 0 to");
  }
}

// What was typed may come from a file's name or a web page.
TEST_F(CliTest, ErrorsRepeatNoControlCharacters) {
  const std::string text = "x\x1b[2J\x1b]0;title\x07\r\x7f\xc2\x9b\xff\u202E";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--task", text},
                                             {"--part", "7", "--task", text},
                                             {"--part", text},
                                             {"--part", "7", "--submission", text},
                                             {"--part", "7", "--device", text},
                                             {"--part", "7", "--device", "sim:" + text},
                                             {"--part", "7", "--seed", text},
                                             {"--" + text},
                                             {text},
                                             {"explain", text},
                                             {"roofline", "--gpu", text},
                                             {"batch", text, "--out", "out", "--part", "7"},
                                             {"review", text},
                                             {"verify", "--only", text},
                                             {"release", "--out", text}}) {
    const Ran ran = run(words);
    EXPECT_NE(ran.code, 0) << words.front();
    for (const std::string& said : {ran.out, ran.error}) {
      EXPECT_EQ(said.find_first_of("\x1b\x07\r\x7f\xff"), std::string::npos) << words.front();
      EXPECT_EQ(said.find("\xc2\x9b"), std::string::npos) << words.front();
      EXPECT_EQ(said.find("\u202E"), std::string::npos) << words.front();
    }
  }
}

TEST_F(CliTest, UnusableCommandLinesExitWith2) {
  expect_refusal({"review"}, 2, "DIR is required");
  expect_refusal({"review", "nowhere"}, 2, "grad");  // what is missing: a class, or a library
  expect_refusal({"review", "nowhere", "--port", "0"}, 2, "--port");
  expect_refusal({"--part", "7", "--causes", "some"}, 2, "see grader --help");
  expect_refusal({"--seed", "1"}, 2, "name a part, as in grader --part 1; see grader --help");
  expect_refusal({"--part", "one"}, 2, "see grader --help");
  expect_refusal({"--part", "-1"}, 2, "see grader --help");
  expect_refusal({"--prat", "1"}, 2, "see grader --help");
  expect_refusal({"--part", "7", "--hint"}, 2, "--hint wants --task");
  expect_refusal({"--part", "7", "--case", "1"}, 2, "name it with --task");
  expect_refusal({"--part", "7", "--watch", "--json", "-"}, 2, "leave one out");
  expect_refusal({"starter"}, 2, "--write or --check");
  expect_refusal({"--part", "9"}, 2, "there is no part 9; the parts are 7");
  expect_refusal({"--part", "7", "--list", "--task", "cuont"}, 2,
                 "part 7 has no task cuont; its tasks are count");
  expect_refusal({"--part", "7", "--device", "gpu"}, 2, "gpu");
  expect_refusal({"--part", "7", "--device", "sim:b999"}, 2, "b999");
  expect_refusal({"roofline", "--gpu", "b999"}, 2, "b999");
}

TEST_F(CliTest, BrokenInstallationsExitWith3) {
  write("labs/part7-test/part.toml", "number = 7\ntitle = 3\n");
  expect_refusal({"--part", "7"}, 3, "part.toml:2: part: `title` is an integer; write a string");
  environment_["ROOFLAB_ROOT"] = folder_.path() / "nowhere";
  expect_refusal({"list"}, 3,
                 "has no folder labs/; run the grader from its checkout or set ROOFLAB_ROOT");
}

TEST_F(CliTest, MissingCompilerExitsWith3AndSaysHowToGetOne) {
  environment_["ROOFLAB_NVCC"] = "/nowhere/nvcc";
  expect_refusal({"--part", "7"}, 3,
                 "ROOFLAB_NVCC names /nowhere/nvcc, which is no program; correct or unset it");
}

TEST_F(CliTest, HintsComeOneAtATimeAndTheLastOneStays) {
  write("starter/part7-test/count.cpp", "");
  const std::vector<std::string> ask = {"--part", "7", "--task", "count", "--hint"};
  const std::string again = typed_program() + " --part 7 --task count";
  EXPECT_EQ(run(ask).out,
            "count, hint 1 of 3: first\nhint 2 suggests an approach: " + again + " --hint\n");
  EXPECT_EQ(run(ask).out,
            "count, hint 2 of 3: second\nhint 3 is almost the answer: " + again + " --hint\n");
  EXPECT_EQ(run(ask).out, "count, hint 3 of 3: third\nthat is the last one; then: " + again + "\n");
  EXPECT_EQ(run(ask).out,
            "count, hint 3 of 3, again: third\nthat is the last one; then: " + again + "\n");
  EXPECT_EQ(run(ask).code, 0);
  EXPECT_THAT(read_file(folder_.path() / "starter/part7-test/hints_used.toml"),
              EndsWith("\ncount = 3\n"));
}

TEST_F(CliTest, AFunctionHasHintsOfItsOwn) {
  write("labs/part7-test/hints.toml", "[count]\nall = ['of all?', 'so', 'thus']\n");
  write("starter/part7-test/count.cpp", "");
  const std::vector<std::string> task = {"--part", "7", "--task", "count"};
  const auto ask = [&](const std::string& name) {
    std::vector<std::string> words = task;
    words.insert(words.end(), {"--hint", name});
    return words;
  };
  const std::string again = typed_program() + " --part 7 --task count";
  EXPECT_EQ(run(ask("all")).out, "count, all, hint 1 of 3: of all?\nhint 2 suggests an approach: " +
                                     again + " --hint all\n");
  EXPECT_EQ(run(ask("count")).out,
            "count, hint 1 of 3: first\nhint 2 suggests an approach: " + again + " --hint\n");
  EXPECT_THAT(read_file(folder_.path() / "starter/part7-test/hints_used.toml"),
              EndsWith("\ncount = 1\n\"count/all\" = 1\n"));
  expect_refusal(
      ask("cuont"), 2,
      "task count has no hints for cuont; it has them for count, all; did you mean count?");
}

TEST_F(CliTest, HintsAreOfASubmissionAndSayWhatTheyCost) {
  write("labs/course.toml",
        "title = 'T'\ngpus = ['a100']\n[hints]\ncost = 0.1\non_honour = true\n");
  write("mine/part7-test/count.cpp", "");
  const std::vector<std::string> ask = {"--part",       "7",   "--task", "count", "--hint",
                                        "--submission", "mine"};
  EXPECT_THAT(run(ask).out, HasSubstr("10 % of 5 each, 0.5 of them now\n"));
  EXPECT_THAT(run(ask).out,
              HasSubstr("10 % of 5 each, 1 of them now\nhint 3 is almost the answer: " +
                        typed_program() + " --part 7 --task count --submission mine --hint\n"));
  expect_refusal({"--part", "7", "--task", "count", "--hint"}, 2, "name a submission");
}

TEST_F(CliTest, ExplainsCodesAndNeverOtherFiles) {
  EXPECT_EQ(run({"explain", "rl0101"}).out, "# RL0101: the file does not compile\n");
  expect_refusal({"explain", "RL9999"}, 2,
                 "there is no code RL9999; handouts/errors/ has a page for each");
  write("handouts/secret.md", "secret");
  expect_refusal({"explain", "../secret"}, 2, "there is no code");
}

TEST_F(CliTest, APartThatTheCourseDoesNotListDoesNotExist) {
  write("labs/part8-other/part.toml", "number = 8\nbroken");
  write("labs/course.toml", "title = 'T'\ngpus = ['a100']\nparts = [7]\n");
  write("handouts/errors/RL0101.md",
        "# RL0101: x\n\nWords.\n\n## Where it is taught\n\n[Part 8](../part8-other.md)\n");
  EXPECT_EQ(run({"explain", "101"}).out, "# RL0101: x\n\nWords.\n");
  EXPECT_THAT(run({"list"}).out, AllOf(HasSubstr("Part 7"), Not(HasSubstr("Part 8"))));
  expect_refusal({"--part", "8"}, 2, "there is no part 8");
  EXPECT_EQ(run({"complete-words", "--", "grader", "--part", ""}).out.find('8'), std::string::npos);
  write("labs/part8-other/part.toml", "number = 8\n");
  write("labs/course.toml", "title = 'T'\ngpus = ['a100']\nparts = [7,\n  9]\n");
  expect_refusal({"list"}, 3, "labs/course.toml:3: there is no part 9; labs/ has the parts 7, 8");
}

TEST_F(CliTest, ExplainsACodeByItsNumberAndSaysWhichOneWasMeant) {
  EXPECT_EQ(run({"explain", "101"}).out, "# RL0101: the file does not compile\n");
  EXPECT_EQ(run({"explain", "RL101"}).out, "# RL0101: the file does not compile\n");
  expect_refusal({"explain", "RL01011"}, 2, "there is no code RL01011; did you mean RL0101?");
}

TEST_F(CliTest, FindsThePartOfATask) {
  EXPECT_THAT(run({"--task", "count", "--list"}).out, HasSubstr("Part 7, Test part\n\n  count"));
  expect_refusal({"--task", "cuont"}, 2, "no part has a task cuont; did you mean count?");
  std::string part = read_file(folder_.path() / "labs/part7-test/part.toml");
  write("labs/part8-test/part.toml", "number = 8" + part.substr(part.find('\n')));
  expect_refusal({"--task", "count"}, 2, "parts 7, 8 have a task count; name one with --part");
}

TEST_F(CliTest, StarterIsCheckedAndWritten) {
  expect_refusal({"starter", "--check"}, 3, "there are no masters");
  write("solutions/part7-test/count.cpp", "// BEGIN SOLUTION\n// STARTER: todo\n// END SOLUTION\n");
  const Ran check = run({"starter", "--check"});
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(check.out, "starter/part7-test/count.cpp is missing\nrun: grader starter --write\n");
  EXPECT_EQ(run({"starter", "--write"}).code, 0);
  EXPECT_EQ(run({"starter", "--check"}).code, 0);
  EXPECT_EQ(read_file(folder_.path() / "starter/part7-test/count.cpp"), "todo\n");
}

TEST_F(CliGradeTest, StarterFailsWithExitCode1AndWritesTheReport) {
  const Ran ran = grade({});
  EXPECT_EQ(ran.code, 1) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("answers: 0 of "));
  EXPECT_THAT(ran.out, HasSubstr("report out/part1-answers.html"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b"))) << "colours are for terminals";
  EXPECT_THAT(ran.error, IsEmpty()) << "progress is for terminals";
  EXPECT_THAT(read_file(folder_.path() / "out/part1-answers.html"), HasSubstr("<html"));
}

TEST_F(CliGradeTest, JsonOnStdoutIsTheDocumentAndNothingElse) {
  const Ran ran = grade({"--json", "-"});
  EXPECT_EQ(ran.code, 1) << ran.error;
  const auto document = nlohmann::json::parse(ran.out);
  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ(document.at("part"), 1);
  EXPECT_EQ(document.at("device"), "sim:a100");
  EXPECT_EQ(document.at("time_kind"), "modelled");
  EXPECT_EQ(document.at("score"), 0);
  EXPECT_GT(document.at("max_score"), 0);
  ASSERT_EQ(document.at("tasks").size(), 1U);
  EXPECT_EQ(document["tasks"][0].at("id"), "answers");
  EXPECT_EQ(document["tasks"][0].at("verdict"), "not-implemented");
  EXPECT_EQ(document["tasks"][0].at("diagnostics")[0].at("code"), "RL0601");
}

TEST_F(CliGradeTest, AutoSaysWhyItSimulates) {
  environment_["CUDA_VISIBLE_DEVICES"] = "";  // as on a machine without a GPU
  const Ran ran = run({"--part", "1", "--task", "answers", "--device", "auto"});
  EXPECT_THAT(ran.error, AllOf(StartsWith("grader: no usable GPU ("),
                               EndsWith("use --device sim): simulating one\n")));
  EXPECT_THAT(ran.out, HasSubstr("simulated A100"));
}

TEST_F(CliGradeTest, TheCommandsOfAStoryRepeatItsRunAsTheyStand) {
  std::string starter = read_file(ROOFLAB_SOURCE_DIR "/starter/part1-metrics/counters.cpp");
  for (const Pattern todo(R"(rooflab::todo\(.*\);)"); const auto found = todo.first(starter);) {
    starter.replace(found->begin, found->end - found->begin, "return {};");
  }
  write("my work/part1-metrics/counters.cpp", starter);
  const Ran ran = run({"--part", "1", "--task", "counters", "--submission", "my work", "--device",
                       "sim:t4", "--json", "-"});
  const auto story = nlohmann::json::parse(ran.out).at("tasks")[0].at("diagnostics")[0];
  const auto repeat = [&](const char* name) {
    return run_program({"sh", "-c", story.at("commands").at(name)});
  };
  const Ran again = repeat("this case");
  EXPECT_EQ(again.code, 1) << again.error;
  EXPECT_THAT(again.out, HasSubstr(story.at("message").get<std::string>()));
  EXPECT_THAT(again.out, HasSubstr("simulated T4"));
  const std::string code = story.at("code");
  EXPECT_THAT(repeat("next hint").out, StartsWith("counters, about this mistake: " + code));
  EXPECT_THAT(repeat("next hint").out, StartsWith("counters, gemm_cost, hint 1 of 3: "));
  EXPECT_THAT(repeat("concept").out, StartsWith("# " + story.at("code").get<std::string>()));
}

TEST_F(CliGradeTest, UnusableSubmissionsExitWith2) {
  const auto refused = [&](const std::string& submission, const std::string& message) {
    expect_refusal({"--part", "1", "--device", "sim:a100", "--submission", submission}, 2, message);
  };
  refused("nowhere", "there is no submission nowhere; name a folder with the layout of starter/");
  std::filesystem::create_directories(folder_.path() / "empty/part1-metrics");
  refused("empty", "the submission has no file of part 1 in empty/part1-metrics");
  write("file", "");
  refused("file", "the submission file is no folder");
}

TEST_F(CliGradeTest, FullDiskExitsWith3AndLeavesNothingHalfWritten) {
  const Ran ran = grade({"--json", "/dev/full"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(
      ran.error,
      EndsWith("No space left on device; free some space or name a file on another disk\n"));
}

TEST_F(CliGradeTest, ReportThatCannotBeWrittenExitsWith3) {
  std::filesystem::create_directories(folder_.path() / "report.html");
  const Ran ran = grade({"--html", "report.html"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.error, HasSubstr("cannot write report.html: Is a directory"));
}

TEST_F(CliGradeTest, AFileThatCannotBeWrittenTakesNeitherTheResultNorTheOtherFilesWithIt) {
  std::filesystem::create_directories(folder_.path() / "report.html");
  const Ran ran = grade({"--html", "report.html", "--json", "grade.json"});
  EXPECT_THAT(ran.out, HasSubstr("answers: 0 of "));
  EXPECT_THAT(ran.out, Not(HasSubstr("report.html")));
  EXPECT_EQ(nlohmann::json::parse(read_file(folder_.path() / "grade.json")).at("part"), 1);
}

TEST_F(CliTest, ACheckoutWithoutPartsIsNoEmptyList) {
  std::filesystem::remove_all(folder_.path() / "labs/part7-test");
  const Ran ran = run({"list"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.error, HasSubstr("no part is found there; restore the folder labs/"));
}

TEST_F(CliGradeTest, AReportDoesNotReplaceWhatSomebodyWrote) {
  for (const char* option : {"--html", "--json", "--trace", "--explore"}) {
    write("gemv.cu", "// mine\n");
    const Ran ran = grade({option, "gemv.cu"});
    EXPECT_EQ(ran.code, 2) << option;
    EXPECT_THAT(ran.error, HasSubstr("gemv.cu would replace a file that the grader did not write"));
    EXPECT_EQ(read_file(folder_.path() / "gemv.cu"), "// mine\n") << option;
    write("report", "");
    for (int again = 0; again < 2; ++again) EXPECT_EQ(grade({option, "report"}).code, 1) << option;
  }
}

TEST_F(CliGradeTest, OnlyJsonGoesToStdout) {
  const Ran ran = grade({"--json", "-", "--html", "-"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.error, HasSubstr("--html, --trace, --explore and --sarif need a file"));
}

TEST_F(CliGradeTest, TraceIsADocumentThatViewersOpen) {
  EXPECT_EQ(grade({"--trace", "trace.json"}).code, 1);
  EXPECT_THAT(TraceRules::faults(read_file(folder_.path() / "trace.json")), IsEmpty());
}

/// A part with a question that draws a number.
class QuestionsCli : public CliTest {
 protected:
  QuestionsCli() {
    write("labs/part7-test/part.toml", R"(number = 7
title = "Test part"
[[task]]
id = "answers"
title = "Questions"
kind = "answers"
file = "answers.toml"
points = 1
hints = ["first", "second", "third"]
[[task.question]]
id = "ridge"
kind = "number"
points = 1
draws = { n = { page = 100001, from = 1, to = 9000, step = 1 } }
prompt = "Where is it for {n}?"
)");
    write("starter/part7-test/answers.toml", "student = \"Ada\"\nridge = 1\n");
  }

  static std::string asked(const std::string& student) {
    std::vector<double> values;
    for (int i = 1; i <= 9000; ++i) values.push_back(i);
    const Draw n{.name = "n", .question = "ridge", .page = 100001, .values = values};
    return with_numbers("Where is it for {n}?", numbers_of(7, {n}, student));
  }
};

TEST_F(QuestionsCli, TheListAsksWithTheNumbersOfTheFileOrTheCommand) {
  const std::vector<std::string> list = {"--part", "7", "--task", "answers", "--list"};
  EXPECT_THAT(run(list).out, AllOf(HasSubstr("those of ada"), HasSubstr(asked("ada"))));
  std::vector<std::string> of_bob = list;
  of_bob.insert(of_bob.end(), {"--student", "Bob"});
  EXPECT_THAT(run(of_bob).out, AllOf(HasSubstr("those of bob"), HasSubstr(asked("bob"))));
  write("starter/part7-test/answers.toml", "ridge = 1\n");
  EXPECT_THAT(run(list).out, AllOf(HasSubstr("the page's"), HasSubstr("Where is it for 100,001?")));
  EXPECT_THAT(run({"--part", "7", "--list"}).out, Not(HasSubstr("Where is it")));
}

TEST_F(CliGradeTest, ARunForAStudentBeginsWithTheirQuestions) {
  const Ran ran =
      run({"--part", "1", "--task", "answers", "--student", "bob", "--device", "sim:a100"});
  EXPECT_EQ(ran.code, 1) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("those of bob"), HasSubstr("A GPU has "),
                             HasSubstr("no question is answered yet")));
}

TEST_F(QuestionsCli, HostileIdsAreRefused) {
  for (const std::string& id :
       {std::string(200, 'a'), std::string("a\nb"), std::string("\xff"), std::string(" ")}) {
    const Ran ran = run({"--part", "7", "--list", "--student", id});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.error, HasSubstr("this is no ID"));
  }
  const Ran shell =
      run({"--part", "7", "--task", "answers", "--list", "--student", "$(touch x)'; rm *"});
  EXPECT_EQ(shell.code, 0);
  EXPECT_THAT(shell.out, HasSubstr("those of $(touch x)'; rm *"));
}

}  // namespace
}  // namespace rooflab
