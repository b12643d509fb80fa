#include "grader/spec/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "grader/spec/work_log.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGoodPart = R"(number = 7
title = "Test part"

[[task]]
id = "scale"
title = "Scale"
kind = "kernel"
file = "scale.cu"
entry = "scale"
oracle = "scale"
points = 15
forbidden = ["^cublas"]
libraries = ["cublas"]
hints = ["one", "two", "three"]
time_limit_s = 5

[[task.case]]
name = "small"
parameters = { n = 4, factor = 2.5, mode = "fast" }

[[task.speed]]
name = "timed"
points = 10
parameters = { n = 1024 }
zero_efficiency = 0.02
full_efficiency = 0.5
peak = "fp32"

[[task]]
id = "count"
title = "Count"
kind = "values"
bonus = true
file = "count.cpp"
entry = "count"
points = 5
hints = ["one", "two", "three"]

[[task.case]]
name = "square"
parameters = { n = 3 }
expect = { macs = 9 }

[[task.ratio]]
result = "macs"
ratio = 2
cause = "counted twice"

[[task]]
id = "answers"
title = "Answers"
kind = "answers"
file = "answers.toml"
points = 3
hints = ["one", "two", "three"]

[[task.question]]
id = "ridge"
kind = "number"
prompt = "Where?"
points = 3

[[task.question]]
id = "thoughts"
kind = "text"
prompt = "Why?"
points = 4
)";

/// A labs/ and a solutions/ folder of one test.
class PartTest : public testing::Test {
 protected:
  PartTest() : root_(testing::TempDir() + "/rooflab_part_" + name()) {
    std::filesystem::remove_all(root_);
    write("labs/part7-test/part.toml", kGoodPart);
  }
  ~PartTest() override { std::filesystem::remove_all(root_); }

  static std::string name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  void write(const std::string& path, const std::string& text) const {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  PartSpec load() const { return load_part(root_ / "labs", root_ / "solutions", 7); }

  /// The error of loading the good part with `from` replaced by `to`, its folder cut off.
  std::string error_after(const std::string& from, const std::string& to) const {
    std::string text = kGoodPart;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    write("labs/part7-test/part.toml", text);
    return error();
  }

  std::string error() const {
    try {
      load();
    } catch (const SpecError& error) {
      std::string message = error.what();
      const std::string prefix = root_.string() + "/";
      for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
        message.erase(at, prefix.size());
      }
      return message;
    }
    return "no error";
  }

  std::filesystem::path root_;
};

TEST_F(PartTest, HoldsEverythingThatTheFileSays) {
  const PartSpec part = load();
  EXPECT_EQ(part.number, 7);
  EXPECT_EQ(part.directory, "part7-test");
  ASSERT_EQ(part.tasks.size(), 3U);
  const TaskSpec& scale = part.tasks[0];
  EXPECT_EQ(scale.kind, TaskKind::kernel);
  EXPECT_EQ(scale.points, 15);
  EXPECT_THAT(scale.forbidden, ElementsAre("^cublas"));
  EXPECT_THAT(scale.hints, ElementsAre("one", "two", "three"));
  EXPECT_EQ(scale.time_limit_s, 5);
  ASSERT_EQ(scale.cases.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(scale.cases[0].parameters.at("n")), 4);
  EXPECT_EQ(std::get<double>(scale.cases[0].parameters.at("factor")), 2.5);
  EXPECT_EQ(std::get<std::string>(scale.cases[0].parameters.at("mode")), "fast");
  ASSERT_EQ(scale.speeds.size(), 1U);
  EXPECT_EQ(scale.speeds[0].full_efficiency, 0.5);
  EXPECT_TRUE(part.tasks[1].bonus);
  EXPECT_EQ(part.tasks[1].ratios.at(0).cause, "counted twice");
  EXPECT_EQ(part.tasks[2].questions.at(1).kind, QuestionKind::text);
}

TEST_F(PartTest, NumbersAreFrom0To999) {
  const auto read = [&](const std::string& number) {
    error_after("number = 7", "number = " + number);
    return read_part_folder(root_ / "labs/part7-test", root_ / "solutions").number;
  };
  EXPECT_EQ(read("0"), 0);
  EXPECT_THAT(list_parts(root_ / "labs"), ElementsAre(0));
  EXPECT_EQ(read("999"), 999);
  EXPECT_THROW(read("1000"), SpecError);
  EXPECT_THROW(read("-1"), SpecError);
}

TEST_F(PartTest, AStarterMayBeWrongOnPurpose) {
  EXPECT_EQ(load().tasks[0].starter_finds, std::nullopt);
  EXPECT_EQ(error_after("points = 15", "points = 15\nstarter_finds = \"RL0201\""), "no error");
  EXPECT_EQ(load().tasks[0].starter_finds, simgpu::Code("RL0201"));
}

TEST_F(PartTest, AQuestionMayDrawItsNumbers) {
  EXPECT_EQ(
      error_after("prompt = \"Where?\"",
                  "prompt = \"{peak} over {bandwidth}, {n} x {n}?\"\n"
                  "draws = { peak = { page = 24.8, from = 24.4, to = 26, step = 0.4 }, "
                  "bandwidth = [1150, 900], n = { page = 12345, from = 1, to = 2, step = 1 } }"),
      "no error");
  const PartSpec part = load();
  const TaskSpec& task = part.tasks[2];
  EXPECT_TRUE(draws_numbers(task));
  EXPECT_FALSE(draws_numbers(part.tasks[0]));
  const QuestionSpec& question = task.questions[0];
  EXPECT_EQ(question.prompt, "24.8 over 1150, 12,345 x 12,345?");
  EXPECT_EQ(task.groups[0].title, question.prompt);
  const auto peak = std::ranges::find(question.draws, "peak", &Draw::name);
  EXPECT_THAT(peak->values, ElementsAre(24.4, 24.8, 25.2, 25.6, 26));
  const auto bandwidth = std::ranges::find(question.draws, "bandwidth", &Draw::name);
  EXPECT_THAT(bandwidth->values, ElementsAre(1150, 900));

  const TaskSpec asked = asked_of(task, part.number, "ada");
  const NamedNumbers numbers = numbers_of(part.number, question.draws, "ada");
  EXPECT_EQ(asked.questions[0].prompt,
            with_numbers("{peak} over {bandwidth}, {n} x {n}?", numbers));
  EXPECT_EQ(asked.groups[0].title, asked.questions[0].prompt);
  EXPECT_EQ(asked_of(asked, part.number, "").questions[0].prompt, question.prompt);
  EXPECT_EQ(asked.questions[1].prompt, task.questions[1].prompt);
}

TEST_F(PartTest, ACourseMayGiveEverybodyThePagesNumbers) {
  EXPECT_EQ(
      error_after("prompt = \"Where?\"",
                  "prompt = \"{n}?\"\ndraws = { n = { page = 9, from = 1, to = 5, step = 1 } }"),
      "no error");
  write("labs/course.toml", "title = \"A\"\ngpus = [\"a100\"]\n[questions]\nown_numbers = false\n");
  const PartSpec part = load();
  EXPECT_FALSE(draws_numbers(part.tasks[2]));
  EXPECT_EQ(asked_of(part.tasks[2], part.number, "ada").questions[0].prompt, "9?");
  write("labs/course.toml", "title = \"A\"\ngpus = [\"a100\"]\n");
  EXPECT_TRUE(draws_numbers(load().tasks[2]));
}

TEST_F(PartTest, DrawsThatCannotBeUsedAreNamed) {
  const auto told = [&](const std::string& prompt, const std::string& draws) {
    return error_after("prompt = \"Where?\"",
                       "prompt = \"" + prompt + "\"\ndraws = { " + draws + " }");
  };
  const std::string to_draw_from = "n has not two numbers to draw from, or too many";
  EXPECT_THAT(told("{n}", "n = [1]"), HasSubstr(to_draw_from));
  EXPECT_THAT(told("{n}", "n = 1"), HasSubstr(to_draw_from));
  EXPECT_THAT(told("{n}", "n = [1, \"two\"]"), HasSubstr(to_draw_from));
  EXPECT_THAT(told("{n}", "n = [1, nan]"), HasSubstr(to_draw_from));
  for (const char* range : {"from = 1, to = 2, step = 0", "from = 2, to = 1, step = 1",
                            "from = 1, to = 1e6, step = 1", "from = 1, to = inf, step = 1",
                            "from = 1, to = nan, step = 1", "from = 1, to = 2, step = -1"}) {
    EXPECT_THAT(told("{n}", std::string("n = { page = 1, ") + range + " }"),
                HasSubstr(to_draw_from))
        << range;
  }
  EXPECT_THAT(told("{n} {m}", "n = [1, 2]"), HasSubstr("has {m}, which it does not draw"));
  EXPECT_THAT(told("none", "n = [1, 2]"), HasSubstr("does not say n, which it draws"));
  EXPECT_THAT(told("{n}", "n = \"ridge\""), HasSubstr("no earlier question \"ridge\" draws n"));
  EXPECT_THAT(told("{n}", "n = { page = 1, from = 1, to = 2, stop = 1 }"), HasSubstr("step"));
  EXPECT_THAT(told("{N}", "N = [1, 2]"), HasSubstr("\"N\" is no identifier"));
}

TEST_F(PartTest, OnlyNumbersAreDrawnAndOnlyFreeTextIsABonus) {
  EXPECT_EQ(error_after("id = \"thoughts\"\nkind = \"text\"",
                        "id = \"thoughts\"\nkind = \"text\"\nbonus = true"),
            "no error");
  EXPECT_TRUE(load().tasks[2].questions[1].bonus);
  EXPECT_THAT(error_after("id = \"thoughts\"\nkind = \"text\"",
                          "id = \"thoughts\"\nkind = \"text\"\ndraws = { n = [1, 2] }"),
              HasSubstr("\"thoughts\" asks for no number, and draws some"));
  EXPECT_THAT(error_after("prompt = \"Where?\"", "prompt = \"Where?\"\nbonus = true"),
              HasSubstr("question \"ridge\" is judged by a machine"));
  EXPECT_THAT(error_after("id = \"ridge\"", "id = \"student\""),
              HasSubstr("is whose answers a file has"));
}

TEST_F(PartTest, TakesHiddenCasesFromBesideTheSolutions) {
  write("solutions/part7-test/hidden.toml",
        "[[case]]\ntask = \"scale\"\nname = \"odd\"\nparameters = { n = 77 }\n");
  const PartSpec part = load();
  ASSERT_EQ(part.tasks[0].cases.size(), 2U);
  EXPECT_FALSE(part.tasks[0].cases[0].hidden);
  EXPECT_TRUE(part.tasks[0].cases[1].hidden);
  EXPECT_EQ(part.tasks[0].cases[1].name, "odd");
}

TEST_F(PartTest, WithoutHiddenCasesAKitSaysHowManyThereAre) {
  write("solutions/part7-test/hidden.toml",
        "[[case]]\ntask = \"scale\"\nname = \"odd\"\nparameters = { n = 77 }\n");
  const std::string counts = hidden_counts_of(load());
  EXPECT_THAT(counts, HasSubstr("\nscale = 1\n"));
  EXPECT_EQ(load().tasks[0].hidden_elsewhere, 0);
  std::filesystem::remove_all(root_ / "solutions");
  write(std::string("labs/part7-test/") + kHiddenCounts, counts);
  EXPECT_EQ(load().tasks[0].cases.size(), 1U);
  EXPECT_EQ(load().tasks[0].hidden_elsewhere, 1);
  EXPECT_EQ(load().tasks[1].hidden_elsewhere, 0);
}

TEST_F(PartTest, AWorkLogIsOfAKernelThatIsTimedAndHasItsPointsByHand) {
  const std::string log = R"(
[[task]]
id = "worklog"
title = "A log"
kind = "worklog"
file = "worklog.toml"
points = 2
hand_points = 6
hints = ["one", "two", "three"]
)";
  const std::string file = "labs/part7-test/part.toml";
  write(file, kGoodPart + log);
  const PartSpec part = load();
  const TaskSpec* task = work_log_task(part);
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(maximum_points(*task), 2) << "points by hand are no part of it";
  ASSERT_EQ(questions_for_people(*task).size(), 1U);
  EXPECT_EQ(questions_for_people(*task)[0].id, "worklog");
  EXPECT_EQ(questions_for_people(*task)[0].points, 6);
  ASSERT_EQ(task->groups.size(), 2U);
  EXPECT_EQ(task->groups[1].points, 1);
  EXPECT_TRUE(may_be_logged(part.tasks[0]));
  EXPECT_FALSE(may_be_logged(part.tasks[1])) << "it is no kernel";

  EXPECT_THAT(error_after("points = 15", "points = 15\nhand_points = 1"),
              HasSubstr("only a work log has points that are given by hand"));
  write(file, kGoodPart + log + "[[task.case]]\nname = \"one\"\nexpect = { a = 1 }\n");
  EXPECT_THAT([&] { load(); }, testing::ThrowsMessage<SpecError>(HasSubstr("has cases")));
  std::string second = log;
  second.replace(second.find("\"worklog\""), 9, "\"another\"");
  write(file, kGoodPart + log + second);
  EXPECT_THAT([&] { load(); }, testing::ThrowsMessage<SpecError>(HasSubstr("two work logs")));
}

TEST_F(PartTest, ListsThePartsInOrder) {
  write("labs/a-late-folder/part.toml", "number = 2\n");
  write("labs/toolkit/todo.h", "");
  EXPECT_THAT(list_parts(root_ / "labs"), ElementsAre(2, 7));
}

TEST_F(PartTest, IsLoadedThoughAnotherPartIsBroken) {
  write("labs/part8-broken/part.toml", "number = \n");
  EXPECT_EQ(load().number, 7);
}

TEST_F(PartTest, UnknownNumberNamesTheNumbersThereAre) {
  try {
    load_part(root_ / "labs", root_ / "solutions", 9);
    FAIL();
  } catch (const UnknownPart& error) {
    EXPECT_STREQ(error.what(), "there is no part 9; the parts are 7");
  }
}

TEST_F(PartTest, EveryMistakeIsNamedWithFileLineAndRemedy) {
  const std::string file = "labs/part7-test/part.toml";
  EXPECT_EQ(
      error_after("points = 15", "pionts = 15"),
      file +
          ":11: task \"scale\": unknown key `pionts`; did you mean `points`? known keys are axes, "
          "bonus, case, entry, "
          "file, "
          "forbidden, group, hand_points, hints, host_time_limit_s, id, kind, libraries, oracle, "
          "points, "
          "question, "
          "ratio, speed, starter_finds, stream, "
          "tested, time_limit_s, title, uses, withheld");
  EXPECT_EQ(error_after("points = 15", "points = \"15\""),
            file + ":11: task \"scale\": `points` is a string; write a number");
  EXPECT_EQ(error_after("points = 15", "starter_finds = \"RL2001\""),
            file + ":11: there is no code RL2001; name one of docs/design/codes.md");
  EXPECT_EQ(
      error_after("points = 3", "starter_finds = \"RL0601\""),
      file + ":54: a task without code has open answers in its starter; remove starter_finds");
  EXPECT_EQ(error_after("title = \"Scale\"\n", ""),
            file + ":4: task \"scale\": `title` is missing; add it");
  EXPECT_EQ(error_after("id = \"count\"", "id = \"scale\""),
            file + ":29: two tasks have the id \"scale\"; rename one");
  EXPECT_EQ(
      error_after("kind = \"values\"", "kind = \"value\""),
      file + ":32: unknown kind \"value\"; use one of answers, kernel, tests, values, worklog");
  EXPECT_EQ(error_after("file = \"scale.cu\"", "file = \"../scale.cu\""),
            file +
                ":8: `file` \"../scale.cu\" is no plain file name; name a file in the part's own "
                "directory");
  EXPECT_EQ(error_after("zero_efficiency = 0.02", "zero_efficiency = 0.6"),
            file +
                ":25: efficiencies are not 0 < zero_efficiency < full_efficiency <= 1; put them in "
                "that order");
  EXPECT_EQ(error_after("[[task.speed]]\nname = \"timed\"",
                        "[[task.speed]]\nname = \"timed\"\nparameters = {}\n\n"
                        "[[task.speed]]\nname = \"timed\""),
            file + ":25: task scale has two timed cases named \"timed\"; rename one");
  EXPECT_EQ(error_after("points = 15", "uses = [\"scale.cu\"]"),
            file +
                ":11: task scale uses scale.cu twice; name each further file once, and not the "
                "task's own");
  EXPECT_EQ(error_after("points = 15", "uses = [\"../other.cu\"]"),
            file +
                ":11: `uses` \"../other.cu\" is no plain file name; name a file in the part's own "
                "directory");
  EXPECT_EQ(error_after("points = 10\nparameters", "points = 0\nparameters"),
            file +
                ":23: a timed case without points names efficiencies to reach; give it points, or "
                "remove zero_efficiency and full_efficiency");
  EXPECT_EQ(error_after("peak = \"fp32\"", "launches = { points = 0, full = 1, zero = 8 }"),
            file +
                ":27: `launches` gives no points; give it points, or remove launches: it is shown "
                "in any case");
  EXPECT_EQ(error_after("peak = \"fp32\"", "launches = { points = 1, full = 8, zero = 8 }"),
            file + ":27: `launches` does not have 1 <= full < zero; put them in that order");
  EXPECT_EQ(error_after("peak = \"fp32\"", "bytes = { points = 1, full = 0.9, zero = 8 }"),
            file + ":27: `bytes` does not have 1 <= full < zero; put them in that order");
  EXPECT_EQ(error_after("peak = \"fp32\"", "bytes = { points = 1, full = 1.1 }"),
            file + ":27: timed case \"timed\", bytes: `zero` is missing; add it");
  EXPECT_EQ(error_after("peak = \"fp32\"", "bytes = 2"),
            file + ":27: timed case \"timed\": `bytes` is an integer; write a table");
  EXPECT_EQ(error_after("forbidden = [\"^cublas\"]", "forbidden = [\"(\"]"),
            file + ":12: \"(\" is no regular expression; correct it (ECMAScript syntax)");
  for (const std::string name : {"timer.h", "../part7-test", ""}) {
    EXPECT_EQ(error_after("forbidden = [\"^cublas\"]", "withheld = [\"" + name + "\"]"),
              file + ":12: there is no \"" + name +
                  "\" in labs/toolkit; name a header or a folder of the toolkit, such as "
                  "\"timing.h\"");
  }
  EXPECT_EQ(error_after("libraries = [\"cublas\"]", "libraries = [\"cudnn\"]"),
            file + ":13: unknown library \"cudnn\"; use cublas, cupti or nvrtc");
  EXPECT_EQ(error_after("expect = { macs = 9 }", ""),
            file +
                ":39: case \"square\" of task count says no results; add expect = { name = number "
                "}, or name an "
                "oracle in the task");
  EXPECT_EQ(error_after("hints = [\"one\", \"two\", \"three\"]", "hints = [\"one\", \"two\"]"),
            file +
                ":14: task scale does not have 3 hints with a text; write a question, an approach "
                "and a near-answer");
  EXPECT_EQ(error_after("\"three\"", "\"\""),
            file +
                ":14: task scale does not have 3 hints with a text; write a question, an approach "
                "and a near-answer");
  EXPECT_EQ(
      error_after("prompt = \"Where?\"\npoints = 3", "prompt = \"Where?\"\npoints = 2"),
      file +
          ":54: task answers is worth 3 points, its number and choice questions 2; remove the "
          "task's points: they follow from its questions");
  EXPECT_EQ(
      error_after("n = 4, factor", "n = [4], factor"),
      file +
          ":19: case \"small\": `parameters.n` is an array; write an integer, a float or a string");
}

TEST_F(PartTest, TextThatIsNoTomlIsNamedByLine) {
  EXPECT_THAT(error_after("title = \"Test part\"", "title = \"Test part"),
              HasSubstr("labs/part7-test/part.toml:2: "));
}

TEST_F(PartTest, TimedCasesMayAskForFewLaunchesAndBytesAndForTheirMemory) {
  std::string text = kGoodPart;
  const std::string peak = "peak = \"fp32\"";
  text.replace(text.find(peak), peak.size(),
               "launches = { points = 1, full = 1, zero = 8 }\n"
               "bytes = { points = 2, full = 1.1, zero = 4.0 }\nshows_memory = true");
  write("labs/part7-test/part.toml", text);
  const TaskSpec scale = load_part(root_ / "labs", root_ / "solutions", 7).tasks.at(0);
  const SpeedSpec& speed = scale.speeds.at(0);
  ASSERT_TRUE(speed.launches && speed.bytes);
  EXPECT_EQ(speed.launches->points, 1);
  EXPECT_EQ(speed.launches->zero, 8);
  EXPECT_EQ(speed.bytes->full, 1.1);
  EXPECT_TRUE(speed.shows_memory);
  EXPECT_FALSE(scale.cases.at(0).shows_memory);
  EXPECT_EQ(maximum_points(speed), 10 + 1 + 2);
  EXPECT_EQ(maximum_points(scale), 15 + 13);
}

TEST_F(PartTest, HiddenCaseOfAnUnknownTaskIsAnError) {
  write("solutions/part7-test/hidden.toml", "[[case]]\ntask = \"scael\"\nname = \"odd\"\n");
  EXPECT_EQ(error(),
            "solutions/part7-test/hidden.toml:2: no task \"scael\" of this part has cases; name "
            "one of part.toml");
}

TEST_F(PartTest, HiddenCaseShowsNoMemory) {
  write("solutions/part7-test/hidden.toml",
        "[[case]]\ntask = \"scale\"\nname = \"odd\"\nshows_memory = true\n");
  EXPECT_EQ(error(),
            "solutions/part7-test/hidden.toml:4: a hidden case's memory would tell its sizes; "
            "remove shows_memory");
}

TEST_F(PartTest, AVastCaseSaysWhatMemoryItsGpuMustHave) {
  const auto with = [&](const std::string& keys) {
    write("solutions/part7-test/hidden.toml",
          "[[case]]\ntask = \"scale\"\nname = \"vast\"\n" + keys);
  };
  with("parameters = { n = 3, vast = 1 }\nvast_gb = 26\n");
  const CaseSpec spec = load().tasks[0].cases.at(1);
  EXPECT_TRUE(has_room(spec, std::int64_t{40} << 30));
  EXPECT_FALSE(has_room(spec, std::int64_t{16} << 30));
  EXPECT_TRUE(has_room(load().tasks[0].cases.at(0), 0)) << "any other fits everywhere";
  for (const char* keys :
       {"parameters = { n = 3 }\nvast_gb = 26\n", "parameters = { n = 3, vast = 1 }\n",
        "parameters = { n = 3, vast = 1 }\nvast_gb = 26\nsampled = true\n"}) {
    with(keys);
    EXPECT_THAT([&] { load(); }, testing::ThrowsMessage<SpecError>(HasSubstr("vast"))) << keys;
  }
}

TEST_F(PartTest, HeadersOfTheStudentsAreHandedIn) {
  write("labs/part7-test/part.toml", "headers = [\"common.cuh\"]\n" + std::string(kGoodPart));
  EXPECT_THAT(submitted_files(load()),
              ElementsAre("common.cuh", "scale.cu", "count.cpp", "answers.toml"));
  write("labs/part7-test/part.toml", "headers = [\"../common.cuh\"]\n" + std::string(kGoodPart));
  EXPECT_THAT([&] { load(); }, testing::ThrowsMessage<SpecError>(HasSubstr("common.cuh")));
}

TEST_F(PartTest, ALadderNamesTasksInTheirOrder) {
  const auto with = [&](const std::string& steps) {
    write("labs/part7-test/part.toml",
          std::string(kGoodPart) +
              "\n[[ladder]]\nid = \"all\"\ntitle = \"Bit by bit\"\nsteps = " + steps + "\n");
  };
  with("[\"scale\", \"count\"]");
  const PartSpec part = load();
  ASSERT_EQ(part.ladders.size(), 1U);
  EXPECT_EQ(part.ladders[0].title, "Bit by bit");
  EXPECT_THAT(part.ladders[0].steps, ElementsAre("scale", "count"));
  for (const char* steps : {"[\"scale\"]", "[\"count\", \"scale\"]", "[\"scale\", \"scale\"]",
                            "[\"scale\", \"nothing\"]"}) {
    with(steps);
    EXPECT_THAT([&] { load(); }, testing::ThrowsMessage<SpecError>(HasSubstr("step"))) << steps;
  }
}

TEST_F(PartTest, TwoFoldersMayNotShareANumber) {
  write("labs/part7-copy/part.toml", kGoodPart);
  EXPECT_THROW(list_parts(root_ / "labs"), SpecError);
}

TEST_F(PartTest, MissingLabsFolderSaysWhatToRestore) {
  try {
    load_part(root_ / "nowhere", root_ / "solutions", 1);
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no part is found there; restore the folder labs/"));
  }
}

}  // namespace
}  // namespace rooflab
