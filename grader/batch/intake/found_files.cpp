#include "grader/batch/intake/found_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "grader/batch/intake/delivery.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInSubmission = 50'000;
constexpr std::size_t kDeepest = 20;

const char* why_refused(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISLNK(mode)) return "it is a symbolic link";
  if (S_ISFIFO(mode)) return "it is a pipe";
  return "it is no regular file";
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) status = {};
  return status;
}

/// Walks by hand, so that no entry of a stranger's throws, and folders are counted.
class Walk {
 public:
  explicit Walk(fs::path root) : root_(std::move(root)) {}

  FoundFiles run() {
    enter({}, 0);
    std::ranges::sort(found_.files, {}, &FoundFile::path);
    return std::move(found_);
  }

 private:
  void enter(const std::string& folder, std::size_t depth) {
    std::error_code error;
    fs::directory_iterator entries(root_ / folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      if (!found_.problem.empty()) return;
      take(folder, entries->path().filename().string(), depth);
    }
  }

  void take(const std::string& folder, const std::string& name, std::size_t depth) {
    if (++entries_ > kMostInSubmission) {
      found_.problem =
          fmt::format("it holds more than {} files and folders; hand in only what was asked for",
                      kMostInSubmission);
    }
    if (name == ".git") found_.has_repository = true;
    if (is_clutter(name)) return;
    const std::string path = folder.empty() ? name : folder + "/" + name;
    const struct stat status = status_of(root_ / path);
    if (!S_ISDIR(status.st_mode)) {
      found_.files.push_back({path, root_, path, "", why_refused(status.st_mode),
                              status.st_mtim.tv_sec, status.st_ctim.tv_sec});
    } else if (depth + 1 < kDeepest) {
      enter(path, depth + 1);
    } else {
      found_.problem = fmt::format(
          "it holds more than {} folders in each other; hand in only what was asked for", kDeepest);
    }
  }

  fs::path root_;
  FoundFiles found_;
  std::size_t entries_ = 0;
};

}  // namespace

FoundFiles find_files(const fs::path& folder) { return Walk(folder).run(); }

FoundFile single_file(const fs::path& file, const std::string& path) {
  const struct stat status = status_of(file);
  return {path,
          file.parent_path(),
          file.filename().string(),
          "",
          why_refused(status.st_mode),
          status.st_mtim.tv_sec,
          status.st_ctim.tv_sec};
}

SubmittedFile read_found(const FoundFile& file) {
  if (!file.refused.empty()) return {SubmittedFile::State::refused, "", file.refused};
  return read_submitted(file.folder, file.stored);
}

std::string shown(const FoundFile& file) {
  if (file.archive.empty()) return shown(file.path);
  return fmt::format("{} in {}", shown(file.path), shown(file.archive));
}

std::string shown(const std::string& name) { return shorten(one_line(name), 120); }

}  // namespace rooflab
