#include "labs/toolkit/plot/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>
#include <random>
#include <set>

#include "labs/toolkit/plot/plot.h"
#include "labs/toolkit/plot/testing/svg_reader.h"

namespace rooflab::plot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& file) {
  std::ifstream stream(ROOFLAB_SOURCE_DIR "/labs/toolkit/plot/golden/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// After a change that is meant: build/bin/plot golden/NAME.json --svg golden/NAME.svg, and look.
TEST(Golden, TheChartsLookAsTheyWereLookedAt) {
  EXPECT_EQ(to_svg(roofline_from_json(text_of("roofline.json"))), text_of("roofline.svg"));
  EXPECT_EQ(to_svg(latency_from_json(text_of("latency.json"))), text_of("latency.svg"));
  EXPECT_EQ(to_svg(attention_from_json(text_of("attention.json"))), text_of("attention.svg"));
}

RooflineChart a100() {
  return {
      "A100", {{"fp32", 19.5e12}, {"bf16 tensor", 312e12}}, {{"DRAM", 1555e9}, {"L2", 7219e9}}, {}};
}

std::vector<Element> elements_of(const std::vector<Element>& all, const std::string& css_class) {
  std::vector<Element> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Element& element) { return element.is(css_class); });
  return found;
}

std::vector<Element> texts_of(const std::vector<Element>& all) {
  std::vector<Element> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [](const Element& element) { return element.name == "text"; });
  return found;
}

/// The area of a text as drawn: its box about a place on the baseline, turned about that place.
class TextArea {
 public:
  explicit TextArea(const Element& text)
      : words(text.text.substr(0, text.text.find('\n'))),
        x_(text.number("x")),
        y_(text.number("y")) {
    width_ = text_width(words);
    const auto anchor = text.attributes.find("text-anchor");
    if (anchor != text.attributes.end()) left_ = anchor->second == "end" ? -width_ : -width_ / 2;
    const auto transform = text.attributes.find("transform");
    if (transform != text.attributes.end())
      radians_ = std::stod(transform->second.substr(7)) * std::numbers::pi / 180;
  }

  /// Places all over the area.
  std::vector<std::pair<double, double>> places() const {
    std::vector<std::pair<double, double>> all;
    for (double along = 0; along <= width_; along += std::min(width_, 3.0)) {
      for (double above = -kTextDescent; above <= kTextHeight - kTextDescent; above += 3) {
        const double dx = left_ + along, dy = -above;
        all.emplace_back(x_ + dx * std::cos(radians_) - dy * std::sin(radians_),
                         y_ + dx * std::sin(radians_) + dy * std::cos(radians_));
      }
    }
    return all;
  }
  bool holds(double x, double y) const {
    // Coordinates in a picture are rounded to a tenth.
    constexpr double kRounding = 0.2;
    const double dx = x - x_, dy = y - y_;
    const double along = dx * std::cos(radians_) + dy * std::sin(radians_) - left_;
    const double above = dx * std::sin(radians_) - dy * std::cos(radians_);
    return along > kRounding && along < width_ - kRounding && above > -kTextDescent + kRounding &&
           above < kTextHeight - kTextDescent - kRounding;
  }

  std::string words;

 private:
  double x_, y_, left_ = 0, width_ = 0, radians_ = 0;
};

/// Texts apart from each other and inside of the canvas. The title is larger than other texts, and
/// alone in its row.
void expect_readable(const std::string& svg) {
  const std::vector<Element> all = read_svg(svg);
  const std::string view_box = all.front().attributes.at("viewBox");
  const double height = std::stod(view_box.substr(view_box.rfind(' ')));
  std::vector<TextArea> areas;
  for (const Element& text : texts_of(all)) {
    if (!text.is("title")) areas.emplace_back(text);
  }
  for (const TextArea& area : areas) {
    for (const auto& [x, y] : area.places()) {
      ASSERT_TRUE(x >= 0 && x <= kCanvasWidth && y >= 0 && y <= height) << area.words;
      for (const TextArea& other : areas) {
        if (&other == &area) continue;
        ASSERT_FALSE(other.holds(x, y)) << area.words << " on " << other.words;
      }
    }
  }
}

/// Labels of roofs, memory levels and points: on no roof, and on no line that joins points or leads
/// to another label.
void expect_labels_off_the_lines(const std::string& svg) {
  const std::vector<Element> all = read_svg(svg);
  std::vector<Element> lines;
  for (const char* css_class : {"roof", "pair", "leader"}) {
    for (const Element& line : elements_of(all, css_class)) lines.push_back(line);
  }
  for (const Element& text : elements_of(all, "on-plot")) {
    const TextArea area(text);
    for (const Element& line : lines) {
      for (double share = 0; share <= 1; share += 0.002) {
        const double x = line.number("x1") + share * (line.number("x2") - line.number("x1"));
        const double y = line.number("y1") + share * (line.number("y2") - line.number("y1"));
        ASSERT_FALSE(area.holds(x, y)) << area.words << " on a " << line.attributes.at("class");
      }
    }
  }
}

RooflineChart random_roofline(std::mt19937& random) {
  static const std::vector<Roof> kRoofs{{"fp64", 9.7e12},        {"fp32", 19.5e12},
                                        {"tf32 tensor", 156e12}, {"fp16 tensor", 312e12},
                                        {"bf16 tensor", 312e12}, {"fp8 <tensor>", 1979e12}};
  const auto any = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  RooflineChart chart{"Random", {}, {{"DRAM", std::pow(10, any(11, 12.7))}}, {}};
  const auto roofs = static_cast<std::size_t>(any(1, 6.99));
  for (std::size_t i = 0; i < roofs; ++i) chart.roofs.push_back(kRoofs[i]);
  if (any(0, 1) < 0.5) chart.memory.push_back({"L2", chart.memory[0].bytes_per_second * any(1, 8)});
  // Half of the charts crowd their points.
  const double spread = any(0, 1) < 0.5 ? 0.3 : 8;
  const double x = any(-2, 3), y = any(9, 14);
  const int points = static_cast<int>(any(0, 60));
  for (int i = 0; i < points; ++i) {
    chart.points.push_back(
        {std::string(static_cast<std::size_t>(any(0, 20)), 'w') + std::to_string(i / 2),
         std::pow(10, x + any(-spread, spread)), std::pow(10, y + any(-spread, spread)),
         static_cast<PointKind>(i % 4)});
  }
  return chart;
}

TEST(RooflineSvg, LabelsCoverNothingWhateverThePoints) {
  std::mt19937 random(20);
  for (int round = 0; round < 15; ++round) {
    const RooflineChart chart = random_roofline(random);
    const std::string svg = to_svg(chart);
    expect_readable(svg);
    expect_labels_off_the_lines(svg);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round << "\n" << to_json(chart);
  }
}

TEST(RooflineSvg, LabelsEveryPointOfAnOrdinaryChart) {
  RooflineChart chart = a100();
  for (int i = 0; i < 12; ++i)
    chart.points.push_back(
        {"gemm " + std::to_string(i), 100.0 + 10 * i, 1e12 + 1e11 * i, PointKind::modelled});
  const std::string svg = to_svg(chart);
  for (int i = 0; i < 12; ++i)
    EXPECT_THAT(svg, HasSubstr(">gemm " + std::to_string(i) + "</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("without room")));
}

TEST(RooflineSvg, SaysHowManyLabelsFoundNoRoom) {
  RooflineChart chart = a100();
  for (int i = 0; i < 256; ++i)
    chart.points.push_back(
        {"a long name of a kernel, number " + std::to_string(i), 10, 1e11, PointKind::measured});
  const std::string svg = to_svg(chart);
  expect_readable(svg);
  EXPECT_THAT(svg, HasSubstr("Labels without room: "));
  EXPECT_EQ(elements_of(read_svg(svg), "measured").size(), 257U) << "all points and the legend";
}

/// The frame, the lines of the grid and the labels of the ticks.
std::vector<std::map<std::string, std::string>> axes_of(const std::string& svg) {
  std::vector<std::map<std::string, std::string>> axes;
  for (const char* css_class : {"grid", "power", "frame", "roof", "ridge"}) {
    for (const Element& element : elements_of(read_svg(svg), css_class))
      axes.push_back(element.attributes);
  }
  return axes;
}

TEST(RooflineSvg, AxesFollowFromTheRoofsAlone) {
  RooflineChart few = a100(), many = a100();
  few.points = {{"gemm", 170, 4e12, PointKind::modelled}};
  many.points = {{"slow", 1e-9, 1, PointKind::predicted},
                 {"fast", 1e9, 1e20, PointKind::predicted}};
  // The legend's row holds a ridge point as well, which stands elsewhere beside other kinds.
  const auto plot_only = [](auto axes) {
    std::erase_if(axes,
                  [](const auto& one) { return one.count("cy") && std::stod(one.at("cy")) < 60; });
    return axes;
  };
  EXPECT_EQ(plot_only(axes_of(to_svg(few))), plot_only(axes_of(to_svg(many))));
  EXPECT_GT(axes_of(to_svg(few)).size(), 20U);
}

TEST(RooflineSvg, PointsStandAtTheirLogarithms) {
  RooflineChart chart = a100();
  chart.points = {{"a", 1, 1e11, PointKind::modelled},
                  {"b", 10, 1e12, PointKind::modelled},
                  {"ridge", 19.5e12 / 1555e9, 19.5e12, PointKind::modelled}};
  const std::vector<Element> all = read_svg(to_svg(chart));
  std::map<std::string, const Element*> points;
  for (const Element& element : all) {
    if (element.is("modelled") && element.number("cy") > 60)
      points[std::to_string(points.size())] = &element;
  }
  ASSERT_EQ(points.size(), 3U);
  // A decade right and a decade up: as long as the distance of two grid lines a decade apart.
  std::vector<double> columns, rows;
  for (const Element& line : elements_of(all, "power")) {
    if (line.attributes.at("x1") == line.attributes.at("x2")) columns.push_back(line.number("x1"));
    if (line.attributes.at("y1") == line.attributes.at("y2")) rows.push_back(line.number("y1"));
  }
  EXPECT_NEAR(points["1"]->number("cx") - points["0"]->number("cx"), columns[1] - columns[0], 0.15);
  EXPECT_NEAR(points["1"]->number("cy") - points["0"]->number("cy"), rows[1] - rows[0], 0.15);
  // The ridge point of fp32 and DRAM is marked where a point of its intensity and rate stands.
  bool marked = false;
  for (const Element& ridge : elements_of(all, "ridge"))
    marked |= ridge.attributes.at("cx") == points["2"]->attributes.at("cx") &&
              ridge.attributes.at("cy") == points["2"]->attributes.at("cy");
  EXPECT_TRUE(marked);
}

TEST(RooflineSvg, KindsDifferInFormAndInTheLegend) {
  RooflineChart chart = a100();
  for (const PointKind kind :
       {PointKind::predicted, PointKind::modelled, PointKind::measured, PointKind::target})
    chart.points.push_back({"gemm", 100, 1e12, kind});
  const std::vector<Element> all = read_svg(to_svg(chart));
  std::set<std::string> forms;
  for (const char* kind : {"predicted", "modelled", "measured", "target"}) {
    const auto found = elements_of(all, kind);
    ASSERT_EQ(found.size(), 2U) << kind << ": the legend's marker and the point";
    // The path about its first place; circles have none.
    const auto path = found[0].attributes.find("d");
    forms.insert(path == found[0].attributes.end()
                     ? "circle"
                     : std::to_string(path->second.size()) + path->second);
  }
  EXPECT_EQ(forms.size(), 4U);
}

TEST(RooflineSvg, APointOutsideStandsAtTheBorderWithAnArrow) {
  RooflineChart chart = a100();
  chart.points = {{"copy", 0, 0, PointKind::modelled}, {"inside", 10, 1e12, PointKind::modelled}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(elements_of(read_svg(svg), "arrow").size(), 1U);
  EXPECT_THAT(svg, HasSubstr(">copy (outside: 0 FLOP/B, 0 FLOP/s)</text>"));
  EXPECT_THAT(svg, HasSubstr("Outside of the axes, with an arrow at the border: 1."));
}

TEST(RooflineSvg, EscapesEveryText) {
  RooflineChart chart = a100();
  const std::string evil = "</text><script x='1' y=\"2\">&lt;";
  chart.title = chart.roofs[0].label = chart.memory[0].label = evil;
  chart.points = {{evil, 10, 1e12, PointKind::modelled}};
  const std::string svg = to_svg(chart);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  const std::vector<Element> all = read_svg(svg);
  EXPECT_EQ(all[1].name, "title");
  EXPECT_EQ(all[1].text, evil + "\n");
  EXPECT_EQ(all.front().attributes.at("aria-label"), evil);
}

TEST(LatencySvg, ReadableWhateverTheValues) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> exponent(-4, 4);
  for (int round = 0; round < 30; ++round) {
    LatencyChart chart{"Random", "size", {}, {}};
    const int sizes = 1 + round, lines = 1 + round % 8;
    for (int i = 0; i < sizes; ++i)
      chart.x.push_back(std::to_string((i + 1) * (round % 2 ? 128 : -1)));
    for (int s = 0; s < lines; ++s) {
      chart.latency_ms.push_back({"series with <name> " + std::to_string(s), {}});
      for (int i = 0; i < sizes; ++i)
        chart.latency_ms[s].values.push_back(random() % 5 == 0 ? kOutOfMemory
                                                               : std::pow(10, exponent(random)));
    }
    expect_readable(to_svg(chart));
    ASSERT_FALSE(HasFatalFailure()) << to_json(chart);
  }
}

TEST(LatencySvg, SizesThatDoubleStandEquallyFarApartAndMissingValuesBreakTheLine) {
  const LatencyChart chart{"Products",
                           "n",
                           {"512", "1024", "2048", "4096", "8192"},
                           {{"tiled", {1, 2, kOutOfMemory, 8, 16}}}};
  const std::vector<Element> all = read_svg(to_svg(chart));
  std::vector<double> columns;
  for (const Element& element : elements_of(all, "filled")) {
    if (element.number("cy") > 60) columns.push_back(element.number("cx"));
  }
  ASSERT_EQ(columns.size(), 4U);
  EXPECT_NEAR(columns[2] - columns[1], 2 * (columns[1] - columns[0]), 0.3);
  int lines = 0;
  for (const Element& element : elements_of(all, "line")) lines += element.name == "polyline";
  EXPECT_EQ(lines, 2);
  EXPECT_THAT(to_svg(chart), HasSubstr("<title>tiled, 2048: out of memory</title>"));
}

TEST(AttentionSvg, ReadableWhateverTheValues) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> exponent(-2, 9);
  for (int round = 0; round < 30; ++round) {
    AttentionChart chart{"Random", {}, {}, {}};
    const int lengths = 1 + round, bars = 1 + round % 8;
    for (int i = 0; i < lengths; ++i) chart.lengths.push_back(512LL << (i % 12));
    for (int s = 0; s < bars; ++s) {
      for (auto* panel : {&chart.latency_ms, &chart.memory_bytes}) {
        panel->push_back({"variant " + std::to_string(s), {}});
        for (int i = 0; i < lengths; ++i)
          panel->back().values.push_back(random() % 4 == 0 ? kOutOfMemory
                                                           : std::pow(10, exponent(random)));
      }
    }
    expect_readable(to_svg(chart));
    ASSERT_FALSE(HasFatalFailure()) << to_json(chart);
  }
}

TEST(AttentionSvg, HasABarForEachValueAndACrossForEachMissingOne) {
  const AttentionChart chart{"Attention",
                             {512, 1024, 2048},
                             {{"naive", {1, 4, kOutOfMemory}}, {"flash", {0.5, 1, 2}}},
                             {{"naive", {1e6, 4e6, kOutOfMemory}}, {"flash", {1e5, 2e5, 4e5}}}};
  const std::vector<Element> all = read_svg(to_svg(chart));
  int bars = 0, crosses = 0;
  for (const Element& element : all) {
    bars += element.name == "rect" && element.is("filled");
    crosses += element.name == "path" && element.is("line");
  }
  EXPECT_EQ(bars, 10);
  EXPECT_EQ(crosses, 2);
  EXPECT_THAT(to_svg(chart), HasSubstr(">out of memory</text>"));
}

}  // namespace
}  // namespace rooflab::plot
