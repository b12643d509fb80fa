#include "simgpu/cli/trace_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "labs/toolkit/testing/trace_rules.h"

namespace simgpu::cli {
namespace {

using nlohmann::json;
using rooflab::TraceRules;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<json> events(const std::string& text, const std::string& phase) {
  std::vector<json> chosen;
  const json document = json::parse(text);
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) chosen.push_back(event);
  }
  return chosen;
}

TEST(TraceFile, OfAProgramKeepsTheRulesAndJoinsEveryLaunchWithItsKernel) {
  const std::string build = ROOFLAB_BINARY_DIR;
  const auto file =
      std::filesystem::temp_directory_path() / ("simgpu_trace_" + std::to_string(getpid()));
  const std::string command = "'" + build + "/bin/simgpu' run --check none --trace " +
                              file.string() + " -- '" + build + "/cuda/activities' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::filesystem::remove(file);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  EXPECT_THAT(events(text, "s"), SizeIs(35)) << "33 kernels, a copy and a memset";
  EXPECT_THAT(text, Not(HasSubstr("__cuda"))) << "a launch is told as people write it";
}

TEST(TraceFile, GivesWorkThatOverlapsALineOfItsOwn) {
  Activity activity;
  activity.calls.push_back(
      {.sequence = 0, .name = "cudaGraphLaunch", .start_us = 0, .time_us = 2, .correlation = 1});
  for (const double start : {3.0, 4.0, 8.0}) {
    KernelRecord& kernel = activity.kernels.emplace_back();
    kernel.name = "node";
    kernel.start_us = start;
    kernel.time.total_us = 4;
    kernel.correlation = 1;
    kernel.graph_launch = 1;
    kernel.stream = 2;
  }
  const std::string text = trace_json(activity, "a100", 108);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  std::vector<json> nodes;
  for (const json& event : events(text, "X")) {
    if (event.at("cat") == "kernel") nodes.push_back(event);
  }
  ASSERT_THAT(nodes, SizeIs(3));
  EXPECT_NE(nodes[0].at("tid"), nodes[1].at("tid"));
  EXPECT_EQ(nodes[0].at("tid"), nodes[2].at("tid"));
  EXPECT_THAT(events(text, "f"), SizeIs(3)) << "one launch, an arrow to each node";
}

TEST(TraceFile, HasALineForWorkBeforeTheClockBegan) {
  Activity activity;
  KernelRecord& kernel = activity.kernels.emplace_back();
  kernel.start_us = -3;
  kernel.time.total_us = 1;
  const std::string text = trace_json(activity, "a100", 108);
  EXPECT_THAT(events(text, "X"), SizeIs(1));
}

TEST(TraceFile, IsValidWhateverAKernelIsNamed) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Activity activity;
    KernelRecord& kernel = activity.kernels.emplace_back();
    for (int i = 0; i < 30; ++i) kernel.name += static_cast<char>(random() & 0xFF);
    kernel.time.total_us = 1;
    EXPECT_THAT(TraceRules::faults(trace_json(activity, "a100", 108)), IsEmpty());
  }
  EXPECT_THAT(TraceRules::faults(trace_json({}, "a100", 108)), IsEmpty());
}

}  // namespace
}  // namespace simgpu::cli
