#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// Every planted fault is found, at its line; nothing else is, and nothing in the twins.
namespace {

using nlohmann::json;

/// What a program's comments say that must be found.
struct Expected {
  std::string fault, code, kind;
  bool on_host = false;
  bool follows = false;  ///< from the fault, beside the finding that names it
  std::string text;      ///< in the message
  unsigned line = 0;
  unsigned other_line = 0;              ///< of a race's earlier access; 0: not said
  std::vector<unsigned> called_from{};  ///< lines of the calls, innermost first
};

struct Source {
  std::string name;  ///< of the file
  std::vector<Expected> expected;
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A comment of its own is about the next line of code.
unsigned line_meant(const std::vector<std::string>& lines, std::size_t comment) {
  std::size_t at = comment;
  while (at < lines.size() && lines[at].find_first_not_of(' ') == lines[at].find("//")) ++at;
  return static_cast<unsigned>(at + 1);
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Source read_source(const std::filesystem::path& file) {
  static const std::regex mark(
      R"rx((FAULT|ALSO) (\w+) (RL\d{4}) ([a-z-]+)( host)?(?: "([^"]*)")?|(WITH|VIA) (\w+))rx");
  Source source{.name = file.filename(), .expected = {}};
  std::map<std::string, unsigned> others;
  std::map<std::string, std::vector<unsigned>> calls;
  const std::vector<std::string> lines = lines_of(file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const unsigned line = line_meant(lines, i);
    for (std::sregex_iterator match(lines[i].begin(), lines[i].end(), mark), end; match != end;
         ++match) {
      const std::smatch& found = *match;
      if (found[7] == "WITH") others[found[8]] = line;
      if (found[7] == "VIA") calls[found[8]].push_back(line);
      if (found[7].matched) continue;
      source.expected.push_back({.fault = found[2],
                                 .code = found[3],
                                 .kind = found[4],
                                 .on_host = found[5].matched,
                                 .follows = found[1] == "ALSO",
                                 .text = found[6],
                                 .line = found[5].matched ? 0 : line});
    }
  }
  for (Expected& expected : source.expected) {
    if (expected.follows) continue;
    if (const auto other = others.find(expected.fault); other != others.end()) {
      expected.other_line = other->second;
    }
    if (const auto called = calls.find(expected.fault); called != calls.end()) {
      expected.called_from = called->second;
    }
  }
  return source;
}

std::vector<std::filesystem::path> sources() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SIMGPU_FAULTS)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

struct ProgramRun {
  int exit_code = -1;
  std::string output;
  std::vector<json> findings;
  json kernels = json::array();
};

ProgramRun simulate(const std::filesystem::path& source, const std::string& arguments) {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  std::string folder = ::testing::TempDir() + "faults-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::string command = "cd " + folder + " && '" + (build / "bin/simgpu").string() +
                              "' run --report report.json -- '" + (build / "cuda").string() +
                              "'/faults_" + source.stem().string() + " " + arguments +
                              " >output 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  ProgramRun run{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                 .output = text_of(folder + "/output"),
                 .findings = {},
                 .kernels = json::array()};
  const json report = json::parse(text_of(folder + "/report.json"), nullptr, false);
  if (report.is_object()) {
    run.findings = report["findings"].get<std::vector<json>>();
    run.kernels = report["kernels"];
  }
  std::filesystem::remove_all(folder);
  return run;
}

bool is_of(const json& finding, const Expected& expected, const std::string& file) {
  const std::string kernel = finding["kernel"];
  const std::string message = finding["message"];
  const std::string place = finding["file"];
  if (finding["code"] != expected.code || finding["kind"] != expected.kind) return false;
  if (message.find(expected.text) == std::string::npos) return false;
  if (expected.on_host) return place.empty() && finding["line"] == 0;
  const bool of_kernel =
      kernel == "(anonymous namespace)::" + expected.fault || kernel == expected.fault;
  return of_kernel && std::filesystem::path(place).filename() == file &&
         finding["line"] == expected.line;
}

std::vector<unsigned> call_lines(const json& finding) {
  std::vector<unsigned> lines;
  for (const json& call : finding["inlined_at"]) lines.push_back(call["line"]);
  return lines;
}

class PlantedFaults : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(PlantedFaults, AreFoundAtTheirLinesAndNothingElseIs) {
  const Source source = read_source(GetParam());
  const ProgramRun run = simulate(GetParam(), "");
  ASSERT_FALSE(source.expected.empty());
  EXPECT_EQ(run.exit_code, 86) << run.output;
  std::vector<json> left = run.findings;
  for (const Expected& expected : source.expected) {
    const auto found = std::ranges::find_if(
        left, [&](const json& finding) { return is_of(finding, expected, source.name); });
    if (found == left.end()) {
      ADD_FAILURE() << expected.fault << " is not found: " << expected.code << " at " << source.name
                    << ":" << expected.line;
      continue;
    }
    if (expected.other_line != 0) {
      EXPECT_EQ((*found)["other"]["line"], expected.other_line) << expected.fault;
    }
    if (!expected.called_from.empty()) {
      EXPECT_EQ(call_lines(*found), expected.called_from) << expected.fault;
    }
    left.erase(found);
  }
  for (const json& finding : left) ADD_FAILURE() << "not planted: " << finding.dump(1);
}

/// Whether a thread is one of a block of a kernel of this name that the program launched, or none.
bool exists(const json& thread, const std::string& kernel, const json& kernels) {
  return thread.is_null() || std::ranges::any_of(kernels, [&](const json& launch) {
           const json& block = launch["block"];
           return launch["name"] == kernel && thread[0] < block[0] && thread[1] < block[1] &&
                  thread[2] < block[2];
         });
}

TEST_P(PlantedFaults, AreOfThreadsThatExist) {
  const ProgramRun run = simulate(GetParam(), "");
  for (const json& finding : run.findings) {
    if (finding["line"] == 0) continue;  // of the host
    const std::string kernel = finding["kernel"];
    EXPECT_TRUE(exists(finding["thread"], kernel, run.kernels)) << finding.dump(1);
    if (!finding.contains("other")) continue;
    EXPECT_TRUE(exists(finding["other"]["thread"], kernel, run.kernels)) << finding.dump(1);
  }
}

TEST_P(PlantedFaults, AreAbsentFromTheirTwins) {
  const ProgramRun run = simulate(GetParam(), "twins");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  for (const json& finding : run.findings) ADD_FAILURE() << finding.dump(1);
}

INSTANTIATE_TEST_SUITE_P(Family, PlantedFaults, ::testing::ValuesIn(sources()),
                         [](const auto& family) { return family.param.stem().string(); });

/// The data of the page that steps through a fault; null where there is none.
json replay_of(const std::filesystem::path& source, const std::string& fault) {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  const std::string page = ::testing::TempDir() + source.stem().string() + "-" + fault + ".html";
  const std::string command = "'" + (build / "bin/simgpu").string() + "' run --explore '" + page +
                              "' -- '" + (build / "cuda").string() + "'/faults_" +
                              source.stem().string() + " " + fault + " >/dev/null 2>&1";
  std::filesystem::remove(page);
  std::system(command.c_str());  // NOLINT(cert-env33-c)
  const std::string text = text_of(page), before = "id=\"data\">";
  std::filesystem::remove(page);
  const std::size_t first = text.find(before);
  if (first == std::string::npos) return {};
  const std::size_t begin = first + before.size();
  return json::parse(text.substr(begin, text.find("</script>", begin) - begin), nullptr, false);
}

/// Whether it shows both accesses, in few steps.
bool shows_the_race(const json& replay) {
  constexpr std::size_t kMostSteps = 50;
  if (!replay.is_object() || replay["marks"].size() != 2) return false;
  return replay["steps"].size() <= kMostSteps &&
         std::ranges::all_of(replay["marks"], [](const json& mark) { return mark["access"] >= 0; });
}

/// Races with the host's own work are none: no thread of a kernel has a part in their other side.
TEST(PlantedRaces, BecomeReplaysOfFewStepsThatShowBothAccesses) {
  std::set<std::string> races, shown;
  for (const std::filesystem::path& file : sources()) {
    for (const Expected& expected : read_source(file).expected) {
      const bool is_race = expected.kind == "shared-race" || expected.kind == "global-race";
      if (!is_race || expected.on_host || expected.follows) continue;
      const std::string name = file.stem().string() + "/" + expected.fault;
      if (!races.insert(name).second) continue;
      if (shows_the_race(replay_of(file, expected.fault))) {
        shown.insert(name);
      } else {
        RecordProperty("not shown", name);
      }
    }
  }
  EXPECT_GE(races.size(), 40U);
  EXPECT_GE(static_cast<double>(shown.size()), 0.95 * static_cast<double>(races.size()))
      << shown.size() << " of " << races.size();
}

TEST(PlantedRaces, BetweenLaunchesShowBothOfThem) {
  const std::filesystem::path file = std::filesystem::path(SIMGPU_FAULTS) / "global_races.cu";
  for (const char* fault : {"two_streams", "graph_branches"}) {
    SCOPED_TRACE(fault);
    const json replay = replay_of(file, fault);
    ASSERT_TRUE(shows_the_race(replay));
    ASSERT_EQ(replay["launches"].size(), 2U);
    std::vector<json> launches;
    for (const json& mark : replay["marks"]) {
      const json& step = replay["steps"][mark["step"].get<std::size_t>()];
      const json& warp = replay["warps"][step["warp"].get<std::size_t>()];
      launches.push_back(replay["blocks"][warp["block"].get<std::size_t>()]["launch"]);
    }
    EXPECT_EQ(launches, (std::vector<json>{0, 1}));
  }
}

TEST(PlantedFault, AreManyOfAllKinds) {
  std::set<std::string> faults, kinds;
  for (const std::filesystem::path& file : sources()) {
    for (const Expected& expected : read_source(file).expected) {
      faults.insert(file.stem().string() + "/" + expected.fault);
      kinds.insert(expected.kind);
    }
  }
  EXPECT_GE(faults.size(), 60U);
  EXPECT_GE(kinds.size(), 11U) << "all but leaks, which simgpu_programs_test plants";
}

}  // namespace
