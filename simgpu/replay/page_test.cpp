#include "simgpu/replay/page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "simgpu/replay/join.h"
#include "simgpu/replay/page_data.h"

namespace simgpu::replay {
namespace {

using nlohmann::json;

constexpr const char* kSource =
    "__global__ void race(const float* in, float* out) {\n"
    "  __shared__ float tile[8][8];\n"
    "  const int i = threadIdx.x;\n"
    "  tile[i / 8][i % 8] = in[i];\n"
    "  out[i] = tile[7 - i / 8][i % 8];\n"
    "}\n";

std::optional<std::string> source_of(const std::string& file) {
  if (file.find("race") == std::string::npos) return std::nullopt;
  return kSource;
}

Access access_of(Action action, std::uint64_t first) {
  Access access{.action = action, .bytes = 4, .lanes = 0xFFFFFFFF, .addresses = {}};
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) access.addresses.push_back(first + 4 * lane);
  return access;
}

RegisterValues floats(std::uint32_t reg) {
  RegisterValues values{
      .reg = reg, .type = ValueType::f32, .lanes = 0xFFFFFFFF, .values = {}, .name = kNone};
  for (unsigned lane = 0; lane < kLanes; ++lane) values.values.push_back(0x3f800000 + lane);
  return values;
}

/// Two warps: one stores a half of a tile, the other one reads it without a barrier.
Recording race() {
  Recording recording;
  recording.kernel = "race";
  recording.grid = {1, 1, 1};
  recording.block = {64, 1, 1};
  recording.shared_bytes = 256;
  recording.parameters = {
      {.name = "in", .type = "float*", .bytes = std::vector<std::uint8_t>(8, 1)}};
  recording.arrays = {{"tile", 0, 256, "float", {8, 8}}};
  recording.files = {"part1/race.cu"};
  for (std::uint32_t line = 3; line <= 5; ++line) recording.places.push_back({0, line, {}});
  recording.names = {"i"};
  recording.blocks = {{}};
  recording.warps = {{.block = 0, .warp = 1, .registers = {}, .left_out = {}},
                     {.block = 0, .warp = 0, .registers = {}, .left_out = {}}};
  for (const std::uint32_t warp : {0U, 1U}) {
    for (std::uint32_t place = 0; place < 3; ++place) {
      Step step;
      step.warp = warp;
      step.number = place;
      step.place = place;
      step.active = 0xFFFFFFFF;
      step.registers = {floats(place + 1)};
      const std::uint64_t own = warp == 0 ? 128 : 0;
      if (place == 0)
        step.registers.push_back({.reg = 1,
                                  .type = ValueType::s32,
                                  .lanes = 0xFFFFFFFF,
                                  .values = std::vector<std::uint64_t>(32, 7),
                                  .name = 0});
      if (place == 1) {
        step.accesses = {access_of(Action::store, own)};
        step.shared = {{static_cast<std::uint32_t>(own), std::vector<std::uint8_t>(128, 1),
                        recording.warps[warp].warp, place}};
      }
      if (place == 2) step.accesses = {access_of(Action::load, 128 - own)};
      recording.steps.push_back(step);
    }
  }
  recording.marks = {{1, 3, 0}, {5, 3, 0}};
  return recording;
}

PageWords words() {
  return {.title = "race, case 1",
          .code = "RL0302",
          .message = "A thread reads tile[4][3] while another one writes it",
          .lines = {"thread (3,0) and thread (35,0)"}};
}

/// What hostile programs call their kernels, files, arrays and variables.
Recording hostile() {
  const std::string breaks_out = "</script><script>document.title='owned';alert(1)</script>";
  const std::string markup = "<img src=x onerror=alert(2)>";
  const std::string lines =
      "a\xE2\x80\xA8"
      "b\xE2\x80\xA9"
      "c";
  const std::string broken = "\xff\xfe\xc3(";
  Recording recording = race();
  recording.kernel = breaks_out;
  recording.arrays[0].name = markup + broken;
  recording.files[0] = "race" + breaks_out + lines;
  recording.names[0] = markup;
  recording.parameters[0].name = "__proto__";
  recording.places[1].inlined_at = {{breaks_out, markup, 3, 1}};
  recording.allocations = {{0, 16, breaks_out}};
  return recording;
}

PageWords hostile_words() {
  return {.title = "</title><script>alert(3)</script>",
          .code = "<b>RL</b>",
          .message = "<!--<script>" + std::string(100'000, 'x'),
          .lines = {"</ul><script>alert(4)</script>", "\xff\xff"}};
}

std::string data_in(const std::string& page) {
  const std::string before = "id=\"data\">";
  const std::size_t first = page.find(before) + before.size();
  return page.substr(first, page.find("</script>", first) - first);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(ReplayPage, HoldsTheRecordingAsJson) {
  const json data = json::parse(data_in(page_html(race(), words(), source_of)));
  EXPECT_EQ(data["launches"][0]["kernel"], "race");
  EXPECT_EQ(data["message"], words().message);
  ASSERT_EQ(data["steps"].size(), 6U);
  EXPECT_EQ(data["steps"][1]["accesses"][0]["action"], "store");
  EXPECT_EQ(data["steps"][1]["accesses"][0]["at"]["b"], "80");
  EXPECT_EQ(data["steps"][1]["accesses"][0]["at"]["d"], "4");
  EXPECT_EQ(data["marks"][1]["step"], 5);
  EXPECT_EQ(data["files"][0]["lines"][3], "  tile[i / 8][i % 8] = in[i];");
  EXPECT_EQ(data["launches"][0]["arrays"][0]["extents"], json({8, 8}));
  EXPECT_EQ(data["launches"][0]["parameters"][0]["name"], "in");
}

TEST(ReplayPage, LoadsNothingAndAllowsItsOwnScriptAlone) {
  const std::string page = page_html(race(), words(), source_of);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(
      page.find("default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-"),
      std::string::npos);
  EXPECT_EQ(page.find("unsafe"), std::string::npos);
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, " src="), 0U);
  EXPECT_EQ(count(page, "http"), 1U) << "but for http-equiv";
}

TEST(ReplayPage, TextsOfAGuestCannotLeaveItsData) {
  const std::string page = page_html(hostile(), hostile_words(), source_of);
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, "</script>"), 2U);
  const std::string data = data_in(page);
  for (const char* sign : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    EXPECT_EQ(data.find(sign), std::string::npos) << sign;
  }
  EXPECT_EQ(json::parse(data)["launches"][0]["kernel"], hostile().kernel);
  EXPECT_LT(json::parse(data)["message"].get<std::string>().size(), 1000U);
}

TEST(ReplayPage, IsBoundedAndSaysWhatIsMissing) {
  Recording recording = race();
  const std::vector<Step> six = recording.steps;
  for (int i = 0; i < 3000; ++i) {
    Step step = six[static_cast<std::size_t>(i) % six.size()];
    for (RegisterValues& values : step.registers) {
      for (std::uint64_t& value : values.values) value = value * value * 40503U ^ value << 7U;
    }
    recording.steps.push_back(step);
  }
  recording.marks.clear();
  const std::string page = page_html(recording, words(), source_of);
  EXPECT_LE(page.size(), kMostPageBytes);
  const json data = json::parse(data_in(page));
  EXPECT_LT(data["steps"].size(), recording.steps.size());
  EXPECT_GT(data["steps"].size(), 100U);
  EXPECT_NE(data["lines"].back().get<std::string>().find("too large"), std::string::npos);
}

TEST(ReplayPage, OfAFileThatIsNotThereShowsItsNameAndLine) {
  Recording recording = race();
  recording.files[0] = "gone.cu";
  const json data = json::parse(data_in(page_html(recording, words(), source_of)));
  EXPECT_EQ(data["files"][0]["name"], "gone.cu");
  EXPECT_TRUE(data["files"][0]["lines"].empty());
}

/// Two launches that race: one access of each.
Recording two_launches() {
  const auto with_first_mark = [](const std::string& kernel, std::uint64_t address) {
    Recording recording = race();
    recording.kernel = kernel;
    recording.marks.resize(1);
    recording.parameters[0].bytes.assign(8, static_cast<std::uint8_t>(address));
    return recording;
  };
  return joined(with_first_mark("race", 1), with_first_mark("scale_in_place", 2));
}

TEST(ReplayPage, OfTwoLaunchesHasBothWithTheirOwnArguments) {
  const json data = json::parse(data_in(page_html(two_launches(), words(), source_of)));
  ASSERT_EQ(data["launches"].size(), 2U);
  EXPECT_EQ(data["launches"][0]["kernel"], "race");
  EXPECT_EQ(data["launches"][1]["kernel"], "scale_in_place");
  EXPECT_NE(data["launches"][0]["parameters"], data["launches"][1]["parameters"]);
  EXPECT_EQ(data["blocks"][1]["launch"], 1);
  EXPECT_EQ(data["marks"].size(), 2U);
  EXPECT_EQ(data["files"].size(), 1U);
}

/// Pages for scripts/check_replay_pages, which opens them in a browser.
TEST(SamplePages, AreWrittenWhereAsked) {
  const char* const folder = std::getenv("ROOFLAB_SAMPLE_PAGES");  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) GTEST_SKIP() << "ROOFLAB_SAMPLE_PAGES names no folder";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& page) {
    std::ofstream(std::filesystem::path(folder) / name) << page;
  };
  write("race.html", page_html(race(), words(), source_of));
  write("hostile.html", page_html(hostile(), hostile_words(), source_of));
  write("launches.html", page_html(two_launches(), words(), source_of));
  write("empty.html", page_html({}, words(), source_of));
}

}  // namespace
}  // namespace simgpu::replay
