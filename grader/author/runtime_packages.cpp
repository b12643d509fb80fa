#include "grader/author/runtime_packages.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "grader/author/kit_files.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/pattern.h"

namespace rooflab {
namespace {

SandboxOutcome run(const std::vector<std::string>& command) {
  SandboxRequest request;
  request.argv = command;
  request.enabled = false;  // the system's own tools, on files of ours
  request.environment = {{"LC_ALL", "C"}};
  request.limits = {.wall_s = 300, .disk_bytes = 0, .file_bytes = 0};
  return run_sandboxed(request);
}

/// The names in the dynamic section: "(NEEDED)  Shared library: [libfmt.so.9]".
std::set<std::string> needed_by(const std::filesystem::path& file) {
  static const Pattern line(R"(\(NEEDED\)[^\[]*\[([^\]]+)\])");
  const std::string text = run_tool({"readelf", "--dynamic", "--wide", file.string()});
  std::set<std::string> names;
  for (const Pattern::Match& match : line.all(text)) names.insert(match.groups[1]);
  return names;
}

/// Where the loader finds libraries: "libfmt.so.9 => /lib/x86_64-linux-gnu/libfmt.so.9 (0x7f…)".
std::map<std::string, std::filesystem::path> loaded_by(const std::filesystem::path& file) {
  static const Pattern line(R"((\S+) => (/\S+) \()");
  const std::string text = run_tool({"ldd", file.string()});
  std::map<std::string, std::filesystem::path> places;
  for (const Pattern::Match& match : line.all(text)) places[match.groups[1]] = match.groups[2];
  return places;
}

std::string package_of(const std::filesystem::path& file) {
  // dpkg knows a file under one name only: links lead to it, and /lib is a link to /usr/lib.
  const std::filesystem::path real = std::filesystem::canonical(file);
  const std::string text = real.string();
  for (const std::string& name : {text, text.starts_with("/usr/") ? text.substr(4) : text}) {
    const SandboxOutcome asked = run({"dpkg-query", "--search", name});
    if (asked.exit_code == 0 && asked.signal == 0) {
      return asked.output.substr(0, asked.output.find_first_of(":,"));
    }
  }
  return "";
}

}  // namespace

std::string run_tool(const std::vector<std::string>& command) {
  const SandboxOutcome outcome = run(command);
  if (outcome.exit_code == 0 && outcome.signal == 0 && outcome.limit == LimitHit::none) {
    return outcome.output;
  }
  throw ReleaseError(fmt::format("{} failed; is it installed? It said: {}", command.front(),
                                 outcome.output.empty() ? "nothing" : outcome.output));
}

std::vector<RuntimeLibrary> runtime_libraries(const std::vector<std::filesystem::path>& files,
                                              const std::filesystem::path& own) {
  std::map<std::string, std::filesystem::path> places;
  for (const auto& file : files) {
    const auto loaded = loaded_by(file);
    for (const std::string& name : needed_by(file)) {
      if (name.starts_with("ld-linux") || std::filesystem::exists(own / name)) continue;
      const auto found = loaded.find(name);
      if (found == loaded.end()) {
        throw ReleaseError(fmt::format("{} needs {}, which is not found here; run scripts/setup",
                                       file.string(), name));
      }
      places.insert(*found);
    }
  }
  std::vector<RuntimeLibrary> libraries;
  for (const auto& [name, place] : places) libraries.push_back({name, package_of(place)});
  return libraries;
}

}  // namespace rooflab
