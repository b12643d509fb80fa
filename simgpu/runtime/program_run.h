#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

/// Whole CUDA programs, compiled by nvcc, run by `simgpu run`.
namespace simgpu::testing {

struct ProgramRun {
  int exit_code = -1;
  std::string output;  ///< stdout and stderr together
  nlohmann::json report;
};

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// @param program name of a program in cuda/ of the build tree, with its arguments
inline ProgramRun simulate(const std::string& program, const std::string& options = "") {
  const std::filesystem::path build = ROOFLAB_BINARY_DIR;
  std::array<char, 32> folder{"/tmp/simgpu-programs-XXXXXX"};
  if (mkdtemp(folder.data()) == nullptr) return {};
  const std::filesystem::path scratch = folder.data();
  const std::string command = "cd " + scratch.string() + " && '" + (build / "bin/simgpu").string() +
                              "' run --report report.json " + options + " -- '" +
                              (build / "cuda").string() + "'/" + program + " >output 2>&1";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  ProgramRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.output = contents(scratch / "output");
  run.report = nlohmann::json::parse(contents(scratch / "report.json"), nullptr, false);
  std::filesystem::remove_all(scratch);
  return run;
}

/// What a program did wrong on purpose, to see the error that it gets.
inline std::vector<std::string> messages(const ProgramRun& run) {
  std::vector<std::string> told;
  for (const auto& finding : run.report["findings"]) told.push_back(finding["message"]);
  return told;
}

}  // namespace simgpu::testing
