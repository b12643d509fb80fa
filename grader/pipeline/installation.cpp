#include "grader/pipeline/installation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>

#include "grader/pipeline/shared_kit.h"

namespace rooflab {
namespace {

std::optional<std::filesystem::path> environment_path(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::filesystem::absolute(value);
}

std::filesystem::path find_cache(const std::filesystem::path& build) {
  if (const auto cache = environment_path("ROOFLAB_CACHE")) return *cache;
  if (const auto cache = environment_path("XDG_CACHE_HOME")) return *cache / "rooflab";
  if (const auto home = environment_path("HOME")) return *home / ".cache" / "rooflab";
  return build / "cache";
}

/// A shared kit's own folder of whoever runs it, or the kit itself where there is none. A build
/// tree outside the checkout (cmake -B elsewhere) has a file that says for which checkout it was
/// configured.
std::filesystem::path find_root(const std::filesystem::path& build) {
  if (const auto root = environment_path("ROOFLAB_ROOT")) return *root;
  std::filesystem::path above = build.parent_path();
  if (is_shared_kit(above)) {
    std::error_code error;
    const auto own = find_own_folder(above, std::filesystem::current_path(error));
    return own.empty() ? above : own;
  }
  if (std::filesystem::is_directory(above / "labs")) return above;
  std::string configured;
  std::ifstream file(build / "checkout_folder");
  return std::getline(file, configured) ? std::filesystem::path(configured) : above;
}

}  // namespace

Installation find_installation() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  Installation installation;
  installation.build =
      error ? std::filesystem::current_path() : program.parent_path().parent_path();
  installation.root = find_root(installation.build);
  installation.cache = find_cache(installation.build);
  if (!std::filesystem::is_directory(installation.labs(), error)) {
    throw InstallationError(fmt::format(
        "{} has no folder labs/; run the grader from its checkout or set ROOFLAB_ROOT to one",
        installation.root.string()));
  }
  return installation;
}

}  // namespace rooflab
