#include "grader/report/roofline_scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/report/testing/drawn.h"

namespace rooflab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ScatterSeries series_of(const std::string& label, const std::vector<double>& rates) {
  ScatterSeries series{label, "fp32", {}};
  for (const double rate : rates) series.marks.push_back({"somebody", 10, rate});
  return series;
}

TEST(RooflineScatter, HasAMarkForEachRunAndTheMedianOfEachTask) {
  const std::string svg = roofline_scatter(
      "Part 1",
      {series_of("gemm", {1e12, 4e12, 2e12}), series_of("gemv", {1e11, 3e11, 2e11, 4e11})},
      small_gpu());
  EXPECT_EQ(count(svg, "<title>somebody, gemm: "), 3);
  EXPECT_EQ(count(svg, "<title>somebody, gemv: "), 4);
  EXPECT_THAT(svg, HasSubstr("<title>gemm, median: 2.00 TFLOP/s</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>gemv, median: 250 GFLOP/s</title>"));
  EXPECT_THAT(svg, HasSubstr("gemm: 3 marks, median 2.00 TFLOP/s."));
}

TEST(RooflineScatter, DrawsTheRoofsThatAreRunAgainstAlone) {
  ScatterSeries series = series_of("gemm", {1e12});
  series.peak = "bf16_tensor";
  const std::string svg = roofline_scatter("Part 1", {series}, small_gpu());
  EXPECT_THAT(svg, HasSubstr("bf16 tensor, 100 TFLOP/s"));
  EXPECT_THAT(svg, HasSubstr("fp32, 10.0 TFLOP/s"));
  EXPECT_THAT(svg, Not(HasSubstr("fp64")));
  EXPECT_THAT(svg, Not(HasSubstr("median of a task")));
}

TEST(RooflineScatter, LeavesOutWhatHasNoPlaceOnLogarithmicAxes) {
  EXPECT_THAT(roofline_scatter("Part 1", {series_of("gemm", {0, NAN, -1, INFINITY})}, small_gpu()),
              IsEmpty());
  EXPECT_THAT(roofline_scatter("Part 1", {}, small_gpu()), IsEmpty());
  const std::string svg = roofline_scatter(
      "Part 1", {series_of("gemm", {0, 1e12}), series_of("untimed", {})}, small_gpu());
  EXPECT_EQ(count(svg, "<title>somebody, gemm: "), 1);
  EXPECT_THAT(svg, Not(HasSubstr("untimed")));
}

TEST(RooflineScatter, StaysWithinItsFrameAndIsTheSameOnEveryRun) {
  ScatterSeries series = series_of("gemm", {1e-3, 1e30});
  series.marks[0].intensity = 1e-9;
  series.marks[1].intensity = 1e12;
  const std::string svg = roofline_scatter("Part 1", {series}, small_gpu());
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, roofline_scatter("Part 1", {series}, small_gpu()));
}

TEST(RooflineScatter, EscapesWhatAnybodyIsCalled) {
  ScatterSeries series = series_of("<b>&", {1e12});
  series.marks[0].label =
      std::string("</title><script>alert(1)</script>\x1b\xff") + std::string(10'000, 'W');
  const std::string svg = roofline_scatter("<i>", {series}, small_gpu());
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;"));
  EXPECT_LT(svg.size(), 20'000U);
}

}  // namespace
}  // namespace rooflab
