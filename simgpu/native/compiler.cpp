#include "simgpu/native/compiler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "simgpu/toolchain/bounded_command.h"

namespace simgpu::native {
namespace {

constexpr const char* kCompiler = "g++";

/// Rounding as the engine's own files have it (simgpu/arith/CMakeLists.txt), for this processor.
std::vector<std::string> flags() {
  std::vector<std::string> all{"-std=c++20", "-O3",   "-march=native",      "-ffp-contract=off",
                               "-fPIC",      "-w",    "-fno-math-errno",    "-fno-trapping-math",
                               "-shared",    "-xc++", "-fvisibility=hidden"};
#if defined(__x86_64__)
  all.emplace_back("-mprefer-vector-width=512");
#endif
  return all;
}

/// Model and features: what -march=native looks at.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model") || line.starts_with("flags") || line.starts_with("vendor_id") ||
        line.starts_with("Features") || line.starts_with("CPU part")) {
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace

std::optional<Compiler> Compiler::find(const std::atomic<bool>& stop) {
  std::string name = (std::filesystem::temp_directory_path() / "simgpu-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) return std::nullopt;
  close(file);
  const bool found =
      toolchain::run_bounded({.words = {kCompiler, "--version"}, .output = name}, stop).succeeded();
  std::string version;
  std::ifstream output(name);
  for (std::string line; std::getline(output, line);) version += line + "\n";
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
  if (!found || version.empty()) return std::nullopt;
  std::string identity = version;
  for (const std::string& flag : flags()) identity += flag + " ";
  return Compiler(identity + "\n" + processor());
}

bool Compiler::compile(const std::filesystem::path& source, const std::filesystem::path& object,
                       const std::atomic<bool>& stop) const {
  std::vector<std::string> command{kCompiler};
  for (const std::string& flag : flags()) command.push_back(flag);
  for (const std::string& word : {source.string(), std::string("-o"), object.string()}) {
    command.push_back(word);
  }
  return toolchain::run_bounded({.words = std::move(command)}, stop).succeeded();
}

}  // namespace simgpu::native
