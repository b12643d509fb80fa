#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/spec/files.h"

namespace rooflab {

/// A file of a submission, not yet read.
struct FoundFile {
  std::string path;              ///< as the student sees it: "repo-main/starter/part1/gemv.cu"
  std::filesystem::path folder;  ///< where it lies: `folder`/`stored`
  std::string stored;
  std::string archive;  ///< what the student calls the archive that it is from, if any
  std::string refused;  ///< why it is not read: "it is a symbolic link"; empty for a plain file
  std::int64_t modified = 0;    ///< seconds since 1970
  std::int64_t here_since = 0;  ///< when it got its place and times on this disk, likewise
};

struct FoundFiles {
  std::vector<FoundFile> files;  ///< by their paths' bytes
  bool has_repository = false;   ///< there is a .git
  std::string problem;           ///< when there is too much: what to do
};

/// The files below a folder of a stranger. Links are never followed, clutter (is_clutter) is left
/// out, and the walk ends after 50,000 entries or 20 folders down.
FoundFiles find_files(const std::filesystem::path& folder);

/// One file that is called `path` by its owner.
FoundFile single_file(const std::filesystem::path& file, const std::string& path);

/// read_submitted() of what was found.
SubmittedFile read_found(const FoundFile& file);

/// Where it is, for a message: "src/gemv.cu in ada.zip".
std::string shown(const FoundFile& file);

/// A stranger's name for a message: one line of UTF-8, of at most 120 characters.
std::string shown(const std::string& name);

}  // namespace rooflab
