#include "grader/report/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace rooflab {
namespace {

using testing::HasSubstr;

GradeResult full_result() {
  Timing timing;
  timing.time_us = 0.1 + 0.2;
  timing.efficiency = 1.0 / 3;
  timing.terms = {{"dram", 1e-300}, {"issue", 12.5}};
  timing.launches = {.count = 3, .full = 2, .points = 1.5, .max_points = 4};
  timing.peak_memory = 1ULL << 53;
  timing.modelled = {.low_us = 0.25, .high_us = 0.4};
  Diagnostic diagnostic;
  diagnostic.code = "RL0301";
  diagnostic.labels = {
      {.file = "a.cu", .line = 3, .column = 4, .length = 5, .excerpt = "x", .text = "y"}};
  diagnostic.commands = {{"replay", "grader --part 1"}, {"hint", "grader --hint"}};
  TaskResult task;
  task.id = "gemm";
  task.verdict = Verdict::race;
  task.cases = {{.name = "64", .verdict = Verdict::race, .hidden = true, .peak_memory = 17},
                {.name = "65"}};
  task.timings = {timing};
  task.diagnostics = {diagnostic};
  task.artifacts = {{"plot.svg", "<svg/>"}};
  task.counters = {{"dram__bytes.sum", 1e18}};
  GradeResult result;
  result.part = 2;
  result.seed = 0xFFFF'FFFF;
  result.checkout = "3f2a9c1b7d40, changed";
  result.sandbox = {"bubblewrap"};
  result.tasks = {task};
  return result;
}

TEST(Evidence, IsReadBackWithNothingLost) {
  const std::string text = to_evidence(full_result());
  const GradeResult again = from_evidence(text);
  EXPECT_EQ(to_evidence(again), text);
  EXPECT_EQ(again.checkout, "3f2a9c1b7d40, changed");
  const TaskResult& task = again.tasks.at(0);
  EXPECT_EQ(task.verdict, Verdict::race);
  EXPECT_EQ(task.timings.at(0).time_us, 0.1 + 0.2);
  EXPECT_EQ(task.timings.at(0).launches.count, 3);
  ASSERT_TRUE(task.timings.at(0).modelled);
  EXPECT_EQ(task.timings.at(0).modelled->high_us, 0.4);
  EXPECT_FALSE(task.timings.at(0).dram_bytes.count.has_value());
  EXPECT_EQ(task.cases.at(0).peak_memory, 17U);
  EXPECT_FALSE(task.cases.at(1).peak_memory.has_value());
  EXPECT_EQ(task.diagnostics.at(0).commands.at(1).second, "grader --hint");
}

TEST(Evidence, OfBeforeCheckoutsWereKeptIsReadWithoutOne) {
  auto document = nlohmann::json::parse(to_evidence(full_result()));
  document["result"].erase("checkout");
  EXPECT_EQ(from_evidence(document.dump()).checkout, "");
}

/// A timed call whose lines take less and less time.
SourceCosts costs_of(std::size_t lines) {
  SourceCosts costs;
  costs.kernels_us = 100;
  for (std::size_t i = 0; i < lines; ++i) {
    LineCost& line = costs.lines.emplace_back();
    line.record.file = "gemm.cu";
    line.record.line = static_cast<std::uint32_t>(i + 1);
    line.record.time_us = 50.0 / static_cast<double>(i + 1);
    line.record.limiter = simgpu::Limiter::shared_atomics;
    line.record.counters.bank_conflicts = 1ULL << 40;
    line.record.instructions.resize(100);
    line.source = std::string(10000, 'x');
    line.words = "shared memory";
  }
  return costs;
}

TEST(Evidence, KeepsTheSlowestLinesWithTheirCounters) {
  GradeResult result = full_result();
  result.tasks[0].timings[0].costs = costs_of(3);
  const std::string text = to_evidence(result);
  const SourceCosts costs = from_evidence(text).tasks[0].timings.at(0).costs;
  ASSERT_EQ(costs.lines.size(), 3U);
  EXPECT_EQ(costs.kernels_us, 100);
  EXPECT_EQ(costs.lines[1].record.file, "gemm.cu");
  EXPECT_EQ(costs.lines[1].record.line, 2U);
  EXPECT_EQ(costs.lines[1].record.time_us, 25);
  EXPECT_EQ(costs.lines[1].record.limiter, simgpu::Limiter::shared_atomics);
  EXPECT_EQ(costs.lines[1].record.counters.bank_conflicts, 1ULL << 40);
  EXPECT_EQ(costs.lines[1].words, "shared memory");
  EXPECT_EQ(to_evidence(from_evidence(text)), text);
}

TEST(Evidence, OfLinesHasABoundedSize) {
  GradeResult result = full_result();
  const std::size_t without = to_evidence(result).size();
  result.tasks[0].timings[0].costs = costs_of(256);
  const std::string text = to_evidence(result);
  EXPECT_LT(text.size() - without, 12'000U);
  EXPECT_EQ(from_evidence(text).tasks[0].timings[0].costs.lines.size(), 12U);
}

TEST(Evidence, WithoutLinesIsStillRead) {
  const std::string text = to_evidence(full_result());
  const std::string older =
      text.substr(0, text.find("\"costs\":null,")) + text.substr(text.find("\"costs\":null,") + 13);
  ASSERT_LT(older.size(), text.size());
  EXPECT_TRUE(from_evidence(older).tasks[0].timings.at(0).costs.lines.empty());
}

TEST(Evidence, WrittenBeforeModelledTimesHadBandsIsRead) {
  auto document = nlohmann::json::parse(to_evidence(full_result()));
  ASSERT_EQ(document["result"]["tasks"][0]["timings"][0].erase("modelled"), 1U);
  const Timing timing = from_evidence(document.dump()).tasks[0].timings.at(0);
  EXPECT_FALSE(timing.modelled);
  EXPECT_EQ(timing.time_us, 0.1 + 0.2);
}

TEST(Evidence, KeepsHowATimeWasMeasured) {
  GradeResult result = full_result();
  EXPECT_FALSE(from_evidence(to_evidence(result)).tasks[0].timings.at(0).measured);
  result.tasks[0].timings[0].measured = {.samples = 12, .low_us = 0.1, .clocks_watched = true};
  const auto again = from_evidence(to_evidence(result)).tasks[0].timings.at(0).measured;
  ASSERT_TRUE(again);
  EXPECT_EQ(again->samples, 12);
  EXPECT_EQ(again->low_us, 0.1);
  EXPECT_TRUE(again->clocks_watched);
}

TEST(Evidence, KeepsWhoElseWasOnTheGpuAndReadsWhatWasWrittenBeforeAnybodyAsked) {
  GradeResult result = full_result();
  result.tasks[0].timings[0].measured = {
      .samples = 12, .busy_before = 3, .other_users = {{4211, "python3", 3ULL << 30}}};
  auto document = nlohmann::json::parse(to_evidence(result));
  auto again = from_evidence(document.dump()).tasks[0].timings.at(0).measured;
  EXPECT_EQ(again->busy_before, 3);
  ASSERT_EQ(again->other_users.size(), 1U);
  EXPECT_EQ(again->other_users[0].name, "python3");
  auto& measured = document["result"]["tasks"][0]["timings"][0]["measured"];
  for (const char* later : {"busy_before", "disturbed", "users_known", "other_users"}) {
    ASSERT_EQ(measured.erase(later), 1U);
  }
  again = from_evidence(document.dump()).tasks[0].timings.at(0).measured;
  EXPECT_EQ(again->samples, 12);
  EXPECT_EQ(again->busy_before, 0);
}

TEST(Evidence, KeepsAnswersAndTheJournalAndReadsWhatWasWrittenBeforeThereWereAny) {
  GradeResult result = full_result();
  result.tasks[0].answers = {{.question = "peak",
                              .verdict = Verdict::wrong_answer,
                              .given = "2048",
                              .is_other_unit = true,
                              .cause = "a slip"}};
  result.journal = Journal{{{.time = 1764504000,
                             .task = "gemv",
                             .verdict = Verdict::race,
                             .hints = 2,
                             .codes = {"RL0301"}}}};
  auto document = nlohmann::json::parse(to_evidence(result));
  GradeResult again = from_evidence(document.dump());
  ASSERT_EQ(again.tasks[0].answers.size(), 1U);
  EXPECT_EQ(again.tasks[0].answers[0].given, "2048");
  EXPECT_TRUE(again.tasks[0].answers[0].is_other_unit);
  ASSERT_TRUE(again.journal);
  EXPECT_EQ(again.journal->runs.at(0).time, 1764504000);
  EXPECT_EQ(again.journal->runs.at(0).codes.at(0).text(), "RL0301");
  ASSERT_EQ(document["result"].erase("journal"), 1U);
  ASSERT_EQ(document["result"]["tasks"][0].erase("answers"), 1U);
  again = from_evidence(document.dump());
  EXPECT_FALSE(again.journal);
  EXPECT_TRUE(again.tasks[0].answers.empty());
}

TEST(Evidence, KeepsEveryVerdictByItsName) {
  for (int i = 0; i <= static_cast<int>(Verdict::grader_fault); ++i) {
    GradeResult result;
    result.tasks.resize(1);
    result.tasks[0].verdict = static_cast<Verdict>(i);
    const std::string text = to_evidence(result);
    EXPECT_THAT(text, HasSubstr(name_of(static_cast<Verdict>(i))));
    EXPECT_EQ(from_evidence(text).tasks[0].verdict, static_cast<Verdict>(i));
  }
}

TEST(Evidence, SurvivesOutputThatIsNoUtf8) {
  GradeResult result;
  result.tasks.resize(1);
  result.tasks[0].printed = std::string("a\xFF\0b", 4);
  EXPECT_EQ(from_evidence(to_evidence(result)).tasks[0].printed,
            std::string("a\xEF\xBF\xBD\0b", 6));
}

TEST(Evidence, OfVersion3IsReadWithoutWhatItDidNotKnow) {
  GradeResult result;
  TaskResult& task = result.tasks.emplace_back();
  task.score = 7;
  task.cases.push_back({.name = "four"});
  task.timings.resize(1);
  task.diagnostics.resize(1);
  auto old = nlohmann::json::parse(to_evidence(result));
  old["version"] = 3;
  nlohmann::json& written = old["result"]["tasks"][0];
  for (const char* key : {"groups", "for_people", "graded_later", "hidden_cases"}) {
    ASSERT_EQ(written.erase(key), 1U) << key;
  }
  ASSERT_EQ(written["cases"][0].erase("group"), 1U);
  ASSERT_EQ(written["timings"][0].erase("at_least"), 1U);
  ASSERT_EQ(written["diagnostics"][0].erase("groups"), 1U);
  const TaskResult read = from_evidence(old.dump()).tasks.at(0);
  EXPECT_EQ(read.score, 7);
  EXPECT_EQ(read.cases.at(0).name, "four");
  EXPECT_THAT(read.groups, testing::IsEmpty());
}

TEST(Evidence, WrittenBeforeThereWereLaddersIsRead) {
  GradeResult result = full_result();
  result.ladders = {{.id = "a", .title = "A", .steps = {"b", "c"}}};
  auto document = nlohmann::json::parse(to_evidence(result));
  EXPECT_EQ(from_evidence(document.dump()).ladders.at(0).steps.at(1), "c");
  ASSERT_EQ(document["result"].erase("ladders"), 1U);
  EXPECT_THAT(from_evidence(document.dump()).ladders, testing::IsEmpty());
}

TEST(Evidence, WithOtherNumbersWhereThereAreWholeOnesIsRefused) {
  const auto document = nlohmann::json::parse(to_evidence(full_result()));
  for (const char* place :
       {"/version", "/result/part", "/result/tasks/0/cases/0/peak_memory",
        "/result/tasks/0/diagnostics/0/labels/0/line", "/result/tasks/0/hidden_cases",
        "/result/tasks/0/timings/0/peak_memory"}) {
    for (const double number : {1e20, -1.5, 0.5}) {
      auto changed = document;
      changed.at(nlohmann::json::json_pointer(place)) = number;
      EXPECT_THROW(from_evidence(changed.dump()), EvidenceError) << place << ' ' << number;
    }
  }
}

TEST(Evidence, OfAnotherVersionOrFormIsRefused) {
  EXPECT_THROW(from_evidence("{}"), EvidenceError);
  EXPECT_THROW(from_evidence("nonsense"), EvidenceError);
  EXPECT_THROW(from_evidence(R"({"version":3,"result":{}})"), EvidenceError);
  try {
    from_evidence(R"({"version":7,"result":{}})");
    FAIL();
  } catch (const EvidenceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 7"));
  }
}

}  // namespace
}  // namespace rooflab
