#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

/// Legal patterns run, watched and unwatched, with the right results; what is wrong beside them is
/// told, and goes on as on a GPU where nobody watches.
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// What a program's comments say that must be found in its twins.
struct Told {
  std::string pattern, code, kind, text;
  unsigned line = 0;
  bool hangs() const { return code == "RL0306" || code == "RL0307"; }
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<Told> told_of(const std::filesystem::path& file) {
  static const std::regex mark(R"rx(// TOLD (\w+) (RL\d{4}) ([a-z-]+)(?: "([^"]*)")?)rx");
  std::vector<Told> told;
  std::ifstream stream(file);
  unsigned number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch found;
    if (!std::regex_search(line, found, mark)) continue;
    told.push_back({found[1], found[2], found[3], found[4], number + 1});
  }
  return told;
}

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SIMGPU_CONVERGENCE)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

struct ProgramRun {
  int exit_code = -1;
  std::string output;
  std::vector<json> findings;
};

ProgramRun simulate(const std::filesystem::path& source, const std::string& options,
                    const std::string& arguments) {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  std::string folder = ::testing::TempDir() + "convergence-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::string command = "cd '" + folder + "' && '" + (build / "bin/simgpu").string() +
                              "' run " + options + " --report report.json -- '" +
                              (build / "cuda").string() + "'/convergence_" +
                              source.stem().string() + " " + arguments + " >output 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  ProgramRun run{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                 .output = text_of(folder + "/output"),
                 .findings = {}};
  const json report = json::parse(text_of(folder + "/report.json"), nullptr, false);
  if (report.is_object()) run.findings = report["findings"].get<std::vector<json>>();
  std::filesystem::remove_all(folder);
  return run;
}

/// The pattern of a finding's kernel, "(anonymous namespace)::tiles<true>" say.
std::string pattern_of(const json& finding) {
  static const std::regex name(R"rx((\w+)(<.*)?$)rx");
  const std::string kernel = finding["kernel"];
  std::smatch found;
  return std::regex_search(kernel, found, name) ? found[1].str() : kernel;
}

bool is_told(const json& finding, const Told& told) {
  const std::string message = finding["message"];
  return finding["code"] == told.code && finding["kind"] == told.kind &&
         finding["line"] == told.line && pattern_of(finding) == told.pattern &&
         message.find(told.text) != std::string::npos;
}

class Convergence : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  static void expect_right(const char* options) {
    const ProgramRun run = simulate(GetParam(), options, "");
    EXPECT_EQ(run.exit_code, 0) << run.output;
    for (const json& finding : run.findings) ADD_FAILURE() << finding.dump(1);
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) EXPECT_THAT(line, HasSubstr(": ran"));
  }
};

TEST_P(Convergence, GivesTheRightResultsAndNoFindings) { expect_right(""); }

TEST_P(Convergence, GivesTheRightResultsUnwatched) { expect_right("--check none"); }

TEST_P(Convergence, IsToldWhereItIsUndefined) {
  const ProgramRun run = simulate(GetParam(), "", "twins");
  const std::vector<Told> all_told = told_of(GetParam());
  for (const Told& told : all_told) {
    EXPECT_TRUE(std::ranges::any_of(run.findings,
                                    [&](const json& finding) { return is_told(finding, told); }))
        << told.pattern << " is not told: " << told.code << " at line " << told.line;
  }
  for (const json& finding : run.findings) {
    EXPECT_TRUE(
        std::ranges::any_of(all_told, [&](const Told& told) { return is_told(finding, told); }))
        << "not planted: " << finding.dump(1);
  }
}

TEST_P(Convergence, GoesOnUnwatchedWhereItIsUndefined) {
  const std::vector<Told> all_told = told_of(GetParam());
  const ProgramRun run = simulate(GetParam(), "--check none", "twins");
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    const bool hangs = std::ranges::any_of(all_told, [&](const Told& told) {
      return told.hangs() && line.find(told.pattern) != std::string::npos;
    });
    const bool is_result = line.find(": ") != std::string::npos && line.find(' ') > line.find(':');
    if (is_result && !hangs) {
      EXPECT_THAT(line, HasSubstr(": ran"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Family, Convergence, ::testing::ValuesIn(programs()),
                         [](const auto& family) { return family.param.stem().string(); });

TEST(ConvergencePatterns, AreManyAndHaveTwins) {
  static const std::regex entry(R"rx(\n    \{"(\w+)", \d+,)rx");
  std::size_t patterns = 0, told = 0;
  for (const std::filesystem::path& file : programs()) {
    const std::string text = text_of(file);
    patterns += static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), entry), {}));
    told += told_of(file).size();
  }
  EXPECT_GE(patterns, 60U);
  EXPECT_GE(told, 30U);
}

}  // namespace
