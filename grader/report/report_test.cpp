#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "grader/report/json.h"
#include "grader/report/terminal.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ReportText, TimesAreInUtc) {
  EXPECT_EQ(utc_time(0), "1970-01-01 00:00 UTC");
  EXPECT_EQ(utc_time(1763683140), "2025-11-20 23:59 UTC");
  EXPECT_EQ(utc_time(std::numeric_limits<std::int64_t>::max()), "an impossible time");
}

TEST(Sanitize, KeepsWellFormedTextAndShowsControlsAsPictures) {
  EXPECT_EQ(sanitize("größe\tα\n"), "größe\tα\n");
  EXPECT_EQ(sanitize("\x1b[31mred"), "\xE2\x90\x9B[31mred");
  EXPECT_EQ(sanitize(std::string("a\0b", 3)),
            "a\xE2\x90\x80"
            "b");
}

TEST(Sanitize, LetsNothingTurnTheRestOfALineRound) {
  const std::string mark = "\xEF\xBF\xBD";
  for (const char* turning : {"\u202A", "\u202E", "\u2066", "\u2069"}) {
    EXPECT_EQ(sanitize(std::string("a") + turning + "b"), "a" + mark + "b");
  }
  for (const char* harmless : {"\u202F", "\u2065", "\u206A", "שלום", "\u00A0"}) {
    EXPECT_EQ(sanitize(harmless), harmless);
  }
}

TEST(Sanitize, ReplacesWhatXmlForbids) {
  EXPECT_EQ(sanitize("\xEF\xBF\xBE\xEF\xBF\xBF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(sanitize("\xEF\xBF\xBD"), "\xEF\xBF\xBD");
}

TEST(Sanitize, ReplacesMalformedSequences) {
  EXPECT_EQ(sanitize("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(sanitize("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong
  EXPECT_EQ(sanitize("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
  EXPECT_EQ(sanitize("\xC2\x9B"
                     "31m"),
            "\xEF\xBF\xBD"
            "31m");  // C1 control sequence introducer
}

TEST(Sanitize, LetsNothingBeginALineByASeparator) {
  EXPECT_EQ(one_line("a\u2028b\u2029"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(sanitize("\u2027"), "\u2027");
}

TEST(EscapeHtml, LeavesNoMarkupOfTheSubmission) {
  EXPECT_EQ(escape_html("<b a='x' c=\"y\">&"), "&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt;&amp;");
}

TEST(Format, UsesTheUnitThatSuits) {
  EXPECT_EQ(format_time_us(0.5), "500 ns");
  EXPECT_EQ(format_time_us(999.6), "1.00 ms");
  EXPECT_EQ(format_time_us(12345), "12.3 ms");
  EXPECT_EQ(format_si(2.11e12, "FLOP/s"), "2.11 TFLOP/s");
  EXPECT_EQ(format_bytes(4096), "4.00 KiB");
  EXPECT_EQ(format_points(22), "22");
  EXPECT_EQ(format_points(22.46), "22.5");
}

GradeResult example() {
  GradeResult result;
  result.part = 1;
  result.title = "Fundamental metrics";
  result.device = "sim:a100";
  result.device_name = "simulated A100 40 GB PCIe";
  result.time_kind = "modelled";
  result.seed = 8812;
  TaskResult task;
  task.id = "gemm_tiled";
  task.score = 20;
  task.max_score = 25;
  task.cases = {{"64 x 64 x 64", Verdict::pass, false}};
  task.timings.resize(1);
  task.timings[0].time_us = 1020;
  task.timings[0].roofline_us = 110;
  task.timings[0].floor_us = 100;
  task.timings[0].efficiency = 0.108;
  task.timings[0].target_efficiency = 0.12;
  task.timings[0].bound = "compute";
  task.timings[0].flops = 2147483648.0;
  task.timings[0].name = "1024^3";
  task.timings[0].advice = "limited by shared memory";
  result.tasks.push_back(task);
  TaskResult broken;
  broken.id = "gemv";
  broken.verdict = Verdict::race;
  broken.max_score = 15;
  Diagnostic story;
  story.code = "RL0302";
  story.message = "evil \x1b]0;title\x07";
  story.file = "gemv.cu";
  story.line = 31;
  broken.diagnostics.push_back(story);
  broken.printed = "PASS 100/100 \xFF";
  result.tasks.push_back(broken);
  return result;
}

TEST(Terminal, ShowsOneLineATaskAndTheNextStep) {
  std::ostringstream out;
  print_report(out, example(), {});
  EXPECT_THAT(
      out.str(),
      HasSubstr("  gemm_tiled  pass             20/25   1024^3  1.02 ms  2.11 TFLOP/s  10.8 % of "
                "the roofline  full marks at 12.0 %\n"));
  EXPECT_THAT(out.str(), HasSubstr("limited by shared memory"));
  EXPECT_THAT(out.str(), HasSubstr("  gemv        race              0/15   RL0302 gemv.cu:31"));
  EXPECT_THAT(out.str(), HasSubstr("Part 1: 20 of 40"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
}

TEST(Terminal, SaysAtFullMarksWhatWouldSaveAThirdOfTheTime) {
  GradeResult result = example();
  Timing& timing = result.tasks[0].timings[0];
  timing.target_efficiency = 0.1;
  timing.points = timing.max_points = 8;
  timing.limit.what = "shared memory";
  timing.limit.without_us = 310;
  timing.limit.change = "pad them";
  const auto told = [&] {
    std::ostringstream out;
    print_report(out, result, {});
    return out.str();
  };
  EXPECT_THAT(
      told(),
      HasSubstr("full marks for speed, and still limited by shared memory, without which it takes "
                "310 us: pad them\n"));
  timing.limit.without_us = 900;
  EXPECT_THAT(told(), Not(HasSubstr("still limited")));
  timing.limit.without_us = 310;
  timing.points = timing.max_points = 0;
  EXPECT_THAT(told(), Not(HasSubstr("full marks"))) << "its time earns nothing";
  EXPECT_THAT(told(), HasSubstr("limited by shared memory, without which it takes 310 us"));
}

TEST(Terminal, SpeaksOfFullMarksOnlyWhereAllPointsAreEarned) {
  GradeResult result = example();
  Timing& timing = result.tasks[0].timings[0];
  timing.at_least = true;  // fast enough by its bound, and nothing of it could be compared
  timing.efficiency = 0.5;
  timing.max_points = 8;
  timing.points = 2;
  timing.limit.what = "shared memory";
  std::ostringstream out;
  print_report(out, result, {});
  EXPECT_THAT(out.str(), Not(HasSubstr("full marks")));
  EXPECT_THAT(out.str(), HasSubstr("limited by shared memory"));
}

TEST(Terminal, GivesNoEfficiencyOfABoundThatSaysNothing) {
  GradeResult result = example();
  result.tasks[0].timings[0].at_least = true;
  result.tasks[0].timings[0].efficiency = 0;
  std::ostringstream out;
  print_report(out, result, {});
  EXPECT_THAT(out.str(), HasSubstr("an unknown share of the roofline"));
}

TEST(Terminal, ShowsTheAdviceOfEachTimingOfATask) {
  GradeResult result = example();
  result.tasks.pop_back();
  result.tasks[0].timings.push_back(result.tasks[0].timings[0]);
  result.tasks[0].timings[1].advice = "limited by too few blocks";
  TerminalStyle style;
  style.all_timings = true;
  std::ostringstream out;
  print_report(out, result, style);
  EXPECT_THAT(out.str(), HasSubstr("limited by too few blocks"));
}

TEST(Terminal, ShowsATimeWithoutATargetForWhatItIs) {
  GradeResult result = example();
  result.tasks[0].timings[0].efficiency = 0.001;
  result.tasks[0].timings[0].target_efficiency = 0;
  std::ostringstream out;
  print_report(out, result, {});
  EXPECT_THAT(out.str(), HasSubstr("1024^3  1.02 ms  2.11 TFLOP/s  0.10 % of the roofline\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("full marks")));
  EXPECT_THAT(out.str(), Not(HasSubstr("limited by")));
}

TEST(Terminal, ShowsTheBandOfAModelledTimeInItsUnit) {
  GradeResult result = example();
  Timing& timing = result.tasks[0].timings[0];
  timing.modelled = {.low_us = 746, .high_us = 1397};
  std::ostringstream out;
  print_report(out, result, {});
  EXPECT_THAT(out.str(), HasSubstr("1024^3  1.02 ms, 0.75 to 1.4  2.11 TFLOP/s"));
  timing.time_us = 0.9994;
  timing.modelled = {.low_us = 0.86, .high_us = 1.16};
  EXPECT_EQ(format_time(timing) + format_spread(timing), "999 ns, 860 to 1200");
  timing.time_us = 999.6;
  timing.modelled = {.low_us = 862, .high_us = 1160};
  EXPECT_EQ(format_time(timing) + format_spread(timing), "1.00 ms, 0.86 to 1.2");
}

TEST(Terminal, SaysNothingOfABandThatItsDigitsCannotShow) {
  Timing timing = example().tasks[0].timings[0];
  timing.modelled = {.low_us = 1019.9, .high_us = 1020.1};
  EXPECT_EQ(format_spread(timing), "");
}

GradeResult measured_example() {
  GradeResult result = example();
  result.time_kind = "measured";
  result.tasks[0].timings[0].spread_us = 5.1;
  result.tasks[0].timings[0].measured = {
      .samples = 34, .low_us = 1018, .high_us = 1024, .clocks_watched = true, .clock_mhz = 1305};
  result.tasks[0].timings[0].measured->users_known = true;
  return result;
}

std::string printed(const GradeResult& result, bool all) {
  std::ostringstream out;
  print_report(out, result, {.colour = false, .html = "", .all_timings = all});
  return out.str();
}

TEST(Terminal, SaysHowATimeWasMeasured) {
  GradeResult result = measured_example();
  EXPECT_THAT(printed(result, false), HasSubstr("1024^3  1.02 ms ±0.50 %  2.11 TFLOP/s"));
  EXPECT_THAT(printed(result, false), Not(HasSubstr("median")));
  EXPECT_THAT(printed(result, true),
              HasSubstr("median of 34 samples, known to -0.20 % and +0.39 %, at 1305 MHz\n"));
  Measured& measured = *result.tasks[0].timings[0].measured;
  measured.dropped = 1;
  EXPECT_THAT(printed(result, false), HasSubstr("; 1 sample dropped, taken while"));
  measured = {.samples = 1, .low_us = 918, .high_us = 1122, .contradicted = 1};
  EXPECT_THAT(printed(result, false), HasSubstr("median of 1 sample, known to -10.00 %"));
  EXPECT_THAT(printed(result, false), HasSubstr("clocks were not watched"));
  EXPECT_THAT(printed(result, false), HasSubstr("; in 1 the events"));
}

TEST(Terminal, SaysWhatDisturbedTheSamplesAndWhoElseIsOnTheGpu) {
  GradeResult result = measured_example();
  const Timing& timing = result.tasks[0].timings[0];
  Measured& measured = *result.tasks[0].timings[0].measured;
  measured.slow_clock = 1;
  measured.busy_before = 3;
  measured.beside_others = 2;
  measured.not_still = 1;
  EXPECT_THAT(format_measured(timing),
              HasSubstr("; 1 sample dropped, at a lower clock than the others; disturbed samples: "
                        "3 on a busy GPU, 1 of code that ran before its call, 2 beside another "
                        "process's work; others were taken"));
  EXPECT_THAT(printed(result, false), Not(HasSubstr("disturbed"))) << "it cost nothing";
  measured.disturbed = 4;
  measured.other_users = {{4211, "python3", 3ULL << 30}, {17, "", 0}};
  measured.users_known = false;
  EXPECT_THAT(
      format_measured(timing),
      HasSubstr("; 4 of them count for want of others; others on this GPU: python3 (process "
                "4211, 3.0 GiB), process 17; not everybody who may use this GPU can be "
                "seen from here"));
  EXPECT_THAT(printed(result, false), HasSubstr("disturbed samples: 3 on a busy GPU"));
}

TEST(Json, NamesWhoElseIsOnTheGpu) {
  GradeResult result = measured_example();
  result.tasks[0].timings[0].measured->other_users = {{4211, "python3", 3ULL << 30}, {17, "", 0}};
  const auto timing = nlohmann::json::parse(to_json(result))["tasks"][0]["timing"];
  EXPECT_EQ(timing["measured"]["other_users"], nlohmann::json::parse(R"([
      {"pid": 4211, "name": "python3", "memory_bytes": 3221225472}, {"pid": 17, "name": ""}])"));
}

TEST(Terminal, SaysWhichPeaksMeasuredTimesAreHeldAgainst) {
  GradeResult result = example();
  result.peaks = "calibrated on this GPU, 2026-03-14";
  std::ostringstream modelled, measured;
  print_report(modelled, result, {});
  EXPECT_THAT(modelled.str(), Not(HasSubstr("peaks")));
  result.time_kind = "measured";
  print_report(measured, result, {});
  EXPECT_THAT(measured.str(),
              HasSubstr("times are measured · peaks: calibrated on this GPU, 2026-03-14 · seed"));
}

TEST(Terminal, ShowsFurtherTimedCasesWhereTheyAreAskedFor) {
  GradeResult result = example();
  Timing further = result.tasks[0].timings[0];
  further.name = "2048^3";
  further.sampled = true;
  result.tasks[0].timings.push_back(further);
  std::ostringstream brief, all;
  print_report(brief, result, {});
  EXPECT_THAT(brief.str(), HasSubstr("1024^3  1.02 ms  2.11"));
  EXPECT_THAT(brief.str(), Not(HasSubstr("2048^3")));
  print_report(all, result, {.colour = false, .html = "", .all_timings = true});
  EXPECT_THAT(all.str(),
              HasSubstr("\n              2048^3  1.02 ms (sampled)  2.11 TFLOP/s  10.8 %"));
}

TEST(Terminal, SaysOfATimeThatIsABoundThatItIsOne) {
  GradeResult result = example();
  result.tasks[0].timings[0].at_least = true;
  std::ostringstream text;
  print_report(text, result, {});
  EXPECT_THAT(text.str(), HasSubstr("1024^3  >= 1.02 ms  2.11"));
  EXPECT_THAT(text.str(), HasSubstr("at most 10.8 % of the roofline"));
}

/// The timed case of `example` with a launch for each of eight kernels.
GradeResult example_with_counts() {
  GradeResult result = example();
  Timing& timing = result.tasks[0].timings[0];
  timing.bytes = 1 << 20;
  timing.launches = {.count = 8, .full = 1, .points = 0.5, .max_points = 1};
  timing.kernels = 8;
  timing.dram_bytes = {.count = 3 << 20, .full = 1.25 * (1 << 20), .points = 1, .max_points = 1};
  timing.peak_memory = 2 << 20;
  result.tasks[0].cases[0].peak_memory = 1024;
  return result;
}

TEST(Terminal, ShowsScoredCountsBelowTheTimeAndWhatFullMarksAskFor) {
  std::ostringstream out;
  print_report(out, example_with_counts(), {});
  EXPECT_THAT(out.str(),
              HasSubstr("\n              8 launches (full marks at 1) · 3.00 MiB of DRAM "
                        "traffic, 3.00x the compulsory bytes · 2.00"));
  EXPECT_THAT(out.str(), HasSubstr(" the tensors\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("64 x 64 x 64"))) << "only where a task is looked at";
}

TEST(Terminal, ShowsOtherCountsAndTheMemoryOfCasesWhereATaskIsLookedAt) {
  GradeResult result = example_with_counts();
  Timing& timing = result.tasks[0].timings[0];
  timing.launches = {.count = 1};
  timing.dram_bytes.max_points = timing.dram_bytes.points = 0;
  std::ostringstream brief, all;
  print_report(brief, result, {});
  EXPECT_THAT(brief.str(), Not(HasSubstr("launch")));
  print_report(all, result, {.colour = false, .html = "", .all_timings = true});
  EXPECT_THAT(all.str(), HasSubstr("1 launch of 8 kernels · 3.00 MiB of DRAM traffic"));
  EXPECT_THAT(all.str(), HasSubstr("64 x 64 x 64  1.00 KiB of memory beside the tensors"));
}

TEST(Terminal, KeepsALongOrHostileMessageOnOneLineOfTheTable) {
  GradeResult result = example();
  Diagnostic& story = result.tasks[1].diagnostics[0];
  story.message = "first\n  gemm_tiled  pass  25/25\n" + std::string(50, 'x');
  for (int i = 0; i < 30; ++i) story.message += " and more words";
  std::ostringstream out;
  print_report(out, result, {});
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, Not(::testing::StartsWith("  gemm_tiled  pass  25/25")));
    if (line.starts_with("  gemv")) {
      EXPECT_LT(line.size(), 170u) << line;
    }
  }
}

TEST(Terminal, TellsTheFirstFindingInFullAndNamesTheOthers) {
  GradeResult result = example();
  Diagnostic second = result.tasks[1].diagnostics[0];
  second.code = "RL0301";
  second.help = "put a barrier there";
  result.tasks[1].diagnostics.push_back(second);
  std::ostringstream out;
  print_report(out, result, {});
  EXPECT_THAT(out.str(), HasSubstr("error[RL0302]: "));
  EXPECT_THAT(out.str(), HasSubstr("also[RL0301]: "));
  EXPECT_THAT(out.str(), Not(HasSubstr("put a barrier there")));
}

TEST(Terminal, WarnsOfLeaksSinceTheyFailNothing) {
  Diagnostic leak;
  leak.code = "RL0309";
  std::ostringstream out;
  print_story(out, leak, false);
  EXPECT_THAT(out.str(), ::testing::StartsWith("warning[RL0309]"));
}

TEST(Terminal, WarnsOfAKernelThatWasNotWatchedWholeAndNotOfACallThatCannotBeJudged) {
  Diagnostic unwatched;
  unwatched.code = "RL0615";
  unwatched.context = "kernel gemv, block (0,0)";
  std::ostringstream out;
  print_story(out, unwatched, false);
  EXPECT_THAT(out.str(), ::testing::StartsWith("warning[RL0615]"));
  unwatched.context.clear();
  std::ostringstream fails;
  print_story(fails, unwatched, false);
  EXPECT_THAT(fails.str(), ::testing::StartsWith("error[RL0615]"));
}

TEST(Terminal, WarnsOfSlownessAndCallsOnlyFaultsErrors) {
  Diagnostic slow;
  slow.code = "RL0501";
  slow.message = "scattered loads";
  std::ostringstream out;
  print_story(out, slow, false);
  EXPECT_THAT(out.str(), ::testing::StartsWith("warning[RL0501]: scattered loads"));
  for (const simgpu::Code code :
       std::initializer_list<simgpu::Code>{"RL0591", "RL0592", "RL0593", "RL0594", "RL0597"}) {
    slow.code = code;
    std::ostringstream counted;
    print_story(counted, slow, false);
    EXPECT_THAT(counted.str(), ::testing::StartsWith("warning["));
  }
}

TEST(Text, IsShortenedBetweenWordsAndNeverInsideACharacter) {
  EXPECT_EQ(shorten("short", 10), "short");
  EXPECT_EQ(shorten("one two three", 9), "one two…");
  EXPECT_EQ(shorten("äöüäöü", 3), "äöü…");
}

TEST(Text, IsWrappedAtSpaces) {
  EXPECT_THAT(wrap("one two three", 8), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("unbreakable", 4), ::testing::ElementsAre("unbreakable"));
  EXPECT_THAT(wrap("", 4), ::testing::ElementsAre(""));
}

TEST(Terminal, ColoursOnlyWhenAsked) {
  std::ostringstream out;
  print_report(out, example(), {.colour = true, .html = ""});
  EXPECT_THAT(out.str(), HasSubstr("\x1b[32m"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b]0;")));
}

TEST(Json, IsTheDocumentedDocumentWhateverTheSubmissionPrinted) {
  const auto json = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["peaks"], "data sheet");
  EXPECT_EQ(json["part"], 1);
  EXPECT_EQ(json["score"], 20.0);
  EXPECT_EQ(json["max_score"], 40.0);
  EXPECT_EQ(json["tasks"][0]["verdict"], "pass");
  EXPECT_EQ(json["tasks"][0]["timing"]["bound"], "compute");
  EXPECT_EQ(json["tasks"][0]["timing"]["roofline_us"], 110.0);
  EXPECT_EQ(json["tasks"][0]["timing"]["floor_us"], 100.0);
  EXPECT_EQ(json["tasks"][1]["verdict"], "race");
  EXPECT_EQ(json["tasks"][1]["diagnostics"][0]["code"], "RL0302");
  EXPECT_FALSE(json["tasks"][1].contains("timing"));
}

TEST(Json, SaysWhichCheckoutReplaysTheGrade) {
  GradeResult result = example();
  result.checkout = "3f2a9c1b7d40, changed\x1b[31m";
  const auto json = nlohmann::json::parse(to_json(result));
  EXPECT_THAT(json["checkout"].get<std::string>(), StartsWith("3f2a9c1b7d40, changed"));
  EXPECT_THAT(json["checkout"].get<std::string>(), Not(HasSubstr("\x1b")));
}

TEST(Json, HasWhatTheDeviceCountedAndItsPoints) {
  const auto json = nlohmann::json::parse(to_json(example_with_counts()));
  const auto& timing = json["tasks"][0]["timings"][0];
  EXPECT_EQ(timing["launches"],
            nlohmann::json::parse(
                R"({"count": 8, "full": 1, "kernels": 8, "points": 0.5, "max_points": 1})"));
  EXPECT_EQ(timing["dram_bytes"],
            nlohmann::json::parse(R"({"bytes": 3145728, "compulsory": 1048576, "full": 1310720,
                                      "points": 1, "max_points": 1})"));
  EXPECT_EQ(timing["peak_memory_bytes"], 2 << 20);
  EXPECT_EQ(json["tasks"][0]["cases"][0]["peak_memory_bytes"], 1024);
}

TEST(Json, SaysHowATimeWasMeasured) {
  GradeResult result = measured_example();
  auto timing = nlohmann::json::parse(to_json(result))["tasks"][0]["timing"];
  EXPECT_EQ(timing["spread_us"], 5.1);
  EXPECT_EQ(timing["measured"], nlohmann::json::parse(R"({
      "samples": 34, "low_us": 1018.0, "high_us": 1024.0, "dropped": 0, "contradicted": 0,
      "clocks_watched": true, "clock_mhz": 1305.0, "slow_clock": 0, "busy_before": 0,
      "not_still": 0, "beside_others": 0, "disturbed": 0, "users_known": true,
      "other_users": []})"));
  result.tasks[0].timings[0].measured->clock_mhz = 0;
  timing = nlohmann::json::parse(to_json(result))["tasks"][0]["timing"];
  EXPECT_FALSE(timing["measured"].contains("clock_mhz"));
  timing = nlohmann::json::parse(to_json(example()))["tasks"][0]["timing"];
  EXPECT_FALSE(timing.contains("measured"));
}

TEST(Json, HasTheBandOfAModelledTime) {
  GradeResult result = example();
  EXPECT_FALSE(nlohmann::json::parse(to_json(result))["tasks"][0]["timing"].contains("modelled"));
  result.tasks[0].timings[0].modelled = {.low_us = 880, .high_us = 1184};
  const auto task = nlohmann::json::parse(to_json(result))["tasks"][0];
  const auto band = nlohmann::json::parse(R"({"low_us": 880.0, "high_us": 1184.0})");
  EXPECT_EQ(task["timing"]["modelled"], band);
  EXPECT_EQ(task["timings"][0]["modelled"], band);
}

TEST(Json, LeavesOutWhatNobodyCounted) {
  GradeResult result = example();
  auto json = nlohmann::json::parse(to_json(result));
  EXPECT_FALSE(json["tasks"][0]["timings"][0].contains("launches"));
  EXPECT_FALSE(json["tasks"][0]["timings"][0].contains("dram_bytes"));
  result.tasks[0].timings[0].launches.max_points = 2;
  json = nlohmann::json::parse(to_json(result));
  EXPECT_EQ(json["tasks"][0]["timings"][0]["launches"]["max_points"], 2);
  EXPECT_FALSE(json["tasks"][0]["timings"][0]["launches"].contains("count"));
}

}  // namespace
}  // namespace rooflab
