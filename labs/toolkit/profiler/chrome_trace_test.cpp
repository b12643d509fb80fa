#include "labs/toolkit/profiler/chrome_trace.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "labs/toolkit/testing/trace_rules.h"

namespace rooflab {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = ProfiledEvent::Kind;

ProfiledEvent event(Kind kind, const std::string& name, double start_us, double duration_us,
                    std::uint64_t correlation = 0) {
  ProfiledEvent one;
  one.kind = kind;
  one.name = name;
  one.start_us = start_us;
  one.duration_us = duration_us;
  one.correlation = correlation;
  return one;
}

/// A range with a launch, a copy and a graph launch of two kernels.
Profile sample() {
  Profile profile;
  profile.device.name = "A100";
  profile.device.multiprocessors = 108;
  profile.events = {
      event(Kind::range, "step", 0, 20),
      event(Kind::api, "cudaLaunchKernel", 0, 2, 1),
      event(Kind::api, "cudaMemcpy", 2, 8, 2),
      event(Kind::kernel, "scale(float*)", 2.25, 3.125, 1),
      event(Kind::copy, "Memcpy DtoH", 6, 4, 2),
      event(Kind::api, "cudaGraphLaunch", 11, 3, 3),
      event(Kind::kernel, "first", 15, 1, 3),
      event(Kind::kernel, "second", 16, 1, 3),
  };
  ProfiledEvent& kernel = profile.events[3];
  kernel.grid = {40, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.registers_per_thread = 24;
  kernel.shared_bytes = 1024;
  kernel.blocks_per_sm = 80.0 / 108;
  kernel.warps_per_sm = 640.0 / 108;
  kernel.occupancy = 0.125;
  kernel.stream = 3;
  return profile;
}

std::vector<json> events(const json& document, const std::string& phase) {
  std::vector<json> chosen;
  for (const json& one : document.at("traceEvents")) {
    if (one.at("ph") == phase) chosen.push_back(one);
  }
  return chosen;
}

TEST(ChromeTrace, KeepsTheRulesOfTheFormat) {
  EXPECT_THAT(TraceRules::faults(chrome_trace(sample())), IsEmpty());
  EXPECT_THAT(TraceRules::faults(chrome_trace(Profile{})), IsEmpty());
  EXPECT_THAT(TraceRules::faults(chrome_trace({sample(), Profile{}, sample()})), IsEmpty());
}

TEST(ChromeTrace, TellsAllOfAKernel) {
  const json document = json::parse(chrome_trace(sample()));
  EXPECT_EQ(document.at("deviceProperties").at(0).at("name"), "A100");
  EXPECT_EQ(document.at("deviceProperties").at(0).at("numSms"), 108);
  for (const json& slice : events(document, "X")) {
    if (slice.at("name") != "scale(float*)") continue;
    EXPECT_EQ(slice.at("ts"), 2.25);
    EXPECT_EQ(slice.at("dur"), 3.125);
    EXPECT_EQ(slice.at("cat"), "kernel");
    const json& args = slice.at("args");
    EXPECT_EQ(args.at("stream"), 3);
    EXPECT_EQ(args.at("correlation"), 1);
    EXPECT_EQ(args.at("registers per thread"), 24);
    EXPECT_EQ(args.at("shared memory"), 1024);
    EXPECT_EQ(args.at("grid"), json({40, 2, 1}));
    EXPECT_EQ(args.at("block"), json({256, 1, 1}));
    EXPECT_EQ(args.at("est. achieved occupancy %"), 12.5);
    EXPECT_NEAR(args.at("blocks per SM").get<double>(), 80.0 / 108, 1e-12);
    return;
  }
  FAIL() << "the kernel is not there";
}

TEST(ChromeTrace, DrawsAnArrowFromEachCallToAllThatItIssued) {
  const json document = json::parse(chrome_trace(sample()));
  EXPECT_THAT(events(document, "s"), SizeIs(4));
  EXPECT_THAT(events(document, "f"), SizeIs(4));
}

TEST(ChromeTrace, DrawsNoArrowBackInTime) {
  Profile profile;
  profile.events = {event(Kind::kernel, "early", 1, 1, 1),
                    event(Kind::api, "cudaLaunchKernel", 2, 2, 1)};
  const std::string text = chrome_trace(profile);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  EXPECT_THAT(events(json::parse(text), "s"), IsEmpty());
}

TEST(ChromeTrace, DrawsWorkThatOverlapsOnLinesOfItsOwn) {
  Profile profile;
  profile.events = {event(Kind::kernel, "left branch", 0, 10),
                    event(Kind::kernel, "right branch", 5, 10), event(Kind::kernel, "join", 15, 1)};
  const std::string text = chrome_trace(profile);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  const auto slices = events(json::parse(text), "X");
  ASSERT_THAT(slices, SizeIs(3));
  EXPECT_NE(slices[0].at("tid"), slices[1].at("tid"));
  EXPECT_EQ(slices[0].at("tid"), slices[2].at("tid"));
}

TEST(ChromeTrace, DrawsNoKernelInsideOfAnother) {
  Profile profile;
  profile.events = {event(Kind::kernel, "long branch", 0, 10),
                    event(Kind::kernel, "short branch", 2, 3)};
  const auto slices = events(json::parse(chrome_trace(profile)), "X");
  ASSERT_THAT(slices, SizeIs(2));
  EXPECT_NE(slices[0].at("tid"), slices[1].at("tid"));
}

TEST(ChromeTrace, TellsRunsApart) {
  Profile first = sample(), second = sample();
  first.name = "gemm: square";
  second.name = "gemm: tall";
  second.modelled = true;
  const json document = json::parse(chrome_trace({first, second}));
  std::vector<std::string> names;
  for (const json& one : events(document, "M")) {
    if (one.at("name") == "process_name") names.push_back(one.at("args").at("name"));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("gemm: square: host", "gemm: square: A100",
                                            "gemm: tall: host (modelled time)",
                                            "gemm: tall: A100 (modelled time)"));
}

TEST(ChromeTrace, IsValidWhateverNamesHold) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Profile profile = sample();
    for (ProfiledEvent& one : profile.events) {
      one.name.clear();
      for (int i = 0; i < 20; ++i) one.name += static_cast<char>(random() & 0xFF);
    }
    profile.name = profile.events[0].name;
    profile.device.name = profile.events[1].name;
    EXPECT_THAT(TraceRules::faults(chrome_trace(profile)), IsEmpty());
  }
  Profile profile = sample();
  const std::string quoted = "a\"b\\c\n\t\x01\x7f</script>\xc3\xa4\xff\xed\xa0\x80";
  profile.events[3].name = quoted;
  const std::string text = chrome_trace(profile);
  EXPECT_THAT(TraceRules::faults(text), IsEmpty());
  std::string found;
  for (const json& one : events(json::parse(text), "X")) {
    if (one.at("cat") == "kernel" && one.at("ts") == 2.25) found = one.at("name");
  }
  const std::string replacement = "\xef\xbf\xbd";
  EXPECT_EQ(found, "a\"b\\c\n\t\x01\x7f</script>\xc3\xa4" + replacement + replacement +
                       replacement + replacement);
}

TEST(ChromeTrace, IsValidWhateverNumbersAre) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double odd : {kInfinity, -kInfinity, std::nan(""), -1e300, 1e300, -0.001}) {
    Profile profile = sample();
    profile.events[3].start_us = odd;
    profile.events[4].duration_us = odd;
    profile.events[3].occupancy = odd;
    profile.events[3].flops = odd;
    EXPECT_THAT(TraceRules::faults(chrome_trace(profile)), IsEmpty()) << odd;
  }
}

/// The rules themselves: each is broken once, and must be told.
struct Damage {
  const char* rule;
  std::function<void(json&)> change;
};

class TraceRulesTell : public ::testing::TestWithParam<Damage> {};

json& find(json& document, const std::string& phase, const std::string& category = "") {
  for (json& one : document.at("traceEvents")) {
    if (one.at("ph") == phase && (category.empty() || one.at("cat") == category)) return one;
  }
  throw std::runtime_error("no such event");
}

TEST_P(TraceRulesTell, OfABrokenTrace) {
  json document = json::parse(chrome_trace(sample()));
  GetParam().change(document);
  EXPECT_THAT(TraceRules::faults(document.dump()), ::testing::Contains(HasSubstr(GetParam().rule)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, TraceRulesTell,
    ::testing::Values(
        Damage{"not a JSON object", [](json& all) { all = json::array(); }},
        Damage{"schemaVersion", [](json& all) { all.erase("schemaVersion"); }},
        Damage{"deviceProperties", [](json& all) { all.erase("deviceProperties"); }},
        Damage{"displayTimeUnit", [](json& all) { all["displayTimeUnit"] = "us"; }},
        Damage{"traceEvents", [](json& all) { all.erase("traceEvents"); }},
        Damage{"no phase", [](json& all) { find(all, "X").erase("ph"); }},
        Damage{"none of X, M", [](json& all) { find(all, "X")["ph"] = "B"; }},
        Damage{"no whole pid", [](json& all) { find(all, "X").erase("pid"); }},
        Damage{"no whole tid", [](json& all) { find(all, "f")["tid"] = "0"; }},
        Damage{"a row 0", [](json& all) { find(all, "X")["tid"] = 0; }},
        Damage{"no name", [](json& all) { find(all, "X").erase("name"); }},
        Damage{"no category", [](json& all) { find(all, "X").erase("cat"); }},
        Damage{"no time", [](json& all) { find(all, "X")["ts"] = -1; }},
        Damage{"no duration", [](json& all) { find(all, "X")["dur"] = -1; }},
        Damage{"a kernel without warps",
               [](json& all) { find(all, "X", "kernel")["args"].erase("warps per SM"); }},
        Damage{"no args.name", [](json& all) { find(all, "M")["args"].erase("name"); }},
        Damage{"process without name", [](json& all) { find(all, "X")["pid"] = 77; }},
        Damage{"row without name", [](json& all) { find(all, "X")["tid"] = 77; }},
        Damage{"not sorted", [](json& all) { find(all, "X")["ts"] = 5; }},
        Damage{"overlap", [](json& all) { find(all, "X")["dur"] = 1; }},
        Damage{"without a pair", [](json& all) { find(all, "s")["ph"] = "f"; }},
        Damage{"without bp", [](json& all) { find(all, "f").erase("bp"); }},
        Damage{"back in time", [](json& all) { find(all, "s")["ts"] = 99; }},
        Damage{"outside of a slice", [](json& all) { find(all, "f")["ts"] = 99; }},
        Damage{"no ac2g", [](json& all) { find(all, "s")["name"] = "flow"; }},
        Damage{"without id", [](json& all) { find(all, "s").erase("id"); }},
        Damage{"begins at no call",
               [](json& all) { find(all, "X", "cuda_runtime")["cat"] = "other"; }},
        Damage{"ends at no work", [](json& all) { find(all, "X", "gpu_memcpy")["cat"] = "other"; }},
        Damage{"between strangers",
               [](json& all) { find(all, "X", "kernel")["args"]["correlation"] = 55; }}));

}  // namespace
}  // namespace rooflab
