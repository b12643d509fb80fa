#include "grader/pipeline/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "grader/contract/cuda_libraries.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

constexpr const char* kUnknownRelease = "unknown";

bool is_program(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::pair<std::filesystem::path, std::string>> candidates(
    const Installation& installation) {
  std::vector<std::pair<std::filesystem::path, std::string>> all;
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) all.emplace_back(std::filesystem::path(folder) / "nvcc", "PATH");
  }
  if (const std::string home = variable("CUDA_HOME"); !home.empty()) {
    all.emplace_back(std::filesystem::path(home) / "bin/nvcc", "CUDA_HOME");
  }
  all.emplace_back("/usr/local/cuda/bin/nvcc", "/usr/local/cuda");
  all.emplace_back(installation.root / ".cuda/bin/nvcc", ".cuda");
  return all;
}

/// All that a compiler says about its version.
/// @param program a path, or a name to look up as nvcc will, in the sandbox's PATH
std::string version_of(const std::string& program, const std::string& remedy) {
  SandboxRequest request;
  request.argv = {program, "--version"};
  request.enabled = false;  // our own compiler, before any submission is seen
  request.limits.wall_s = 20;
  const SandboxOutcome outcome = run_sandboxed(request);
  if (outcome.exit_code != 0 || outcome.signal != 0) {
    throw InstallationError(fmt::format("{} --version fails; {}", program, remedy));
  }
  return outcome.output;
}

Toolchain toolchain_of(const std::filesystem::path& nvcc, const std::string& found_by) {
  Toolchain toolchain;
  toolchain.found_by = found_by;
  // The toolkit is where the program really lies: distributions link /usr/bin/nvcc to it.
  toolchain.nvcc = std::filesystem::canonical(nvcc);
  toolchain.root = toolchain.nvcc.parent_path().parent_path();
  toolchain.version =
      version_of(toolchain.nvcc.string(), "reinstall the CUDA toolkit or run scripts/setup");
  return toolchain;
}

/// What this build compiles for and links with are one major version of CUDA. What does not say its
/// version is taken at its name.
bool is_of_this_build(const Toolchain& toolchain) {
  const std::string release = toolchain.release();
  return release == kUnknownRelease || release.starts_with(std::to_string(cuda_major()) + ".");
}

std::string needs_cuda(const std::string& what_there_is) {
  return fmt::format("{}; this build of Rooflab is for CUDA {}: ", what_there_is, cuda_major());
}

Toolchain locate(const Installation& installation) {
  if (const std::string chosen = variable("ROOFLAB_NVCC"); !chosen.empty()) {
    if (!is_program(chosen)) {
      throw InstallationError(
          fmt::format("ROOFLAB_NVCC names {}, which is no program; correct or unset it", chosen));
    }
    Toolchain toolchain = toolchain_of(chosen, "ROOFLAB_NVCC");
    if (is_of_this_build(toolchain)) return toolchain;
    throw InstallationError(
        needs_cuda(fmt::format("ROOFLAB_NVCC names {}, of CUDA {}", chosen, toolchain.release())) +
        "correct or unset it");
  }
  std::string others;
  for (const auto& [file, origin] : candidates(installation)) {
    if (!is_program(file)) continue;
    Toolchain toolchain = toolchain_of(file, origin);
    if (is_of_this_build(toolchain)) return toolchain;
    others += fmt::format("{}{} is of CUDA {}", others.empty() ? "" : ", ", file.string(),
                          toolchain.release());
  }
  if (!others.empty()) {
    throw InstallationError(needs_cuda(others) +
                            "name its nvcc in ROOFLAB_NVCC, or run scripts/setup");
  }
  throw InstallationError(
      "no nvcc in ROOFLAB_NVCC, PATH, CUDA_HOME, /usr/local/cuda or .cuda; "
      "run scripts/setup, which puts NVIDIA's compiler into .cuda/");
}

}  // namespace

std::string Toolchain::release() const {
  static const Pattern pattern("release ([0-9]+\\.[0-9]+)");
  const auto match = pattern.first(version);
  return match ? match->groups[1] : kUnknownRelease;
}

std::filesystem::path Toolchain::libraries() const {
#if defined(__aarch64__)
  const std::filesystem::path of_debian = root / "lib/aarch64-linux-gnu";
#else
  const std::filesystem::path of_debian = root / "lib/x86_64-linux-gnu";
#endif
  return std::filesystem::exists(of_debian / cuda_library("cudart")) ? of_debian : root / "lib64";
}

std::vector<std::string> Toolchain::command(std::vector<std::string> words) const {
#if defined(__aarch64__)
  const std::vector<std::string> signs = {"-Xcompiler", "-fsigned-char", "-Xcudafe",
                                          "--signed_chars"};
  words.insert(words.begin(), signs.begin(), signs.end());
#endif
  words.insert(words.begin(), nvcc.string());
  return words;
}

Toolchain find_toolchain(const Installation& installation) {
  Toolchain toolchain = locate(installation);
  const std::string host = version_of("g++", "nvcc needs it: run scripts/setup");
  toolchain.host_compiler = host.substr(0, host.find('\n'));
  if (const auto ptxas = toolchain.root / "bin" / "ptxas"; is_program(ptxas)) {
    toolchain.ptxas_version =
        version_of(ptxas.string(), "reinstall the CUDA toolkit or run scripts/setup");
    toolchain.ptxas = ptxas;
  }
  return toolchain;
}

simgpu::machine_code::AssemblerOptions sandboxed_assembler(const Installation& installation,
                                                           const Toolchain& toolchain,
                                                           bool sandbox) {
  if (toolchain.ptxas.empty()) return {};
  simgpu::machine_code::AssemblerOptions options{.version = toolchain.ptxas_version,
                                                 .folder = installation.cache / "machine_code"};
  options.command = {(installation.build / "bin" / "rooflab-sandboxed").string()};
  if (!sandbox) options.command.emplace_back("--no-sandbox");
  options.command.insert(options.command.end(),
                         {toolchain.root.string(), toolchain.ptxas.string()});
  return options;
}

std::string run_on_library(const std::vector<std::string>& command, bool sandbox) {
  constexpr double kMostSeconds = 5;
  SandboxRequest request;
  request.argv = command;
  for (const std::string& word : command) {
    const std::filesystem::path file(word);
    if (file.is_absolute()) request.read_only.push_back(file);
  }
  request.limits.wall_s = kMostSeconds;
  request.enabled = sandbox;
  try {
    const SandboxOutcome run = run_sandboxed(request);
    const bool is_whole = run.exit_code == 0 && run.signal == 0 && run.limit == LimitHit::none;
    return is_whole ? run.output : std::string();
  } catch (const SandboxError&) {
    return {};  // a line is missing, and nothing else
  }
}

}  // namespace rooflab
