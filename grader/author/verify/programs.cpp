#include "grader/author/verify/programs.h"

#include <fmt/format.h>

#include <sstream>

#include "grader/author/verify/ran.h"
#include "grader/pipeline/toolchain.h"
#include "grader/report/text.h"

namespace rooflab::verify {
namespace {

// Grades as people do, several times: it starts before anything else.
constexpr int kLongest = 3;

/// The lines of a script that tell of what failed: it says "ok" and "not run" of the rest.
std::string faults_of(const std::string& log) {
  constexpr std::size_t kMost = 4000;
  std::string text;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line) && text.size() < kMost;) {
    if (line.starts_with("ok ") || line.starts_with("not run ")) continue;
    text += '\n';
    text += sanitize(line);
  }
  return text;
}

/// @param program as people call it
Outcome judge_program(const Ran& ran, const std::string& program, const std::string& replay) {
  Outcome outcome;
  if (ran.exit_code == 0) return outcome;
  outcome.fault = ran.exit_code != 1;
  std::string how = "finds";
  if (outcome.fault) {
    how = ran.end.empty() ? fmt::format("ended with exit code {}", ran.exit_code) : ran.end;
  }
  outcome.failures.push_back({fmt::format("{} {}:{}", program, how, faults_of(ran.log)), replay});
  return outcome;
}

Check script_check(const Installation& installation, const std::string& name,
                   const std::vector<std::string>& arguments) {
  const std::string script = fmt::format("scripts/check_{}", name);
  const std::string replay =
      fmt::format("{}{}{}", script, arguments.empty() ? "" : " ", fmt::join(arguments, " "));
  std::vector<std::string> words = {(installation.root / script).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {.claim = {.proof = Proof::documents, .name = name},
          .weight = kLongest,
          .command = [words](const std::filesystem::path&) { return words; },
          .judge = [script, replay](const Ran& ran) { return judge_program(ran, script, replay); }};
}

}  // namespace

std::vector<Check> document_checks(const Installation& installation) {
  const auto nvcc = find_toolchain(installation).nvcc;
  return {script_check(installation, "links", {}),
          script_check(installation, "commands",
                       {installation.build.string(), nvcc.parent_path().string()})};
}

Check release_check(const Installation& installation) {
  return {.claim = {.proof = Proof::release},
          .weight = kLongest,
          .command =
              [&installation](const std::filesystem::path& folder) {
                return std::vector<std::string>{(installation.build / "bin" / "grader").string(),
                                                "release", "--out",
                                                (folder / "kit.tar.gz").string()};
              },
          .judge =
              [](const Ran& ran) {
                return judge_program(ran, "grader release",
                                     "build/bin/grader release --out out/kit.tar.gz");
              }};
}

}  // namespace rooflab::verify
