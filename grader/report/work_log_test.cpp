#include "grader/report/work_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/measures.h"

namespace rooflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

WorkLog two_versions() {
  LoggedVersion first{.version = 1,
                      .hypothesis = "each multiply-add loads two floats",
                      .counter = "sectors per load",
                      .result = "as expected",
                      .has_run = true};
  first.time_us = 664;
  first.efficiency = 0.17;
  first.limiter = "the L1 cache";
  first.counter_now = "2.5";
  LoggedVersion second = first;
  second.version = 2;
  second.hypothesis = "padding removes the conflicts";
  second.counter = "bank conflicts";
  second.time_us = 332;
  second.limiter = "shared memory";
  second.counter_before = "0 %";
  second.counter_now = "0 %";
  second.is_compared = true;
  second.result = "";
  return {.kernel = "gemm_tiled", .versions = {first, second}};
}

TEST(WorkLogReportTest, AVersionIsShownAgainstTheOneBefore) {
  EXPECT_THAT(
      work_log_lines(two_versions(), 100),
      ElementsAre("version 1  664 us  17.0 % of the roofline  limited by the L1 cache",
                  "  expected  each multiply-add loads two floats",
                  "  counter   sectors per load 2.5", "  result    as expected",
                  "version 2  664 us -> 332 us (2.0x faster)  17.0 % of the roofline  limited by "
                  "shared memory",
                  "  expected  padding removes the conflicts",
                  "  counter   bank conflicts 0 % -> 0 %: it did not move", "  result    (open)"));
  EXPECT_EQ(work_log_words(two_versions()),
            "gemm_tiled in 2 versions: 664 us -> 332 us, 2.0x faster");
}

TEST(WorkLogReportTest, FiguresThatWereGradedAgainSaySo) {
  WorkLog log = two_versions();
  log.versions[1].is_graded_again = true;
  log.versions[1].differs = "the log says 100 us";
  EXPECT_THAT(work_log_text(log),
              HasSubstr("  figures   graded again from its kept files; the log says 100 us\n"));
}

TEST(WorkLogReportTest, AVersionWithoutARunHasNoTimes) {
  WorkLog log = two_versions();
  log.versions[0].has_run = false;
  EXPECT_THAT(work_log_text(log), HasSubstr("version 1  no logged run\n"));
  EXPECT_THAT(work_log_text(log), HasSubstr("version 2  332 us  "));
  log.versions[1].has_run = false;
  EXPECT_EQ(work_log_words(log), "no version has a logged run");
}

TEST(WorkLogReportTest, WordsOfAStudentCannotBeMarkupOrCommands) {
  WorkLog log = two_versions();
  log.kernel = log.versions[0].hypothesis = log.versions[0].counter = log.versions[0].result =
      log.versions[0].device = log.versions[0].limiter = log.versions[0].differs =
          "<script>alert('x')</script>\n\x1b[31mred\xE2\x80\xAE";
  const std::string html = work_log_html(log);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  for (const std::string& text : {html, work_log_text(log)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
  }
  EXPECT_THAT(work_log_text(log), Not(HasSubstr("\n\xE2\x90\x9B"))) << "no line of its own";
}

TEST(WorkLogReportTest, TheTableMarksACounterThatDidNotMove) {
  EXPECT_THAT(work_log_html(two_versions()),
              HasSubstr("<span class=\"missed\">bank conflicts 0 % -&gt; 0 %: it did not move"));
}

TEST(MeasuresTest, ACounterGoesByItsNameInReportsOrInNsightCompute) {
  const std::map<std::string, double> counters = {{"smsp__inst_executed.sum", 12}};
  EXPECT_EQ(named_counter("Bank Conflicts", counters)->name, "bank conflicts");
  EXPECT_EQ(named_counter("smsp__inst_executed.sum", counters)->measure, nullptr);
  EXPECT_FALSE(named_counter("bank conflict", counters).has_value());
  EXPECT_FALSE(named_counter("", counters).has_value());
}

TEST(MeasuresTest, AllFullNamesDiffer) {
  auto names = measure_names();
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(MeasuresTest, AFifthMoreOrLessIsAMove) {
  const auto instructions = *named_counter("instructions of warps", {});
  EXPECT_FALSE(has_moved(instructions, 100'000, 110'000));
  EXPECT_TRUE(has_moved(instructions, 100'000, 125'000));
  EXPECT_TRUE(has_moved(instructions, 100'000, 50'000));
  const NamedCounter raw{nullptr, "smsp__inst_executed.sum"};
  EXPECT_FALSE(has_moved(raw, 0, 0));
  EXPECT_TRUE(has_moved(raw, 0, 1));
}

}  // namespace
}  // namespace rooflab
