#include "grader/device/sanitizer/checked_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "grader/device/sanitizer/findings.h"

namespace rooflab::sanitizer {
namespace {

constexpr const char* kTools[] = {"memcheck", "synccheck", "racecheck", "initcheck"};
/// What the tool prints first, whatever it finds.
constexpr std::string_view kBanner = "COMPUTE-SANITIZER";
constexpr std::string_view kOwnLine = "========= ";
/// A tool tells what it found after the program's reply: so long it may take to its end.
constexpr double kSecondsToEnd = 10;
/// Kernels under a tool take ten to a hundred times as long; correctness cases are small.
constexpr std::chrono::duration<double> kMostTime{20};

std::vector<std::string> command(const std::filesystem::path& program, const std::string& tool) {
  std::vector<std::string> words = {program.string(),
                                    "--tool",
                                    tool,
                                    "--show-backtrace",
                                    "device",
                                    "--strip-paths",
                                    "no",
                                    "--print-limit",
                                    "200",
                                    "--require-cuda-init",
                                    "no"};
  if (tool == "racecheck") words.insert(words.end(), {"--racecheck-report", "hazard"});
  return words;
}

/// The rest of the line at `at`, as much as a sentence takes.
std::string words_at(const std::string& output, std::size_t at) {
  constexpr std::size_t kShown = 200;
  const std::string line = output.substr(at, std::min(output.find('\n', at), output.size()) - at);
  return line.empty() ? "it said nothing" : "it says: " + line.substr(0, kShown);
}

/// Why nothing of what a tool printed says anything about the call; empty when something may. It
/// sums up at its end, also of a program that crashed, unless it saw nothing of it.
std::string refusal_in(const std::string& output) {
  constexpr std::string_view kInternal = "Internal Sanitizer Error";
  constexpr std::string_view kSummary = " SUMMARY: ";
  if (output.find(kBanner) == std::string::npos) return words_at(output, 0);
  if (const std::size_t at = output.find(kInternal); at != std::string::npos) {
    return words_at(output, at);
  }
  if (output.find(kSummary) != std::string::npos) return {};
  return words_at(output, output.rfind(kOwnLine) + kOwnLine.size());
}

/// Why a tool is of no use under which the guest never answered: then there was no call, and a tool
/// that sums up "0 errors" means that.
std::string no_start(const std::string& tool, const SandboxOutcome& end) {
  std::string refusal = refusal_in(end.output);
  if (!refusal.empty()) return refusal;
  return fmt::format("the guest process never answered under {}, and {}", tool,
                     words_at(end.output, end.output.rfind(kOwnLine) + kOwnLine.size()));
}

/// initcheck takes what the guest itself copies for a use of memory that nobody wrote.
bool is_of_the_guest(const simgpu::Finding& finding, const std::string& tool) {
  return tool == "initcheck" && !finding.where.by_thread;
}

CheckedCall run_tool(const CheckedRun& run, const std::string& tool) {
  GuestSetup setup = run.setup;
  setup.wrapper = command(run.program, tool);
  setup.time_limit = std::min(setup.time_limit, kMostTime);
  // It lies beside the libraries that it puts into the program.
  setup.read_only.push_back(run.program.parent_path());
  GuestProcess guest(setup);
  const Call call = run.prepare();
  const std::optional<Reply> ready = guest.call(preparation_for(call));
  const std::string objection = ready ? objection_in(*ready) : "";
  // Whatever it answers: the tool's words count.
  const bool answered = ready && objection.empty() && guest.call(call);
  const SandboxOutcome end = guest.finish(kSecondsToEnd);
  if (!ready) return {.unavailable = no_start(tool, end)};
  CheckedCall checked{.findings = findings_in(end.output)};
  std::erase_if(checked.findings,
                [&](const auto& finding) { return is_of_the_guest(finding, tool); });
  if (!objection.empty()) return {.unavailable = "under it " + objection};
  if (!checked.findings.empty()) return checked;
  if (end.limit == LimitHit::time) {
    checked.incomplete = fmt::format("{} took longer than {:g} s", tool, setup.time_limit.count());
  } else if (end.killed_by_us) {
    checked.incomplete =
        fmt::format("{} did not end within {:g} s of the call", tool, kSecondsToEnd);
  } else if (checked.unavailable = refusal_in(end.output);
             checked.unavailable.empty() && !answered) {
    checked.incomplete = fmt::format("the call ended without an answer under {}", tool);
  }
  return checked;
}

}  // namespace

std::filesystem::path find_sanitizer(const std::filesystem::path& lib64) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (lib64.empty()) return {};
  // lib64 may be a link out of the toolkit's root, as into targets/x86_64-linux, or into it.
  const fs::path itself = fs::weakly_canonical(lib64, error);
  for (const fs::path& root : {lib64.parent_path(), itself.parent_path()}) {
    const fs::path program =
        fs::weakly_canonical(root / "compute-sanitizer" / "compute-sanitizer", error);
    if (!error && fs::is_regular_file(program, error)) return program;
  }
  return {};
}

CheckedCall run_checked(const CheckedRun& run) {
  if (run.program.empty()) {
    return {.unavailable = "the toolkit has no compute-sanitizer (the package cuda-sanitizer)"};
  }
  for (const char* tool : kTools) {
    CheckedCall checked = run_tool(run, tool);
    if (!checked.findings.empty()) return checked;
    if (!checked.unavailable.empty()) {
      checked.unavailable =
          fmt::format("compute-sanitizer does not work here: {}", checked.unavailable);
      return checked;
    }
    // A call that does not end does so under the next one, too.
    if (!checked.incomplete.empty()) return checked;
  }
  return {};
}

}  // namespace rooflab::sanitizer
