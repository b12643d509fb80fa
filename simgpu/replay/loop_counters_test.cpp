// Names of loop counters in real recordings, against what the kernels themselves store of them.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/exec/engine_testing.h"
#include "simgpu/replay/loops.h"
#include "simgpu/replay/names.h"
#include "simgpu/replay/recorder.h"
#include "simgpu/replay/trim.h"

namespace simgpu::replay {
namespace {

std::string source_text() {
  std::ifstream file(REPLAY_COUNTERS);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint32_t counter_line(const std::string& text) {
  std::istringstream file(source_text());
  std::uint32_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with(text)) return number;
  }
  ADD_FAILURE() << "no line ends with " << text;
  return 0;
}

using Lanes = std::array<std::optional<std::int64_t>, kLanes>;
/// What a page shows behind a step: values by name.
using Shown = std::map<std::string, Lanes>;

class Counters : public ::testing::Test {
 protected:
  /// Runs a kernel with one block of 32 threads and names what its warp did.
  void record(const std::string& kernel, int count) {
    const std::uint64_t in = device_.put(std::vector<int>(64, 1));
    const std::uint64_t seen = device_.put(std::vector<int>(128));
    Recorder recorder{Wanted{}};
    device_.run(kernel, {.grid = {1, 1, 1}, .block = {32, 1, 1}, .observer = &recorder}, in, seen,
                count);
    ASSERT_TRUE(recorder.result().recording);
    recording_ = *recorder.result().recording;
  }

  /// Leaves out all steps but the last ones, as pages do.
  void keep_last(std::size_t steps) {
    ASSERT_GT(recording_.steps.size(), steps);
    recording_.marks = {{.step = static_cast<std::uint32_t>(recording_.steps.size() - 1)}};
    recording_ = trimmed(std::move(recording_), steps);
  }

  void name() {
    name_values(recording_, [](const std::string&) { return source_text(); });
  }

  /// Calls each(line, step, shown) behind each step.
  template <typename Each>
  void go_through(const Each& each) const {
    std::map<std::uint32_t, Lanes> values;
    const auto take = [&](const std::vector<RegisterValues>& all) {
      for (const RegisterValues& one : all) {
        if (one.name == kNone) continue;
        std::size_t next = 0;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          if ((one.lanes >> lane & 1U) == 0) continue;
          values[one.name][lane] = static_cast<std::int32_t>(one.values.at(next++));
        }
      }
    };
    take(recording_.warps.front().registers);
    for (const Step& step : recording_.steps) {
      take(step.before);
      take(step.registers);
      for (const std::uint32_t name : step.unknown_now) values.erase(name);
      Shown shown;
      for (const auto& [name, lanes] : values) {
        const bool is_new = shown.emplace(recording_.names.at(name), lanes).second;
        EXPECT_TRUE(is_new) << "two values of " << recording_.names.at(name);
      }
      each(step.place == kNone ? 0 : recording_.places[step.place].line, step, shown);
    }
  }

  /// In how many lanes of all steps of a line `value` is known; there it has to be what the line
  /// has stored in shared memory, which no name has a part in.
  template <typename Value>
  int known_at(std::uint32_t line, const Value& value) const {
    int known = 0;
    go_through([&](std::uint32_t at, const Step& step, const Shown& shown) {
      if (at != line) return;
      for (const SharedBytes& one : step.shared) {
        for (std::size_t i = 0; i + sizeof(int) <= one.bytes.size(); i += sizeof(int)) {
          const auto lane = static_cast<unsigned>((one.first + i) / sizeof(int));
          int stored = 0;
          std::memcpy(&stored, one.bytes.data() + i, sizeof(int));
          const std::optional<std::int64_t> named = value(shown, lane);
          if (!named) continue;
          EXPECT_EQ(*named, stored) << "lane " << lane << ", step " << step.number;
          ++known;
        }
      }
    });
    return known;
  }
  int known_of(const std::string& counter, const std::string& line) const {
    return known_at(counter_line(line), [&](const Shown& shown, unsigned lane) {
      return shown_in(shown, counter, lane);
    });
  }
  static std::optional<std::int64_t> shown_in(const Shown& shown, const std::string& name,
                                              unsigned lane) {
    const auto found = shown.find(name);
    return found == shown.end() ? std::nullopt : found->second[lane];
  }

  testing::Device device_ = testing::Device::from_file(REPLAY_COUNTERS_PTX);
  Recording recording_;
};

TEST_F(Counters, OfALoopOverTilesHasItsNameInEachIteration) {
  record("tiles", 64);
  name();
  EXPECT_EQ(known_of("tile", "// seen tile"), 4 * 32);
}

TEST_F(Counters, HasItsNameAlsoWhereTheFirstIterationsAreLeftOut) {
  record("tiles", 160);
  keep_last(16);
  name();
  const int known = known_of("tile", "// seen tile");
  EXPECT_GE(known, 32);
  EXPECT_LT(known, 10 * 32);
}

TEST_F(Counters, ThatDiffersFromLaneToLaneIsComparedInEach) {
  record("strided", 100);
  name();
  EXPECT_EQ(known_of("i", "// seen i"), 100);
}

TEST_F(Counters, ThatIsHalvedHasItsName) {
  record("halved", 3);
  name();
  EXPECT_EQ(known_of("stride", "// seen stride"), 5 * 32);
}

TEST_F(Counters, OfNestedLoopsBothHaveNames) {
  record("nested", 5);
  name();
  const auto both = [](const Shown& shown, unsigned lane) -> std::optional<std::int64_t> {
    const auto row = shown_in(shown, "row", lane), column = shown_in(shown, "column", lane);
    if (!row || !column) return std::nullopt;
    return 100 * *row + *column;
  };
  EXPECT_GT(known_at(counter_line("// seen both"), both), 0);
}

TEST_F(Counters, IsNotShownOutsideOfItsLoop) {
  record("nested", 5);
  name();
  go_through([&](std::uint32_t line, const Step&, const Shown& shown) {
    const bool is_between = line == counter_line("// between");
    const bool is_behind = line > counter_line("// between") + 1;
    EXPECT_FALSE(is_between && shown.contains("column"));
    EXPECT_FALSE(is_behind && shown.contains("row"));
  });
}

TEST_F(Counters, OfAnUnrolledLoopIsNeverWrong) {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 11}) {
    SCOPED_TRACE(count);
    record("unrolled", count);
    name();
    known_of("k", "// seen k");
  }
}

TEST_F(Counters, OfTwoLoopsWithOneNameIsThatOfTheLoopThatRuns) {
  record("twice", 20);
  name();
  EXPECT_EQ(known_of("j", "// seen first"), 20 * 32);
  EXPECT_GT(known_of("j", "// seen second"), 0);
}

std::vector<CountedLoop> loops_of(const std::string& body) {
  return counted_loops(Assignments(tokens_of("__global__ void f(int n) {\n" + body + "}\n")));
}

TEST(CountedLoops, AreThoseWithOneCounterThatTheBodyLeavesAlone) {
  const auto loops = loops_of("for (int k = 0; k < n; k += 4) {\n  g(n, k + 1);\n}\n");
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].counter, "k");
  EXPECT_EQ(loops[0].first_line, 2U);
  EXPECT_EQ(loops[0].last_line, 4U);
  for (const char* body :
       {"for (int k = 0; k < n; ++k) {\n  k += 2;\n}\n",
        "for (int k = 0; k < n; ++k) {\n  g(&k);\n}\n",
        "for (int k = 0; k < n; ++k) {\n  g(k);\n}\n", "for (int k = 0; k < n; ++k) a[k] = 0;\n",
        "for (int k = 0; k < n; ++k) {\n  float k = 0;\n}\n",
        "for (int k = 0, j = 0; k < n; ++k) {\n  a[j] = 0;\n}\n",
        "for (int k = 0; k < n; ++k) {\n  ++a[k--];\n}\n",
        "for (float k = 0; k < n; ++k) {\n  a[0] = k;\n}\n",
        "for (int k = 0; k < n; ++k) for (int j = 0; j < n; ++j)\n  a[j] = k;\n"}) {
    EXPECT_TRUE(loops_of(body).empty()) << body;
  }
}

}  // namespace
}  // namespace simgpu::replay
