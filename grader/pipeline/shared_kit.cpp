#include "grader/pipeline/shared_kit.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "grader/pipeline/installation.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "rooflab";

/// Somebody else's folder, in /tmp for one, could bring along a compiler of theirs.
bool is_mine(const fs::path& folder) {
  struct stat facts {};
  return ::lstat(folder.c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
}

bool leads_into(const fs::path& kit, const fs::path& folder) {
  std::error_code error;
  return is_mine(folder) && fs::is_symlink(folder / "build", error) &&
         fs::equivalent(folder / "build", kit / "build", error);
}

}  // namespace

bool is_shared_kit(const fs::path& kit) {
  std::error_code error;
  return fs::exists(kit / "build/shared_kit", error);
}

fs::path find_own_folder(const fs::path& kit, const fs::path& here) {
  for (fs::path folder = here;; folder = folder.parent_path()) {
    for (const fs::path& candidate : {folder, folder / kName}) {
      if (leads_into(kit, candidate)) return candidate;
    }
    if (folder == folder.parent_path()) return {};
  }
}

fs::path make_own_folder(const fs::path& kit, const fs::path& here) {
  const fs::path folder = here / kName;
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::not_found) {
    throw InstallationError(
        fmt::format("{} is there and is no folder of yours for this course: move it away, or start "
                    "in another folder",
                    folder.string()));
  }
  try {
    const TemporaryFolder unfinished(here);
    const fs::path made = unfinished.path() / kName;
    fs::create_directory(made);
    link_kit(kit, made);
    fs::rename(made, folder);
  } catch (const std::runtime_error& failure) {
    throw InstallationError(
        fmt::format("{} cannot be made ({}): start in a folder that you may write to",
                    folder.string(), failure.what()));
  }
  return folder;
}

void link_kit(const fs::path& kit, const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(kit)) {
    const fs::path link = folder / entry.path().filename();
    if (!fs::exists(fs::symlink_status(link))) fs::create_symlink(entry.path(), link);
  }
}

}  // namespace rooflab
