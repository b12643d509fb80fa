#include "grader/pipeline/build_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_keep(const fs::path& folder, const std::string& reason) {
  throw FileError(
      fmt::format("cannot keep a build in {}: {}; check the disk", folder.string(), reason));
}

/// Makes a file or folder ours, and its mode `mode`.
void make_ours(const fs::path& path, fs::perms mode) {
  std::error_code error;
  if (::lchown(path.c_str(), ::geteuid(), ::getegid()) != 0) {
    fail_to_keep(path, std::strerror(errno));
  }
  fs::permissions(path, mode, error);
  if (error) fail_to_keep(path, error.message());
}

/// Leaves nothing in `staging` but what was built, and no rights to the user that the compiler had:
/// a later sandbox may have it again. Others may load the file, but not list the folder.
void take_over(const fs::path& staging) {
  std::vector<fs::path> extra;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(staging, error)) {
    if (entry.path().filename() != BuildCache::kFileName) extra.push_back(entry.path());
  }
  for (const fs::path& path : extra) fs::remove_all(path, error);
  constexpr auto kReadableByAll = fs::perms::owner_read | fs::perms::owner_write |
                                  fs::perms::group_read | fs::perms::others_read;
  const fs::path built = staging / BuildCache::kFileName;
  if (fs::is_regular_file(fs::symlink_status(built, error))) make_ours(built, kReadableByAll);
  make_ours(staging, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
}

/// For us alone: whole sources stand in keys and messages.
void write_private(const fs::path& file, const std::string& text) {
  write_file_atomically(file, text);
  make_ours(file, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  }
  return hash;
}

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
    if (std::filesystem::is_regular_file(outcome.library, error)) return outcome;
    outcome.end = BuildOutcome::End::failed;
    outcome.library.clear();
    return outcome;
  } catch (const FileError&) {
    return std::nullopt;  // being removed, or broken: build anew
  }
}

BuildOutcome BuildCache::keep(const std::string& key, const BuildOutcome& outcome,
                              const std::filesystem::path& staging) const {
  take_over(staging);
  write_private(staging / "messages", outcome.messages);
  write_private(staging / "key", key);
  const std::filesystem::path place = entry(key);
  std::error_code error;
  std::filesystem::rename(staging, place, error);
  if (error) {  // an entry is there: the same from another grader, or a stale one that find()
                // refused
    if (auto existing = find(key)) return *existing;
    std::filesystem::remove_all(place, error);
    std::filesystem::rename(staging, place, error);
    if (error) fail_to_keep(folder_, error.message());
  }
  BuildOutcome kept = outcome;
  if (kept.end == BuildOutcome::End::built) kept.library = place / kFileName;
  return kept;
}

void BuildCache::prune(std::size_t most) const {
  using Time = std::filesystem::file_time_type;
  const Time now = Time::clock::now();
  std::vector<std::pair<Time, std::filesystem::path>> entries;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const bool half_built = entry.path().filename().string().starts_with("tmp.");
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
