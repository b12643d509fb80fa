#include "grader/report/source_page.h"

#include <gmock/gmock.h>

#include "grader/report/access_picture.h"
#include "grader/report/line_json.h"

namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::Not;

SourceCosts costs_of(const std::string& source, double time_us) {
  LineCost line;
  line.record.file = "gemm.cu";
  line.record.line = 2;
  line.record.time_us = time_us;
  line.record.limiter = simgpu::Limiter::shared;
  line.record.counters.warp_instructions = 1000;
  line.record.counters.thread_instructions = 16000;
  line.record.instructions.push_back({.ptx_line = 40,
                                      .text = "ld.shared.f32 %f1, [%r1];",
                                      .time_us = time_us,
                                      .limiter = {},
                                      .counters = {},
                                      .picture = {}});
  line.source = source;
  line.words = "shared memory";
  SourceCosts costs;
  costs.kernels_us = 100;
  costs.lines = {line};
  costs.sources["gemm.cu"] = "// one\n" + source + "\n// three\n";
  return costs;
}

/// As costs_of(), in a function that line 1 calls.
SourceCosts inlined_costs() {
  SourceCosts costs = costs_of("sum += a[k];", 60);
  costs.lines[0].record.calls.push_back({{{.function = "dot", .file = "gemm.cu", .line = 1}}, 60});
  return costs;
}

simgpu::AccessPicture picture(bool is_shared, std::uint64_t stride) {
  simgpu::AccessPicture picture;
  picture.is_shared = is_shared;
  picture.bytes = 4;
  picture.mask = ~0U;
  for (std::uint64_t lane = 0; lane < 32; ++lane) picture.offsets.push_back(lane * stride);
  picture.transactions = 32;
  picture.fewest = is_shared ? 1 : 4;
  return picture;
}

TEST(SourcePage, ShowsALinesOwnTextWhereItsFileIsNotThere) {
  SourceCosts costs = costs_of("sum += As[k];", 61);
  costs.sources.clear();
  const std::string page = source_page_html(costs, 3);
  EXPECT_THAT(page, HasSubstr("sum += As[k];"));
  EXPECT_THAT(page, Not(HasSubstr("// three")));
}

TEST(SourcePage, ShowsTheShareOfALineBesideItsSource) {
  const std::string page = source_page_html(costs_of("sum += As[k];", 61), 3);
  EXPECT_THAT(page, HasSubstr("61.0 %"));
  EXPECT_THAT(page, HasSubstr("sum += As[k];"));
  EXPECT_THAT(page, HasSubstr("16.0 active lanes"));
  EXPECT_THAT(page, HasSubstr("// three")) << "the lines around it are there";
}

TEST(SourcePage, HasThePtxOfALineInAnElementThatOpens) {
  const std::string page = source_page_html(costs_of("sum += As[k];", 61), 3);
  EXPECT_THAT(page, HasSubstr("<details><summary>PTX</summary>"));
  EXPECT_THAT(page, HasSubstr("ld.shared.f32 %f1, [%r1];"));
}

TEST(SourcePage, LetsNothingOfTheSourceBecomeHtml) {
  SourceCosts costs = costs_of("x<script>alert(1)</script>", 61);
  costs.lines[0].record.instructions[0].text = "<img src=x onerror=alert(2)>";
  costs.lines[0].record.file = costs.lines[0].record.file + "<b>";
  const std::string page = source_page_html(costs, 3);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
}

TEST(SourcePage, ShowsInlinedLinesUnderTheirCall) {
  const std::string page = source_page_html(inlined_costs(), 3);
  EXPECT_THAT(page, HasSubstr("60.0 %*")) << "the line of the call has the cost of what is below";
  EXPECT_THAT(page, HasSubstr("inlined here"));
  EXPECT_THAT(page, HasSubstr("gemm.cu:2 in dot"));
}

TEST(SourcePage, StaysSmallWhateverTheSubmissionIs) {
  SourceCosts costs = costs_of("x;", 1);
  std::string& source = costs.sources["gemm.cu"];
  for (std::uint32_t i = 0; i < 5000; ++i) {
    source += std::string(5000, 'x') + "\n";
    costs.lines.push_back(costs.lines[0]);
    costs.lines.back().record.line = i + 3;
  }
  EXPECT_LT(source_page_html(costs, 3).size(), std::size_t{1} << 20);
}

TEST(SourcePage, SaysWhyThereAreNoLines) {
  SourceCosts costs;
  EXPECT_EQ(source_page_html(costs, 3), "");
  costs.missing = "a real GPU tells no lines";
  EXPECT_THAT(source_page_html(costs, 3), HasSubstr("a real GPU tells no lines"));
}

TEST(AccessPicture, DrawsALineForEachLane) {
  const std::string svg = access_svg(picture(false, 1024));
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<line"); at != std::string::npos;
       at = svg.find("<line", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 32u);
  EXPECT_THAT(svg, HasSubstr("bytes 1024 to 1055"));
}

TEST(AccessPicture, MarksBanksThatAreAskedForSeveralWords) {
  EXPECT_THAT(access_svg(picture(true, 128)), HasSubstr("bank 0: 32 different words"));
  EXPECT_THAT(access_svg(picture(true, 4)), Not(HasSubstr("class=\"conflict\"")));
  EXPECT_THAT(access_words(picture(true, 128)), HasSubstr("32 wavefronts of shared memory"));
}

TEST(LineJson, HasTheLinesOrWhyThereAreNone) {
  nlohmann::ordered_json timing;
  add_lines(costs_of("sum += As[k];", 61), timing);
  EXPECT_EQ(timing["lines"][0]["file"], "gemm.cu");
  EXPECT_EQ(timing["lines"][0]["line"], 2);
  EXPECT_EQ(timing["lines"][0]["limiter"], "shared");
  EXPECT_NEAR(timing["lines"][0]["share"].get<double>(), 0.61, 1e-9);
  EXPECT_FALSE(timing.contains("lines_missing"));
  SourceCosts none;
  none.missing = "no";
  nlohmann::ordered_json other;
  add_lines(none, other);
  EXPECT_EQ(other["lines_missing"], "no");
}

}  // namespace
}  // namespace rooflab
