#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace rooflab {

/// A file of the grader's own that could not be read or written: why, and what to do.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a trusted file whole. @throws FileError when it cannot be read or is larger than `limit`
/// bytes.
std::string read_file(const std::filesystem::path& file, std::size_t limit = std::size_t{64} << 20);

/// The regular files in a trusted folder and all folders below it, sorted; none where there is no
/// such folder.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Writes so that readers see the old contents or all of the new, never a part: to a temporary file
/// beside it, synchronised, then renamed. Makes missing folders.
/// @throws FileError, among others when the disk is full; nothing is left behind then.
void write_file_atomically(const std::filesystem::path& file, const std::string& text);

/// Makes a folder with those above it that are missing. @return why it cannot
std::error_code make_folders(const std::filesystem::path& folder);

/// Removes what write_file_atomically leaves in a folder when its process is killed, for a caller
/// who knows that nobody writes there now.
void remove_unfinished(const std::filesystem::path& folder);

/// A file of a submission, which may be anything: a symbolic link, a pipe, a device, a gigabyte.
struct SubmittedFile {
  enum class State { present, missing, unreadable, refused };
  State state = State::missing;
  std::string text;    ///< when present
  std::string reason;  ///< when unreadable or refused
};
/// Reads `folder`/`name` without following a link in its last component, nor waiting on a pipe.
SubmittedFile read_submitted(const std::filesystem::path& folder, const std::string& name);

/// A new folder of a random name in `parent`, removed with all its contents at the end of its life.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rooflab
