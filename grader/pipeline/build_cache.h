#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/pipeline/build.h"

namespace rooflab {

/// Finished builds on disk, each in a folder named by a hash of its key, with the whole key beside
/// it: two keys of one hash are told apart. Entries appear by a rename, so readers see all of one
/// or nothing.
class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<BuildOutcome> find(const std::string& key) const;

  /// Keeps `outcome`, whose file (if any) lies in `staging` under kFileName; `staging` is
  /// moved away. Where another grader was first, its entry is used.
  BuildOutcome keep(const std::string& key, const BuildOutcome& outcome,
                    const std::filesystem::path& staging) const;

  /// A compiler that had no room failed, and no student for it. Its messages do not say so: anybody
  /// can write them.
  /// @throws FileError where there is no room now
  void require_room() const;

  /// Removes the entries least recently found, so that at most `most` stay, and what graders that
  /// were killed a day ago or longer left half-built. Entries found within the last hour always
  /// stay: a grader may be about to load them.
  void prune(std::size_t most = kMostEntries) const;

  /// Removes every entry that a file with one of these contents went into. An entry that is in use
  /// is made again.
  /// @return how many
  std::size_t forget(const std::vector<std::string>& contents) const;

  const std::filesystem::path& folder() const { return folder_; }

  static constexpr const char* kFileName = "built";
  static constexpr std::size_t kMostEntries = 1000;

 private:
  std::filesystem::path entry(const std::string& key) const;

  std::filesystem::path folder_;
};

}  // namespace rooflab
