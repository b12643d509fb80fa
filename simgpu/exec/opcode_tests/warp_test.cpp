#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <optional>
#include <set>

#include "simgpu/exec/opcode_tests/bench.h"
#include "simgpu/exec/opcode_tests/tested_instructions.h"

/// Exchanges between the lanes of a warp, against loops over the lanes each one names.
namespace simgpu::opcode_tests::warp_test {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<std::uint64_t>;

constexpr std::uint32_t kAll = 0xFFFFFFFFu;
constexpr std::uint64_t kUntouchedWord = 0x5a5a5a5a;

/// What one lane is to get; nothing where PTX leaves it open.
struct Expected {
  std::optional<std::uint64_t> value;
  std::optional<bool> flag;
};

/// One warp: operands by lane, and the lanes that execute.
struct Operands {
  Values a, b, c;
  Values members;  ///< the mask that each lane names
  std::uint32_t executing = kAll;

  bool runs(unsigned lane) const { return (executing >> lane & 1) != 0; }
  std::uint32_t named(unsigned lane) const {
    return static_cast<std::uint32_t>(members[lane]) & executing;
  }
};

using Oracle = std::function<Expected(const Operands&, unsigned lane)>;

/// $d the result, $p the flag, $a $b $c operands, $m the named lanes.
struct WarpCase {
  std::string text;
  bool wide = false;  ///< $a is 64 bits
  Oracle expected;
};

std::string kernel_of(const std::string& name, const WarpCase& warp_case) {
  std::string text;
  for (std::size_t i = 0; i < warp_case.text.size(); ++i) {
    if (warp_case.text[i] != '$') {
      text += warp_case.text[i];
      continue;
    }
    switch (warp_case.text[++i]) {
      case 'd':
        text += "%r4";
        break;
      case 'p':
        text += "%q1";
        break;
      case 'v':  // a predicate operand
        text += "%q2";
        break;
      case 'a':
        text += warp_case.wide ? "%d0" : "%r0";
        break;
      case 'b':
        text += "%r1";
        break;
      case 'c':
        text += "%r2";
        break;
      default:
        text += "%r3";
        break;
    }
  }
  return bench_kernel(
      name,
      take("d0", "p0") +
          "  cvt.u32.u64 %r0, %d0;\n  and.b32 %word, %r0, 1;\n  setp.ne.u32 %q2, %word, 0;\n" +
          take("r1", "p1") + take("r2", "p2") + take("r3", "p3") +
          "  mov.u32 %r4, 0x5a5a5a5a;\n  setp.ne.u32 %q1, %lane, %lane;\n  @%q0 " + text + "\n" +
          give("r4", "p4", 0, 2) + give_predicate("q1", "p4", 1, 2));
}

/// CUDA's width as the operand of shfl: the segments' mask, and the last lane of a segment.
std::uint64_t width_operand(unsigned width, bool up) { return (32 - width) << 8 | (up ? 0 : 31); }

/// The lane a shuffle reads, as the CUDA guide describes it: within segments of `width` lanes.
std::optional<unsigned> source_in_segment(const std::string& mode, unsigned lane, unsigned b,
                                          unsigned width) {
  const int first = static_cast<int>(lane / width * width);
  const int own = static_cast<int>(lane) - first;
  const int amount = static_cast<int>(b % 32);
  const int size = static_cast<int>(width);
  int from = 0;
  if (mode == "up") from = own - amount;
  if (mode == "down") from = own + amount;
  if (mode == "idx") from = amount % size;
  if (mode == "bfly") {
    // A butterfly may reach into an earlier segment, not into a later one.
    const int other = static_cast<int>(lane) ^ amount;
    if (other >= first + size) return std::nullopt;
    return static_cast<unsigned>(other);
  }
  if (from < 0 || from >= size) return std::nullopt;
  return static_cast<unsigned>(first + from);
}

Expected shuffled(const Operands& x, unsigned lane, std::optional<unsigned> from) {
  const unsigned source = from.value_or(lane);
  Expected expected{std::nullopt, from.has_value()};
  if ((x.named(lane) >> source & 1) != 0) expected.value = x.a[source] & kAll;
  return expected;
}

Oracle shuffle_oracle(const std::string& mode) {
  return [=](const Operands& x, unsigned lane) {
    const auto c = static_cast<unsigned>(x.c[lane]);
    const unsigned width = 32 - (c >> 8 & 31);
    return shuffled(x, lane,
                    source_in_segment(mode, lane, static_cast<unsigned>(x.b[lane]), width));
  };
}

/// vote and redux: a fold over the named lanes.
Expected folded(const Operands& x, unsigned lane,
                const std::function<std::int64_t(std::int64_t, std::int64_t)>& operation,
                bool is_signed) {
  std::optional<std::int64_t> sum;
  for (unsigned other = 0; other < kWarpLanes; ++other) {
    if ((x.named(lane) >> other & 1) == 0) continue;
    const auto word = static_cast<std::uint32_t>(x.a[other]);
    const std::int64_t value =
        is_signed ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word};
    sum = sum ? operation(*sum, value) : value;
  }
  return {static_cast<std::uint64_t>(*sum) & kAll, std::nullopt};
}

std::uint32_t ballot(const Operands& x, unsigned lane) {
  std::uint32_t votes = 0;
  for (unsigned other = 0; other < kWarpLanes; ++other) {
    const bool named = (x.named(lane) >> other & 1) != 0;
    if (named && x.a[other] % 2 == 1) votes |= 1u << other;
  }
  return votes;
}

Expected flag_of(bool value) { return {std::nullopt, value}; }

std::vector<WarpCase> vote_cases() {
  std::vector<WarpCase> cases;
  const auto add = [&](const std::string& mode, auto decide) {
    cases.push_back(
        {"vote.sync." + mode + ".pred $p, $v, $m;", false, [=](const Operands& x, unsigned lane) {
           return flag_of(decide(ballot(x, lane), x.named(lane)));
         }});
    cases.push_back(
        {"vote.sync." + mode + ".pred $p, !$v, $m;", false, [=](const Operands& x, unsigned lane) {
           return flag_of(decide(x.named(lane) & ~ballot(x, lane), x.named(lane)));
         }});
  };
  add("all", [](std::uint32_t votes, std::uint32_t lanes) { return votes == lanes; });
  add("any", [](std::uint32_t votes, std::uint32_t) { return votes != 0; });
  add("uni", [](std::uint32_t votes, std::uint32_t lanes) { return votes == 0 || votes == lanes; });
  cases.push_back({"vote.sync.ballot.b32 $d, $v, $m;", false, [](const Operands& x, unsigned lane) {
                     return Expected{ballot(x, lane), std::nullopt};
                   }});
  return cases;
}

std::vector<WarpCase> match_cases() {
  std::vector<WarpCase> cases;
  for (const bool wide : {false, true}) {
    const std::string type = wide ? ".b64" : ".b32";
    const auto equal = [=](const Operands& x, unsigned lane) {
      std::uint32_t same = 0;
      for (unsigned other = 0; other < kWarpLanes; ++other) {
        const std::uint64_t difference = x.a[other] ^ x.a[lane];
        const bool equals = wide ? difference == 0 : (difference & kAll) == 0;
        if (equals && (x.named(lane) >> other & 1) != 0) same |= 1u << other;
      }
      return same;
    };
    cases.push_back(
        {"match.any.sync" + type + " $d, $a, $m;", wide, [=](const Operands& x, unsigned lane) {
           return Expected{equal(x, lane), std::nullopt};
         }});
    const auto all = [=](const Operands& x, unsigned lane) {
      const bool same = equal(x, lane) == x.named(lane);
      return Expected{same ? x.named(lane) : 0, same};
    };
    cases.push_back({"match.all.sync" + type + " $d|$p, $a, $m;", wide, all});
    cases.push_back(
        {"match.all.sync" + type + " $d, $a, $m;", wide, [=](const Operands& x, unsigned lane) {
           return Expected{all(x, lane).value, std::nullopt};
         }});
  }
  return cases;
}

std::vector<WarpCase> reduction_cases() {
  std::vector<WarpCase> cases;
  const auto add = [&](const std::string& operation, const std::string& type, auto fold) {
    cases.push_back(
        {"redux.sync." + operation + "." + type + " $d, $a, $m;", false,
         [=](const Operands& x, unsigned lane) { return folded(x, lane, fold, type == "s32"); }});
  };
  using Int = std::int64_t;
  for (const std::string type : {"u32", "s32"}) {
    add("add", type, [](Int a, Int b) { return a + b; });
    add("min", type, [](Int a, Int b) { return a < b ? a : b; });
    add("max", type, [](Int a, Int b) { return a < b ? b : a; });
  }
  add("and", "b32", [](Int a, Int b) { return a & b; });
  add("or", "b32", [](Int a, Int b) { return a | b; });
  add("xor", "b32", [](Int a, Int b) { return a ^ b; });
  return cases;
}

std::vector<WarpCase> shuffle_cases() {
  std::vector<WarpCase> cases;
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    cases.push_back(
        {"shfl.sync." + mode + ".b32 $d|$p, $a, $b, $c, $m;", false, shuffle_oracle(mode)});
    cases.push_back({"shfl.sync." + mode + ".b32 $d, $a, $b, $c, $m;", false,
                     [=](const Operands& x, unsigned lane) {
                       return Expected{shuffle_oracle(mode)(x, lane).value, std::nullopt};
                     }});
  }
  return cases;
}

/// Masks by which the tests partition a warp: every lane names its own part.
struct Partition {
  const char* name;
  std::function<std::uint32_t(unsigned lane)> members;
  std::uint32_t executing;
};

std::uint32_t tile(unsigned lane, unsigned size) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << size) - 1) << (lane / size * size));
}

const std::vector<Partition>& partitions() {
  static const std::vector<Partition> kAllOfThem{
      {"the whole warp", [](unsigned) { return kAll; }, kAll},
      {"some lanes", [](unsigned) { return 0x6d3a9f05u; }, 0x6d3a9f05u},
      {"one lane", [](unsigned) { return 0x00400000u; }, 0x00400000u},
      {"tiles of 8", [](unsigned lane) { return tile(lane, 8); }, kAll},
      {"tiles of 2, some of them", [](unsigned lane) { return tile(lane, 2); }, 0x0ff0cc3cu},
      {"even and odd lanes",
       [](unsigned lane) { return lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau; }, kAll}};
  return kAllOfThem;
}

class WarpBench {
 public:
  explicit WarpBench(std::vector<WarpCase> cases)
      : cases_(std::move(cases)), device_(bench_module(kernels(cases_))) {}

  const std::vector<WarpCase>& cases() const { return cases_; }

  void check(std::size_t index, const Operands& x, const std::string& what) {
    const std::string kernel = "case_" + std::to_string(index);
    SCOPED_TRACE(cases_[index].text + ", " + what);
    ASSERT_EQ(refusal_of(device_, kernel), "");
    const std::uint64_t out = device_.put(Values(2 * kWarpLanes));
    const LaunchResult result =
        device_.run(kernel, {}, device_.put(x.a), device_.put(x.b), device_.put(x.c),
                    device_.put(x.members), out, std::uint64_t{x.executing});
    // A lane whose value PTX leaves open may have asked one that takes no part, and is told so.
    if (const std::string told = trouble(result); !told.empty()) {
      ASSERT_TRUE(asks_absent_lanes(index, x)) << told;
      ASSERT_THAT(told, HasSubstr("which does not take part in it"));
    }
    const Values found = device_.get<std::uint64_t>(out, 2 * kWarpLanes);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (!x.runs(lane)) {
        EXPECT_EQ(found[2 * lane], kUntouchedWord) << "lane " << lane << " did not execute";
        EXPECT_EQ(found[2 * lane + 1], 0u) << "lane " << lane << " did not execute";
        continue;
      }
      const Expected expected = cases_[index].expected(x, lane);
      if (expected.value) {
        EXPECT_EQ(found[2 * lane], *expected.value) << "lane " << lane;
      }
      if (expected.flag) {
        EXPECT_EQ(found[2 * lane + 1] != 0, *expected.flag) << "lane " << lane;
      }
    }
  }

 private:
  bool asks_absent_lanes(std::size_t index, const Operands& x) const {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (x.runs(lane) && !cases_[index].expected(x, lane).value) return true;
    }
    return false;
  }

  static std::string kernels(const std::vector<WarpCase>& cases) {
    std::string text;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      text += kernel_of("case_" + std::to_string(i), cases[i]);
    }
    return text;
  }

  std::vector<WarpCase> cases_;
  testing::Device device_;
};

Operands operands_of(const Partition& partition, Values a) {
  Operands x{std::move(a), Values(kWarpLanes), Values(kWarpLanes), {}, partition.executing};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    x.members.push_back(partition.members(lane));
  }
  return x;
}

/// Values that agree everywhere, in halves, by lane, in a few lanes, or nowhere.
std::vector<Values> value_sets() {
  std::vector<Values> sets{Values(kWarpLanes, 7), Values(kWarpLanes, 0xffffffff80000000u),
                           random_values(kWarpLanes, 1), random_values(kWarpLanes, 2)};
  Values few = random_values(kWarpLanes, 3);
  for (std::uint64_t& value : few) value = 0x100000001u * (value % 3);
  sets.push_back(few);
  Values high(kWarpLanes, 5);  // 64-bit values that differ in the high half alone
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) high[lane] |= std::uint64_t{lane / 8} << 32;
  sets.push_back(high);
  return sets;
}

void check_all(std::vector<WarpCase> cases) {
  WarpBench bench(std::move(cases));
  for (std::size_t index = 0; index < bench.cases().size(); ++index) {
    for (const Partition& partition : partitions()) {
      for (const Values& values : value_sets()) {
        bench.check(index, operands_of(partition, values), partition.name);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(WarpForms, VotesCountTheLanesThatEachLaneNames) { check_all(vote_cases()); }
TEST(WarpForms, MatchesCompareTheLanesThatEachLaneNames) { check_all(match_cases()); }
TEST(WarpForms, ReductionsFoldTheLanesThatEachLaneNames) { check_all(reduction_cases()); }

TEST(WarpForms, ShufflesReadWithinSegmentsOfEveryWidth) {
  WarpBench bench(shuffle_cases());
  for (std::size_t index = 0; index < bench.cases().size(); ++index) {
    const bool up = bench.cases()[index].text.find(".up.") != std::string::npos;
    for (const Partition& partition : partitions()) {
      for (unsigned width = 1; width <= 32; width *= 2) {
        Operands x = operands_of(partition, random_values(kWarpLanes, width));
        x.c.assign(kWarpLanes, width_operand(width, up));
        for (const unsigned distance : {0u, 1u, 2u, 3u, 7u, 8u, 16u, 31u, 33u}) {
          x.b.assign(kWarpLanes, distance);
          bench.check(index, x, std::string(partition.name) + ", width " + std::to_string(width));
        }
        x.b = random_values(kWarpLanes, 100 + width);
        bench.check(index, x, std::string(partition.name) + ", a distance for each lane");
        if (HasFailure()) return;
      }
    }
  }
}

/// PTX's own definition for clamps other than a segment's end, as loops over the five bits.
TEST(WarpForms, ShufflesStopAtAnyClamp) {
  WarpBench bench(shuffle_cases());
  for (std::size_t index = 0; index < bench.cases().size(); index += 2) {
    const std::string& text = bench.cases()[index].text;
    const std::string mode = text.substr(10, text.find('.', 10) - 10);
    WarpCase any_clamp = bench.cases()[index];
    any_clamp.expected = [=](const Operands& x, unsigned lane) {
      unsigned limit = 0;
      unsigned first = 0;
      unsigned inside = 0;
      for (unsigned bit = 0; bit < 5; ++bit) {
        const bool fixed = (x.c[lane] >> (8 + bit) & 1) != 0;
        limit |= (fixed ? lane : static_cast<unsigned>(x.c[lane])) & 1u << bit;
        first |= fixed ? lane & 1u << bit : 0;
        inside |= fixed ? 0 : static_cast<unsigned>(x.b[lane]) & 1u << bit;
      }
      const int amount = static_cast<int>(x.b[lane] % 32);
      const int own = static_cast<int>(lane);
      const int from = mode == "up"     ? own - amount
                       : mode == "down" ? own + amount
                       : mode == "bfly" ? own ^ amount
                                        : static_cast<int>(first | inside);
      const int end = static_cast<int>(limit);
      const bool valid = mode == "up" ? from >= end : from <= end;
      return shuffled(x, lane, valid ? std::optional(static_cast<unsigned>(from)) : std::nullopt);
    };
    WarpBench clamped({any_clamp});
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Operands x = operands_of(partitions()[0], random_values(kWarpLanes, seed));
      x.b = random_values(kWarpLanes, 1000 + seed);
      x.c.assign(kWarpLanes, random_values(1, 2000 + seed)[0] & 0x1f1f);
      clamped.check(0, x, "any clamp");
      if (HasFailure()) return;
    }
  }
}

TEST(WarpForms, LiteralOperandsOfAShuffle) {
  testing::Device device(bench_module(bench_kernel(
      "literals", take("r0", "p0") + "  shfl.sync.down.b32 %r1|%q1, %r0, 3, 0x1f, -1;\n" +
                      give("r1", "p4", 0, 2) + give_predicate("q1", "p4", 1, 2))));
  const Values values = random_values(kWarpLanes, 9);
  const std::uint64_t out = device.put(Values(2 * kWarpLanes));
  const LaunchResult result =
      device.run("literals", {}, device.put(values), out, out, out, out, std::uint64_t{kAll});
  ASSERT_EQ(trouble(result), "");
  const Values found = device.get<std::uint64_t>(out, 2 * kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[2 * lane], (lane + 3 < 32 ? values[lane + 3] : values[lane]) & kAll);
    EXPECT_EQ(found[2 * lane + 1], lane + 3 < 32 ? 1u : 0u);
  }
}

TEST(WarpForms, ActiveMaskIsTheLanesOnThisWay) {
  testing::Device device(
      bench_module(bench_kernel("active",
                                "  mov.u32 %r0, 0;\n  @!%q0 bra $other;\n  activemask.b32 %r0;\n"
                                "  bar.warp.sync %r0;\n  bra $together;\n"
                                "$other:\n  activemask.b32 %r0;\n"
                                "$together:\n  bar.warp.sync 0xffffffff;\n" +
                                    give("r0", "p4"))));
  for (const std::uint32_t taken : {kAll, 0u, 1u, 0x80000000u, 0x0f0f1234u}) {
    const std::uint64_t out = device.put(Values(kWarpLanes));
    const LaunchResult result =
        device.run("active", {}, out, out, out, out, out, std::uint64_t{taken});
    ASSERT_EQ(trouble(result), "");
    const Values found = device.get<std::uint64_t>(out, kWarpLanes);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      EXPECT_EQ(found[lane], (taken >> lane & 1) != 0 ? taken : ~taken) << "lane " << lane;
    }
  }
}

TEST(WarpForms, TilesSynchroniseWithMasksOfTheirOwn) {
  testing::Device device(bench_module(bench_kernel(
      "tiles",
      take("r0", "p0") + take("r3", "p3") +
          "  mul.lo.u32 %r1, %lane, 4;\n  mov.u32 %r2, words;\n"
          "  add.u32 %r1, %r1, %r2;\n  st.shared.u32 [%r1], %r0;\n"
          "  bar.warp.sync %r3;\n  xor.b32 %r1, %r1, 4;\n  ld.shared.u32 %r0, [%r1];\n" +
          give("r0", "p4"),
      "  .shared .align 128 .b32 words[32];\n")));
  const Values values = random_values(kWarpLanes, 4);
  Values members;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) members.push_back(tile(lane, 2));
  const std::uint64_t out = device.put(Values(kWarpLanes));
  const LaunchResult result = device.run("tiles", {}, device.put(values), out, out,
                                         device.put(members), out, std::uint64_t{kAll});
  EXPECT_EQ(trouble(result), "");  // no race either: each pair has met
  const Values found = device.get<std::uint64_t>(out, kWarpLanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    EXPECT_EQ(found[lane], values[lane ^ 1] & kAll);
  }
}

TEST(WarpForms, ANamedLaneThatTookAnotherWayIsReported) {
  testing::Device device(bench_module(
      bench_kernel("absent", take("r3", "p3") + "  @%q0 redux.sync.add.u32 %r4, %lane, %r3;\n")));
  Values members(kWarpLanes, 0xff);
  members[9] = 0xff00;  // lanes 8 and 9 are a part of their own, but 8 is not there
  members[8] = 0xff00;
  const std::uint64_t named = device.put(members);
  const LaunchResult result =
      device.run("absent", {}, named, named, named, named, named, std::uint64_t{0x2ff});
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().code, Code("RL0305"));
  EXPECT_NE(result.findings.front().message.find("lane 8"), std::string::npos)
      << result.findings.front().message;
}

TEST(WarpForms, FormsWithoutAMeaningAreRefusedByName) {
  for (const std::string text :
       {"shfl.sync.up.b64 %r4, %r0, 1, 0, -1;", "shfl.up.b32 %r4, %r0, 1, 0;",
        "match.any.sync.b32 %r4|%q1, %r0, -1;", "redux.sync.add.f32 %r4, %r0, -1;",
        "vote.sync.none.pred %q1, %q2, -1;", "match.all.sync.b16 %r4, %r0, -1;"}) {
    testing::Device device(bench_module(bench_kernel("refused", "  " + text + "\n")));
    const std::string spelling = text.substr(0, text.find(' '));
    EXPECT_NE(refusal_of(device, "refused").find(spelling), std::string::npos)
        << text << " gives: " << refusal_of(device, "refused");
  }
}

std::vector<std::string> warp_instructions() {
  std::vector<std::string> all{"activemask.b32 %r0;", "bar.warp.sync %r0;"};
  for (const auto& cases : {shuffle_cases(), vote_cases(), match_cases(), reduction_cases()}) {
    for (const WarpCase& warp_case : cases) all.push_back(warp_case.text);
  }
  return all;
}
const TestedInstructions kTested{warp_instructions};

}  // namespace
}  // namespace simgpu::opcode_tests::warp_test
