#include "grader/pipeline/build_cache.h"

#include <fmt/format.h>

#include <cstdint>

#include "grader/spec/files.h"

namespace rooflab {
namespace {

/// FNV-1a; collisions only cost a rebuild, since keys are compared in full.
std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

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
    outcome.library = place / kLibraryName;
    outcome.cached = true;
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
  write_file_atomically(staging / "messages", outcome.messages);
  write_file_atomically(staging / "key", key);
  const std::filesystem::path place = entry(key);
  std::error_code error;
  std::filesystem::rename(staging, place, error);
  if (error) {  // an entry is there: the same from another grader, or a stale one that find()
                // refused
    if (auto existing = find(key)) return *existing;
    std::filesystem::remove_all(place, error);
    std::filesystem::rename(staging, place, error);
    if (error)
      throw FileError(fmt::format("cannot keep a build in {}: {}; check the disk", folder_.string(),
                                  error.message()));
  }
  BuildOutcome kept = outcome;
  if (kept.end == BuildOutcome::End::built) kept.library = place / kLibraryName;
  return kept;
}

}  // namespace rooflab
