#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "labs/toolkit/plot/plot.h"

namespace rooflab {
namespace {

/// The example of plot.h, word for word: the last test holds the two together.
void example() {
  plot::RooflineChart chart;
  chart.title = "A100 40 GB PCIe";
  chart.roofs = {{"fp32", 19.5e12}};
  chart.memory = {{"DRAM", 1555e9}};
  const double intensity = 4096.0 / 6;  // FLOP per byte
  chart.points = {{"gemm 4096", intensity, 19.5e12, plot::PointKind::predicted},
                  {"gemm 4096", intensity, 16.1e12, plot::PointKind::measured}};
  plot::write(chart, "out/roofline");  // out/roofline.json, out/roofline.csv, out/roofline.svg
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Example, WritesItsThreeFiles) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("plot_example_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  example();
  std::filesystem::current_path(before);
  const plot::RooflineChart chart =
      plot::roofline_from_json(text_of(folder / "out" / "roofline.json"));
  EXPECT_EQ(chart.title, "A100 40 GB PCIe");
  ASSERT_EQ(chart.points.size(), 2U);
  EXPECT_EQ(text_of(folder / "out" / "roofline.csv"), plot::to_csv(chart));
  EXPECT_EQ(text_of(folder / "out" / "roofline.svg"), plot::to_svg(chart));
  std::filesystem::remove_all(folder);
}

TEST(Example, IsWhatTheHeaderShows) {
  const std::string folder = ROOFLAB_SOURCE_DIR "/labs/toolkit/plot/";
  std::istringstream header(text_of(folder + "plot.h"));
  const std::string program = text_of(folder + "example_test.cpp");
  bool inside = false;
  int lines = 0;
  for (std::string line; std::getline(header, line);) {
    if (line == "/// @endcode") inside = false;
    if (inside) {
      ++lines;
      EXPECT_NE(program.find("  " + line.substr(4) + "\n"), std::string::npos) << line;
    }
    if (line == "/// @code") inside = true;
  }
  EXPECT_GT(lines, 5);
}

}  // namespace
}  // namespace rooflab
