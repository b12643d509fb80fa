#include "grader/pipeline/build_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "grader/posix/file_calls.h"
#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

/// Graders that may put an entry of their own in place of a stale one while we do.
constexpr int kMostOthers = 8;

/// Beside the messages of a build that failed. What merely lacks its library is a damaged entry.
constexpr const char* kFailedName = "failed";

[[noreturn]] void fail_to_keep(const fs::path& folder, int error) {
  const char* remedy = error == ENOSPC || error == EDQUOT
                           ? "free some space, or name another folder in ROOFLAB_CACHE"
                           : "check that disk, or name another folder in ROOFLAB_CACHE";
  throw FileError(fmt::format("cannot keep a build in {}: {}; {}", folder.string(),
                              std::strerror(error), remedy));
}

/// A call that fails by errno, for `folder`.
template <typename Call>
void require(const fs::path& folder, const Call& call) {
  if (uninterrupted(call) != 0) fail_to_keep(folder, errno);
}

/// Whether there is a regular file, not a link to one; nothing where that cannot be said.
std::optional<bool> has_file(const fs::path& path) {
  struct stat status {};
  if (uninterrupted([&] { return file_calls().lstat(path.c_str(), &status); }) == 0) {
    return S_ISREG(status.st_mode);
  }
  return errno == ENOENT ? std::optional(false) : std::nullopt;
}

/// Makes a file or folder ours, and its mode `mode`.
void make_ours(const fs::path& path, mode_t mode) {
  require(path, [&] { return file_calls().lchown(path.c_str(), ::geteuid(), ::getegid()); });
  require(path, [&] { return file_calls().chmod(path.c_str(), mode); });
}

/// Leaves nothing in `staging` but what was built, and no rights to the user that the compiler had:
/// a later sandbox may have it again. Others may load the file, but not list the folder.
void take_over(const fs::path& staging) {
  std::vector<fs::path> extra;
  std::error_code error;
  for (fs::directory_iterator at(staging, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != BuildCache::kFileName) extra.push_back(at->path());
  }
  for (const fs::path& path : extra) {
    if (!error) fs::remove_all(path, error);
  }
  if (error) fail_to_keep(staging, error.value());
  const fs::path built = staging / BuildCache::kFileName;
  const auto is_there = has_file(built);
  if (!is_there) fail_to_keep(staging, errno);
  if (*is_there) make_ours(built, 0644);
  make_ours(staging, 0711);
}

/// For us alone: whole sources stand in keys and messages.
void write_private(const fs::path& file, const std::string& text) {
  write_file_atomically(file, text);
  make_ours(file, 0600);
}

}  // namespace

// Collisions only cost a rebuild, since keys are compared in full.
std::filesystem::path BuildCache::entry(const std::string& key) const {
  return folder_ / fmt::format("{:016x}-{}", fnv1a(key), key.size());
}

std::optional<BuildOutcome> BuildCache::find(const std::string& key) const {
  const std::filesystem::path place = entry(key);
  std::error_code error;
  if (!std::filesystem::exists(place / "key", error)) return std::nullopt;
  try {
    if (read_file(place / "key") != key) return std::nullopt;
    BuildOutcome outcome;
    outcome.messages = read_file(place / "messages");
    outcome.library = place / kFileName;
    outcome.cached = true;
    // The key's time says when the entry was last of use.
    std::filesystem::last_write_time(place / "key", std::filesystem::file_time_type::clock::now(),
                                     error);
    const auto failed = has_file(place / kFailedName);
    if (!failed) return std::nullopt;
    if (*failed) {
      outcome.end = BuildOutcome::End::failed;
      outcome.library.clear();
    } else if (!has_file(outcome.library).value_or(false)) {
      return std::nullopt;
    }
    return outcome;
  } catch (const FileError&) {
    return std::nullopt;  // being removed, or broken: build anew
  }
}

BuildOutcome BuildCache::keep(const std::string& key, const BuildOutcome& outcome,
                              const std::filesystem::path& staging) const {
  take_over(staging);
  write_private(staging / "messages", outcome.messages);
  if (outcome.end != BuildOutcome::End::built) write_private(staging / kFailedName, "");
  write_private(staging / "key", key);
  const std::filesystem::path place = entry(key);
  const auto rename = [&] { return file_calls().rename(staging.c_str(), place.c_str()); };
  for (int others = 0; uninterrupted(rename) != 0; ++others) {
    const bool is_taken = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
    if (!is_taken || others == kMostOthers) fail_to_keep(folder_, errno);
    // An entry is there: the same from another grader, or a stale one that find() refused.
    if (auto existing = find(key)) return *existing;
    std::error_code ignored;  // what is not removed, the next renaming tells of
    std::filesystem::remove_all(place, ignored);
  }
  BuildOutcome kept = outcome;
  if (kept.end == BuildOutcome::End::built) kept.library = place / kFileName;
  return kept;
}

void BuildCache::require_room() const {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  struct statvfs status {};
  if (file_calls().statvfs(folder_.c_str(), &status) != 0) return;
  const std::uint64_t left = std::uint64_t{status.f_bavail} * status.f_frsize;
  if (left >= kLeast) return;
  throw FileError(
      fmt::format("cannot build in {}: {} bytes are left on its disk; free some space, or name "
                  "another folder in ROOFLAB_CACHE",
                  folder_.string(), left));
}

// A key holds the text of each file that went in, and that of a program the keys of its objects.
std::size_t BuildCache::forget(const std::vector<std::string>& contents) const {
  std::size_t forgotten = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::filesystem::path file = entry.path() / "key";
    if (!has_file(file).value_or(false)) continue;
    const std::string key = read_file(file);
    const bool is_of_them = std::ranges::any_of(contents, [&](const std::string& content) {
      return !content.empty() && key.find(content) != std::string::npos;
    });
    if (!is_of_them) continue;
    std::filesystem::remove_all(entry.path(), error);
    if (error) fail_to_keep(entry.path(), error.value());
    ++forgotten;
  }
  return forgotten;
}

void BuildCache::prune(std::size_t most) const {
  using Time = std::filesystem::file_time_type;
  const Time now = Time::clock::now();
  std::vector<std::pair<Time, std::filesystem::path>> entries;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    // What a grader left that was killed, while it built or while it pruned.
    const bool half_built = entry.path().filename().string().starts_with("tmp.") ||
                            !std::filesystem::exists(entry.path() / "key", error);
    const Time used =
        std::filesystem::last_write_time(half_built ? entry.path() : entry.path() / "key", error);
    if (error) continue;  // someone else is removing it
    if (!half_built) entries.emplace_back(used, entry.path());
    if (half_built && now - used > std::chrono::hours(24))
      std::filesystem::remove_all(entry.path(), error);
  }
  if (entries.size() <= most) return;
  std::ranges::sort(entries);
  for (std::size_t i = 0; i + most < entries.size(); ++i) {
    if (now - entries[i].first < std::chrono::hours(1)) return;
    std::filesystem::remove_all(entries[i].second, error);
  }
}

}  // namespace rooflab
