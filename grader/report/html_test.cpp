#include "grader/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "grader/report/testing/drawn.h"
#include "grader/report/text.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Reads a document as strictly as XML asks for, apart from HTML's doctype and void elements: every
/// tag closed in order, every attribute quoted and given once, every & an entity. Empty when all is
/// well, else the first fault.
class StrictReader {
 public:
  explicit StrictReader(std::string text) : text_(std::move(text)) {}

  std::string fault() {
    if (text_.starts_with("<!doctype html>")) at_ = 15;
    while (at_ < text_.size() && fault_.empty()) {
      if (text_[at_] != '<') {
        character("text");
      } else if (text_.compare(at_, 2, "</") == 0) {
        close();
      } else {
        open();
      }
    }
    if (fault_.empty() && !open_.empty()) fail("<" + open_.back() + "> is never closed");
    return fault_;
  }

 private:
  void fail(const std::string& what) {
    fault_ = what + " at " + std::to_string(at_) + ": " + text_.substr(at_, 60);
  }
  std::string name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':')) {
      ++at_;
    }
    if (at_ == start) fail("no name");
    return text_.substr(start, at_ - start);
  }
  void character(const char* where) {
    static const Pattern kEntity("^&(amp|lt|gt|quot|#39);");
    if (text_[at_] == '&' && !kEntity.occurs_in(text_.substr(at_, 6))) {
      fail(std::string("a bare & in ") + where);
    }
    if (text_[at_] == '<' || text_[at_] == '>') fail(std::string("a bare < or > in ") + where);
    ++at_;
  }
  void close() {
    at_ += 2;
    const std::string closed = name();
    if (open_.empty() || open_.back() != closed) return fail("</" + closed + "> closes nothing");
    open_.pop_back();
    if (text_.compare(at_, 1, ">") != 0) return fail("no >");
    ++at_;
  }
  void open() {
    ++at_;
    const std::string opened = name();
    std::set<std::string> attributes;
    while (fault_.empty() && at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      const std::string attribute = name();
      if (!attributes.insert(attribute).second) return fail(attribute + " is given twice");
      if (text_.compare(at_, 2, "=\"") != 0) return fail(attribute + " has no quoted value");
      for (at_ += 2; fault_.empty() && at_ < text_.size() && text_[at_] != '"';) {
        character("an attribute");
      }
      ++at_;
    }
    const bool empty = text_.compare(at_, 2, "/>") == 0;
    if (!empty && text_.compare(at_, 1, ">") != 0) return fail("<" + opened + "> does not end");
    at_ += empty ? 2 : 1;
    if (!empty && opened != "meta") open_.push_back(opened);
    if (opened == "style") at_ = text_.find("</style>", at_);  // raw text
  }

  std::string text_;
  std::size_t at_ = 0;
  std::string fault_;
  std::vector<std::string> open_;
};

Timing timing_of(double flops, double bytes, double time_us, const char* peak) {
  Timing timing;
  timing.flops = flops;
  timing.bytes = bytes;
  timing.time_us = time_us;
  timing.peak = peak;
  timing.roofline_us = 1e6 * std::max(flops / small_gpu().peak_flops.at(peak), bytes / 1e12);
  timing.efficiency = timing.roofline_us / time_us;
  timing.target_efficiency = 0.5;
  timing.limiter = "shared";
  timing.terms = {{"shared", time_us}, {"dram", time_us / 3}};
  return timing;
}

/// A grade in which everything that can come from a submission is hostile.
GradeResult hostile_grade() {
  const std::string evil = "</pre></section><script>alert(1)</script><b x='\"&\x1b]0;t\x07\xFF";
  GradeResult grade;
  grade.part = 1;
  grade.title = "Metrics";
  grade.device_name = "simulated Test GPU";
  grade.time_kind = "modelled";
  grade.submission = evil;
  TaskResult timed;
  timed.id = "gemm";
  timed.title = "Product";
  timed.score = 8;
  timed.max_score = 10;
  timed.timings = {timing_of(2e9, 1e7, 1000, "fp32")};
  timed.counters = {{"dram__bytes_read.sum", 12}};
  timed.cases = {{evil, Verdict::pass, false}, {"hidden one", Verdict::pass, true}};
  grade.tasks.push_back(timed);
  TaskResult failed;
  failed.id = "gemv";
  failed.title = "Vector";
  failed.verdict = Verdict::race;
  failed.max_score = 10;
  failed.printed = evil;
  Diagnostic story;
  story.code = "RL0301";
  story.message = story.file = story.context = story.help = evil;
  story.line = 3;
  story.labels = {{evil, 3, 5, 4, evil, evil}};
  story.evidence = story.pattern = story.notes = {evil};
  story.commands = {{"this case", evil}};
  failed.diagnostics.push_back(story);
  grade.tasks.push_back(failed);
  return grade;
}

TEST(Html, TellsEachCaseByASignAndInWords) {
  GradeResult grade = hostile_grade();
  grade.tasks.back().cases = {{"square", Verdict::pass, false},
                              {"one row", Verdict::time_limit, true},
                              {"half", Verdict::not_implemented, false}};
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(html, HasSubstr("<span class=\"verdict pass\">✓ square</span>"));
  EXPECT_THAT(html, HasSubstr("✗ hidden case 1: time limit</span>"));
  EXPECT_THAT(html, HasSubstr("○ half: " + verdict_words(Verdict::not_implemented)));
  grade.tasks.back().graded_later = 10;
  EXPECT_THAT(to_html(grade, small_gpu()), HasSubstr(">square: answered</span>"))
      << "nobody has said yet that it is right";
}

TEST(Html, NumbersHiddenCasesAndNamesNone) {
  const std::string html = to_html(hostile_grade(), small_gpu());
  EXPECT_THAT(html, HasSubstr("hidden case 1"));
  EXPECT_THAT(html, Not(HasSubstr("hidden one")));
}

TEST(Html, IsWellFormedWhateverTheSubmissionIsCalledOrPrints) {
  const std::string html = to_html(hostile_grade(), small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(Html, TheStrictReaderFindsFaults) {
  for (const char* faulty : {"<p>", "<p></b>", "<p x=y></p>", "<p>a & b</p>", "<p>1 < 2</p>",
                             "<p a=\"1\" a=\"2\"></p>", "</p>"}) {
    EXPECT_THAT(StrictReader(faulty).fault(), Not(IsEmpty())) << faulty;
  }
  EXPECT_THAT(StrictReader("<!doctype html><p a=\"1\">&amp;<i/></p>").fault(), IsEmpty());
}

TEST(Html, TakesNothingFromTheNetwork) {
  const std::string html = to_html(hostile_grade(), small_gpu());
  for (const char* loading : {"src=", "@import", "url(", "<link"}) {
    EXPECT_THAT(html, Not(HasSubstr(loading)));
  }
}

TEST(Html, ForbidsScriptsByItsContentSecurityPolicy) {
  EXPECT_THAT(
      to_html(hostile_grade(), small_gpu()),
      HasSubstr("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
}

TEST(Html, TheBodyOfAReportHasAnchorsAndHeadingsOfThePageThatItStandsIn) {
  const std::string body = to_html_body(hostile_grade(), small_gpu(), {"part1-", 3});
  EXPECT_THAT(StrictReader(body).fault(), IsEmpty());
  EXPECT_THAT(body, HasSubstr("<a href=\"#part1-gemm\">gemm</a>"));
  EXPECT_THAT(body, HasSubstr("<section id=\"part1-gemm\"><h4>gemm: Product</h4>"));
  EXPECT_THAT(body, HasSubstr("<h3>Roofline</h3>"));
  EXPECT_THAT(body, HasSubstr("<h5>What limits it: shared memory</h5>"));
  EXPECT_THAT(body, Not(HasSubstr("<h1>")));
  EXPECT_THAT(body, Not(HasSubstr("<h2>")));
}

TEST(Html, ShowsEachTaskInTheTableAndInASectionOfItsOwn) {
  const std::string html = to_html(hostile_grade(), small_gpu());
  for (const TaskResult& task : hostile_grade().tasks) {
    EXPECT_THAT(html, HasSubstr("<a href=\"#" + task.id + "\">"));
    EXPECT_THAT(html, HasSubstr("<section id=\"" + task.id + "\">"));
  }
  EXPECT_THAT(html, HasSubstr("<b>8</b> of 20 points"));
  EXPECT_THAT(html, HasSubstr("times are <b>modelled</b>"));
  EXPECT_THAT(html, HasSubstr("verdict race"));
}

TEST(Html, ATimeWithoutATargetIsNeitherReachedNorMissed) {
  GradeResult grade = hostile_grade();
  grade.tasks[0].timings[0].target_efficiency = 0;
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(html, Not(HasSubstr("full marks at")));
  EXPECT_EQ(count(html, "<title>gemm, modelled: "), 1);
  EXPECT_EQ(count(html, "<title>gemm, target: "), 0);
}

TEST(Html, ListsAllTimedCasesOfATaskThatHasSeveral) {
  GradeResult grade = hostile_grade();
  EXPECT_THAT(to_html(grade, small_gpu()), Not(HasSubstr("Timed cases")));
  Timing further = timing_of(4e9, 1e7, 4000, "fp32");
  further.name = "<twice>";
  further.sampled = true;
  further.bound = "compute";
  grade.tasks[0].timings.push_back(further);
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("Timed cases"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">&lt;twice&gt;</th>"
                              "<td data-name=\"time\"><span>4.00 ms<small>sampled</small>"));
  EXPECT_THAT(html, HasSubstr("1.00 TFLOP/s"));
}

TEST(Html, ShowsTheBandOfAModelledTime) {
  GradeResult grade = hostile_grade();
  Timing& timing = grade.tasks[0].timings[0];
  timing.modelled = {.low_us = 862, .high_us = 1160};
  timing.launches.count = 1;
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_EQ(count(html, "1.00 ms, 0.86 to 1.2"), 2) << "among the tasks and the timed cases";
}

TEST(Html, ShowsLaunchesTrafficAndMemoryWithTheirPoints) {
  GradeResult grade = hostile_grade();
  Timing& timing = grade.tasks[0].timings[0];
  timing.launches = {.count = 8, .full = 1, .points = 0.5, .max_points = 2};
  timing.kernels = 9;
  timing.dram_bytes = {.count = 4e7, .full = 1.1e7, .points = 0, .max_points = 3};
  timing.peak_memory = 2048;
  grade.tasks[0].cases[0].peak_memory = 4096;
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html,
              HasSubstr("<td data-name=\"launches\"><span>8<small>9 kernels</small>"
                        "<small class=\"missed\">0.5 of 2 points, all at 1</small></span></td>"));
  EXPECT_THAT(html,
              HasSubstr("<span>38.1 MiB<small>4.00x the compulsory bytes</small>"
                        "<small class=\"missed\">0 of 3 points, all at 1.10x</small></span>"));
  EXPECT_THAT(html, HasSubstr("2.00 KiB<small>beside the tensors</small>"));
  EXPECT_THAT(html, HasSubstr(", 4.00 KiB of memory</span>"));
  timing.launches.count.reset();
  EXPECT_THAT(to_html(grade, small_gpu()), HasSubstr("not counted<small>points by the time"));
}

TEST(Html, EmbedsChartsAndNoOtherArtifacts) {
  GradeResult grade = hostile_grade();
  grade.tasks[0].artifacts = {{"a.svg", "<?xml version=\"1.0\"?>\n<svg><g id=\"drawn\"/></svg>"},
                              {"b.csv", "label,value"}};
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("<svg><g id=\"drawn\"/></svg>"));
  EXPECT_THAT(html, HasSubstr("<figcaption>a.svg"));
  EXPECT_THAT(html, Not(HasSubstr("label,value")));
}

TEST(Html, HasNoChartWhenNothingHasBeenTimed) {
  GradeResult grade = hostile_grade();
  grade.tasks.erase(grade.tasks.begin());
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(html, Not(HasSubstr("Roofline of the")));
  EXPECT_THAT(html, Not(HasSubstr("Latency")));
}

TEST(Html, ACaseAloneEarnsNothingAndHasNoBar) {
  GradeResult grade = hostile_grade();
  grade.tasks.resize(1);
  grade.tasks[0].score = grade.tasks[0].max_score = 0;
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("A single case earns no points"));
  EXPECT_THAT(html, Not(HasSubstr("0 of 0")));
  EXPECT_THAT(html, Not(HasSubstr("0/0")));
}

TEST(Html, SaysThatThereIsNothingToGainWhereTheCaseAsksForAllOfIt) {
  GradeResult grade = hostile_grade();
  Timing& timing = grade.tasks[0].timings[0];
  timing.terms = {{"l1", 90}, {"exchange", 40}};
  timing.limiter = "l1";
  timing.efficiency = timing.target_efficiency;
  timing.limit = {.what = "the L1 cache",
                  .kernel = "gemv",
                  .cost_us = timing.time_us,
                  .without_us = timing.time_us,
                  .least = true,
                  .next = "L2 traffic",
                  .change = "read each byte once",
                  .counter = "dram__bytes.sum",
                  .counter_value = 0,
                  .proof = "0 multiply-adds"};
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("What limits it: the L1 cache"));
  EXPECT_THAT(html, HasSubstr("<span>exchanges between lanes</span>"));
  EXPECT_THAT(html, HasSubstr("there is nothing to gain here"));
  EXPECT_THAT(html, Not(HasSubstr("read each byte once")));
  EXPECT_THAT(html, Not(HasSubstr("<dt>without it")));
  EXPECT_THAT(html, Not(HasSubstr("0 multiply-adds"))) << "it proves nothing";
  timing.limit.least = false;
  EXPECT_THAT(to_html(grade, small_gpu()), HasSubstr("L2 traffic would limit as much"));
  timing.limit.without_us = timing.time_us / 2;
  EXPECT_THAT(to_html(grade, small_gpu()), HasSubstr(" (modelled), then L2 traffic limits"));
}

TEST(Html, EveryTimingStandsOnTheRooflineWithItsTarget) {
  GradeResult grade = hostile_grade();
  std::vector<Timing>& timings = grade.tasks[0].timings;
  timings.push_back(timing_of(4e9, 1e8, 1000, "bf16_tensor"));
  timings[0].name = "small <one>";
  timings[1].name = "large one";
  timings[1].sampled = true;
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  // 2e9 FLOPs over 1e7 bytes in 1 ms; full marks at half of the 1e13 FLOP/s of fp32.
  EXPECT_THAT(html,
              HasSubstr("<title>gemm, small &lt;one&gt;, modelled: 200 FLOP/B, 2.00 TFLOP/s"));
  EXPECT_THAT(html, HasSubstr("<title>gemm, small &lt;one&gt;, target: 200 FLOP/B, 5.00 TFLOP/s"));
  // 4e9 FLOPs over 1e8 bytes: half of 40 FLOP/B times 1e12 B/s.
  EXPECT_THAT(html, HasSubstr("<title>gemm, large one, modelled: 40.0 FLOP/B, 4.00 TFLOP/s"));
  EXPECT_THAT(html, HasSubstr("<title>gemm, large one, target: 40.0 FLOP/B, 20.0 TFLOP/s"));
  EXPECT_THAT(html, HasSubstr("fp32, 10.0 TFLOP/s"));
  EXPECT_THAT(html, HasSubstr("bf16 tensor, 100 TFLOP/s"));
  EXPECT_THAT(html, HasSubstr("DRAM, 1.00 TB/s"));
  EXPECT_EQ(count(html, "<div class=\"latency\"><span>gemm, "), 2);
  EXPECT_THAT(html, HasSubstr("<span>gemm, large one</span>"));
  EXPECT_THAT(html, HasSubstr("1.00 ms <small>sampled, roofline 100 us</small>"));
}

TEST(Html, MeasuredTimesAreMarkedAsMeasured) {
  GradeResult grade = hostile_grade();
  grade.time_kind = "measured";
  EXPECT_EQ(count(to_html(grade, small_gpu()), "<title>gemm, measured: "), 1);
}

TEST(Html, SaysHowATimeWasMeasured) {
  GradeResult grade = hostile_grade();
  EXPECT_THAT(to_html(grade, small_gpu()), Not(HasSubstr("class=\"measured\"")));
  Timing& timing = grade.tasks[0].timings[0];
  timing.name = "big <one>";
  timing.spread_us = 20;
  timing.measured = {.samples = 12, .low_us = 990, .high_us = 1010, .dropped = 3};
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("1.00 ms ±2.00 %"));
  EXPECT_THAT(html, HasSubstr("<p class=\"measured\">big &lt;one&gt;: median of 12 samples, "
                              "known to -1.00 % and +1.00 %; 3 samples dropped, taken while"));
  EXPECT_THAT(html, HasSubstr("clocks were not watched"));
}

TEST(Html, SaysWhichPeaksMeasuredTimesAreHeldAgainst) {
  GradeResult grade = hostile_grade();
  EXPECT_THAT(to_html(grade, small_gpu()), Not(HasSubstr("peaks: ")));
  grade.time_kind = "measured";
  EXPECT_THAT(to_html(grade, small_gpu()), HasSubstr("</b> · peaks: data sheet · "));
  grade.peaks = "calibrated on this <GPU>, 2026-03-14";
  EXPECT_THAT(to_html(grade, small_gpu()),
              HasSubstr("peaks: calibrated on this &lt;GPU&gt;, 2026-03-14"));
}

TEST(Html, ACopyWithoutArithmeticStandsAtTheBorder) {
  GradeResult grade = hostile_grade();
  grade.tasks[0].timings = {timing_of(0, 1e9, 1500, "fp32")};
  const std::string html = to_html(grade, small_gpu());
  EXPECT_THAT(StrictReader(html).fault(), IsEmpty());
  EXPECT_THAT(html, HasSubstr("gemm (outside: 0 FLOP/B, 0 FLOP/s)"));
}

TEST(Html, SaysWhichCheckoutReplaysTheGrade) {
  GradeResult result = hostile_grade();
  result.checkout = "3f2a9c1b7d40, <b>changed";
  EXPECT_THAT(to_html(result, small_gpu()),
              HasSubstr(" · checkout: 3f2a9c1b7d40, &lt;b&gt;changed"));
}

}  // namespace
}  // namespace rooflab
