#include "simgpu/cli/cuda_of_program.h"

#include <fmt/format.h>

#include <regex>
#include <set>
#include <string_view>

#include "simgpu/cli/host_tool.h"

namespace simgpu::cli {
namespace {

constexpr std::string_view kRuntime = "libcudart.so.";

/// "11.0" of a program that is linked with libcudart.so.11.0; empty when it is with none.
std::string runtime_of(const std::string& program) {
  static const std::regex pattern(R"(\(NEEDED\).*\[libcudart\.so\.([0-9.]+)\])");
  std::smatch match;
  const std::string entries = run_tool({"readelf", "--dynamic", "--wide", "--", program});
  return std::regex_search(entries, match, pattern) ? match[1].str() : std::string();
}

/// The versions of CUDA that there are libraries for.
std::set<std::string> simulated_versions(const std::filesystem::path& libraries) {
  std::set<std::string> versions;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(libraries, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kRuntime)) versions.insert(name.substr(kRuntime.size()));
  }
  return versions;
}

}  // namespace

std::string why_no_cuda_call(const std::string& program, const std::filesystem::path& libraries) {
  const std::string file = program_file(program).string();
  const std::string runtime = file.empty() ? std::string() : runtime_of(file);
  const std::set<std::string> simulated = simulated_versions(libraries);
  if (runtime.empty() || simulated.contains(runtime)) {
    return fmt::format(
        "{} made no CUDA call here; a CUDA program must be built with nvcc -cudart shared",
        program);
  }
  return fmt::format(
      "{} is built with CUDA {}, and simgpu runs programs of CUDA {}; compile it with nvcc of one "
      "of "
      "these and -cudart shared",
      program, runtime, fmt::join(simulated, " and "));
}

}  // namespace simgpu::cli
