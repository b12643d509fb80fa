#include "grader/spec/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "grader/posix/descriptor.h"
#include "grader/posix/file_calls.h"

namespace rooflab {
namespace {

constexpr std::size_t kLargestSubmittedFile = std::size_t{1} << 20;
constexpr const char* kUnfinished = ".unfinished-";

/// Reads up to `limit` + 1 bytes, so that the caller sees that there are too many; errno on
/// failure.
std::optional<std::string> read_descriptor(int descriptor, std::size_t limit) {
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= limit) {
    const ssize_t count =
        uninterrupted([&] { return file_calls().read(descriptor, buffer.data(), buffer.size()); });
    if (count == 0) return text;
    if (count < 0) return std::nullopt;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

Descriptor open_file(const std::filesystem::path& file, int flags) {
  return Descriptor(
      uninterrupted([&] { return file_calls().open(file.c_str(), flags | O_CLOEXEC, 0); }));
}

FileError write_error(const std::filesystem::path& file, int error) {
  const char* remedy = error == ENOSPC || error == EDQUOT
                           ? "free some space or name a file on another disk"
                       : error == EIO ? "check the disk or name a file on another one"
                                      : "check that the folder exists and may be written to";
  return FileError(
      fmt::format("cannot write {}: {}; {}", file.string(), std::strerror(error), remedy));
}

/// A device or pipe (/dev/stdout, /dev/null) is written to: renaming over it would replace it by a
/// file.
void write_device(const std::filesystem::path& file, const std::string& text) {
  const Descriptor descriptor = open_file(file, O_WRONLY);
  if (!descriptor.valid() || !write_whole(descriptor.get(), text)) throw write_error(file, errno);
}

/// Writes a file that nobody knows yet, and has it on the disk. False on failure; errno says why.
bool write_new(Descriptor descriptor, const std::string& text) {
  const int file = descriptor.get();
  const auto calls = [&](const auto& call) { return uninterrupted(call) == 0; };
  const bool written = write_whole(file, text) && calls([&] { return file_calls().fsync(file); }) &&
                       calls([&] { return file_calls().fchmod(file, 0644); });
  const int write_errno = errno;
  // A full disk may show only when the file is closed.
  const bool closed = close_written(descriptor.release());
  if (!written) errno = write_errno;
  return written && closed;
}

/// Makes a folder and those above it that are missing. False on failure; errno says why.
bool make_missing(const std::filesystem::path& folder) {
  constexpr mode_t kMode = 0777;
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return true;
  if (!make_missing(folder.has_filename() ? folder.parent_path()
                                          : folder.parent_path().parent_path())) {
    return false;
  }
  if (uninterrupted([&] { return file_calls().mkdir(folder.c_str(), kMode); }) == 0) return true;
  if (errno != EEXIST) return false;
  if (std::filesystem::is_directory(folder, error)) return true;  // another was first
  errno = ENOTDIR;
  return false;
}

}  // namespace

std::string read_file(const std::filesystem::path& file, std::size_t limit) {
  const Descriptor descriptor = open_file(file, O_RDONLY);
  auto text = descriptor.valid() ? read_descriptor(descriptor.get(), limit) : std::nullopt;
  if (!text) {
    throw FileError(fmt::format("cannot read {}: {}; check that it exists and may be read",
                                file.string(), std::strerror(errno)));
  }
  if (text->size() > limit) {
    throw FileError(fmt::format("{} is larger than {} bytes; shorten it", file.string(), limit));
  }
  return std::move(*text);
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void write_file_atomically(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  if (!make_missing(file.parent_path())) throw write_error(file, errno);
  if (std::filesystem::is_directory(file, error)) throw write_error(file, EISDIR);
  if (std::filesystem::is_other(file, error)) return write_device(file, text);

  std::string pattern = file.string() + kUnfinished + "XXXXXX";
  const std::string empty = pattern;  // a call that fails may leave anything in it
  Descriptor descriptor(uninterrupted([&] {
    pattern = empty;
    return file_calls().mkostemp(pattern.data(), O_CLOEXEC);
  }));
  if (!descriptor.valid()) throw write_error(file, errno);
  const auto rename = [&] { return file_calls().rename(pattern.c_str(), file.c_str()); };
  if (write_new(std::move(descriptor), text) && uninterrupted(rename) == 0) return;
  const int failure = errno;
  file_calls().unlink(pattern.c_str());
  throw write_error(file, failure);
}

std::error_code make_folders(const std::filesystem::path& folder) {
  return make_missing(folder) ? std::error_code() : std::error_code(errno, std::generic_category());
}

void remove_unfinished(const std::filesystem::path& folder) {
  constexpr std::size_t kRandomLetters = 6;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t mark = name.rfind(kUnfinished);
    const bool unfinished = mark != std::string::npos &&
                            name.size() == mark + std::strlen(kUnfinished) + kRandomLetters;
    if (unfinished && std::filesystem::is_regular_file(entry.symlink_status(error))) {
      std::filesystem::remove(entry.path(), error);
    }
  }
}

SubmittedFile read_submitted(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path file = folder / name;
  const Descriptor descriptor = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  using State = SubmittedFile::State;
  if (!descriptor.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return {State::missing, "", ""};
    if (errno == ELOOP) return {State::refused, "", "it is a symbolic link"};
    if (errno == ENXIO) return {State::refused, "", "it is no regular file"};  // a socket
    return {State::unreadable, "", std::strerror(errno)};
  }
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {State::refused, "", "it is no regular file"};
  }
  auto text = read_descriptor(descriptor.get(), kLargestSubmittedFile);
  if (!text) return {State::unreadable, "", std::strerror(errno)};
  if (text->size() > kLargestSubmittedFile) {
    return {State::refused, "", "it is larger than 1 MiB"};
  }
  if (text->find('\0') != std::string::npos) {  // UTF-16 has one in every second byte
    return {State::refused, "", "it is not text in UTF-8: it has zero bytes"};
  }
  return {State::present, std::move(*text), ""};
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  if (!make_missing(parent)) throw write_error(parent, errno);
  std::string pattern = (parent / "tmp.XXXXXX").string();
  if (file_calls().mkdtemp(pattern.data()) != 0) throw write_error(parent, errno);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rooflab
