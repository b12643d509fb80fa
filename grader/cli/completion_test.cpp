#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "grader/cli/cli_fixture.h"
#include "specs/gpu_spec.h"

/// What a tab offers: asked of the program, and of real shells.
namespace rooflab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class CompletionTest : public CliTest {
 protected:
  CompletionTest() {
    write("labs/part8-other/part.toml", R"(number = 8
title = "Other part"
[[task]]
id = "scale"
title = "Scale"
kind = "values"
file = "scale.cpp"
entry = "scale"
points = 5
hints = ["first?", "second", "third"]
[[task.case]]
name = "one"
expect = { a = 9 }
[[task.case]]
name = "two"
expect = { a = 9 }
)");
  }

  std::vector<std::string> after(std::vector<std::string> words) const {
    words.insert(words.begin(), "complete-words");
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.error, IsEmpty());
    return lines_of(ran.out);
  }

  /// Runs a script of a shell with the completion of that shell switched on.
  std::vector<std::string> shell(const std::vector<std::string>& program,
                                 const std::string& script) const {
    const std::string& name = program.front();
    const Ran completion = run({"completion", name});
    EXPECT_EQ(completion.code, 0) << completion.error;
    write("completion", completion.out);
    std::vector<std::string> words = program;
    words.insert(words.end(), {"-c", "source ./completion\n" + script});
    const Ran ran = run_program(words);
    EXPECT_THAT(ran.error, IsEmpty());
    return lines_of(ran.out);
  }

  /// What bash offers for a line; the program is called by its path, as in a checkout.
  std::vector<std::string> bash(const std::string& typed) const {
    return shell({"bash", "--norc"}, "COMP_LINE='" ROOFLAB_BINARY_DIR "/bin/grader " + typed +
                                         "'\nCOMP_POINT=${#COMP_LINE}\n"
                                         "_rooflab_grader '" ROOFLAB_BINARY_DIR
                                         "/bin/grader'\n"
                                         "[ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "
                                         "\"${COMPREPLY[@]}\"");
  }

  /// What zsh offers for words, the last one unfinished.
  std::vector<std::string> zsh(const std::string& before, const std::string& prefix) const {
    return shell({"zsh", "-f"},
                 "compadd() { print -rl -- \"${(@P)2}\" }\n_files() { print FILES }\n"
                 "words=(\"'" ROOFLAB_BINARY_DIR "/bin/grader'\" " +
                     before + " '" + prefix + "')\nCURRENT=$#words\nPREFIX='" + prefix +
                     "'\n_rooflab_grader");
  }

  bool has_zsh() const { return run_program({"zsh", "-f", "-c", "exit 0"}).code == 0; }
};

TEST_F(CompletionTest, OffersCommandsAndOptionsOfTheProgramItself) {
  EXPECT_THAT(after({""}),
              IsSupersetOf({"list", "doctor", "explain", "batch", "--part", "--task"}));
  EXPECT_THAT(after({""}), Not(Contains("batch-job"))) << "not for people";
  EXPECT_THAT(after({"ex"}), ElementsAre("explain"));
  EXPECT_THAT(after({"--part", "7", "--h"}), ElementsAre("--help", "--html", "--hint"));
  EXPECT_THAT(after({"batch", "--exec"}), ElementsAre("--executor", "--executor-argument"));
  EXPECT_THAT(after({"batch", "--executor", "s"}), ElementsAre("slurm"));
  EXPECT_THAT(after({"completion", ""}), ElementsAre("bash", "zsh"));
  EXPECT_THAT(after({"--part", "7", ""}), Not(Contains("list"))) << "commands take no --part";
}

TEST_F(CompletionTest, OffersPartsTheirTasksAndTheCasesOfATask) {
  EXPECT_THAT(after({"--part", ""}), ElementsAre("7", "8"));
  EXPECT_THAT(after({"--part", "8", "--task", ""}), ElementsAre("scale"));
  EXPECT_THAT(after({"--part=7", "--task", ""}), ElementsAre("count"));
  EXPECT_THAT(after({"--task", ""}), ElementsAre("count", "scale"));
  EXPECT_THAT(after({"--part", "8", "--task", "scale", "--case", ""}), ElementsAre("1", "2"));
  EXPECT_THAT(after({"--part=8", "--task=s"}), ElementsAre("--task=scale"));
}

TEST_F(CompletionTest, OffersGpusAndCodes) {
  const auto gpus = gpu_spec::list(ROOFLAB_SOURCE_DIR "/specs/gpus");
  EXPECT_EQ(after({"roofline", "--gpu", ""}), gpus);
  EXPECT_THAT(after({"--device", "sim:a1"}), IsSupersetOf({"sim:a100"}));
  EXPECT_THAT(after({"--device", ""}), IsSupersetOf({"auto", "cuda", "sim", "sim:t4"}));
  EXPECT_THAT(after({"explain", "RL"}), ElementsAre("RL0101"));
}

TEST_F(CompletionTest, OffersProofsAndPlantedMistakes) {
  write("labs/part7-test/mistakes/halves/mistake.toml",
        "task = 'count'\nfile = 'count.cpp'\nverdict = 'wrong-answer'\ncode = 'RL0401'\n"
        "max_score = 0\nstory = 'halves'\n");
  EXPECT_THAT(after({"verify", "--mistake", ""}), ElementsAre("halves"));
  EXPECT_THAT(after({"verify", "--part", "8", "--mistake", ""}), IsEmpty());
  EXPECT_THAT(after({"verify", "--only", "s"}), ElementsAre("starter", "solution"));
}

TEST_F(CompletionTest, LeavesFilesToTheShellAndBearsAnything) {
  EXPECT_THAT(after({"--submission", ""}), IsEmpty());
  EXPECT_THAT(after({"--no-such-option", "x", "--", "\xFF", "--part"}), ElementsAre("--part"));
  EXPECT_THAT(after({}), Not(IsEmpty()));
  environment_["ROOFLAB_ROOT"] = folder_.path() / "nowhere";
  EXPECT_THAT(after({"--part", ""}), IsEmpty());
  EXPECT_THAT(after({"expl"}), ElementsAre("explain"));
}

TEST_F(CompletionTest, BashAsksTheProgramThatIsBeingTyped) {
  EXPECT_THAT(bash("--part 8 --task "), ElementsAre("scale"));
  EXPECT_THAT(bash("expl"), ElementsAre("explain"));
  EXPECT_THAT(bash("--submission "), IsEmpty());
  // Bash replaces what follows the last colon or equal sign.
  EXPECT_THAT(bash("--device sim:a10"), IsSupersetOf({"a100"}));
  EXPECT_THAT(bash("--part=8 --task=sc"), ElementsAre("scale"));
  EXPECT_THAT(shell({"bash", "--norc"}, "complete -p grader"),
              ElementsAre("complete -o default -F _rooflab_grader grader"));
}

TEST_F(CompletionTest, ZshAsksTheProgramThatIsBeingTyped) {
  if (!has_zsh()) GTEST_SKIP() << "there is no zsh";
  EXPECT_THAT(zsh("--part 8 --task", ""), ElementsAre("scale"));
  EXPECT_THAT(zsh("", "expl"), ElementsAre("explain"));
  EXPECT_THAT(zsh("--device", "sim:a10"), IsSupersetOf({"sim:a100"}));
  EXPECT_THAT(zsh("--submission", ""), ElementsAre("FILES"));
}

}  // namespace
}  // namespace rooflab
