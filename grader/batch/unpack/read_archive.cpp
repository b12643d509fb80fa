#include "grader/batch/unpack/read_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

namespace rooflab {
namespace {

constexpr std::uint64_t kMebi = 1ULL << 20;
constexpr std::uint64_t kExpansionFrom = 8 * kMebi;

struct CloseArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, CloseArchive>;

std::string said_by(archive* reader) {
  const char* text = archive_error_string(reader);
  return text == nullptr ? "no reason given" : text;
}

ArchiveError damaged(archive* reader) {
  return ArchiveError(fmt::format(
      "the archive is damaged or cut off ({}); pack and hand it in again", said_by(reader)));
}

/// What the bytes are, when they are no archive that is read.
ArchiveError unknown_format(std::string_view bytes) {
  struct Magic {
    std::string_view bytes;
    const char* what;
  };
  using namespace std::string_view_literals;
  constexpr std::array kMagics = {
      Magic{"PK\x03\x04"sv, "it is a zip archive that is cut off: its end is missing"},
      Magic{"PK\x05\x06"sv, "it is a zip archive without files"},
      Magic{"PK\x07\x08"sv, "it is one volume of a split zip archive"},
      Magic{"7z\xBC\xAF\x27\x1C"sv, "it is a 7z archive"},
      Magic{"Rar!"sv, "it is a RAR archive"},
      Magic{"BZh"sv, "it is compressed by bzip2"},
      Magic{"\x28\xB5\x2F\xFD"sv, "it is compressed by Zstandard"},
      Magic{"\x1F\x8B"sv, "it is compressed by gzip, but no tar archive, or damaged"},
      Magic{"\xFD"
            "7zXZ"sv,
            "it is compressed by xz, but no tar archive, or damaged"},
  };
  const auto* const known = std::ranges::find_if(
      kMagics, [&](const Magic& magic) { return bytes.starts_with(magic.bytes); });
  const char* what = bytes.empty()            ? "it is empty"
                     : known == kMagics.end() ? "it is no archive"
                                              : known->what;
  return ArchiveError(
      fmt::format("{}; pack it as .zip, .tar, .tar.gz or .tar.xz and hand it in again", what));
}

Reader open_archive(std::string_view bytes) {
  Reader reader(archive_read_new());
  archive* const raw = reader.get();
  // The seeking reader of zip believes the table at the end only, as every other program does: an
  // archive cannot show us other files than those that its owner sees.
  const bool ready = raw != nullptr && archive_read_support_filter_gzip(raw) == ARCHIVE_OK &&
                     archive_read_support_filter_xz(raw) == ARCHIVE_OK &&
                     archive_read_support_format_tar(raw) == ARCHIVE_OK &&
                     archive_read_support_format_zip_seekable(raw) == ARCHIVE_OK;
  if (!ready) {
    throw ArchiveError(
        "the installed libarchive reads no zip, tar, gzip or xz; install one that does");
  }
  if (archive_read_open_memory(raw, bytes.data(), bytes.size()) != ARCHIVE_OK) {
    throw unknown_format(bytes);
  }
  return reader;
}

/// An entry's name as plain components, none of which leads anywhere.
std::vector<std::string> components_of(std::string_view name, const ArchiveLimits& limits) {
  const auto refused = [&](const char* why) {
    return ArchiveError(
        fmt::format("the name \"{}\" in it {}; pack the folder itself, by its plain name",
                    name.substr(0, 200), why));
  };
  if (name.size() > limits.path_bytes) throw refused("is too long");
  std::string plain(name);
  std::ranges::replace(plain, '\\', '/');  // Windows programs separate folders so
  if (plain.starts_with('/') || (plain.size() > 1 && plain[1] == ':')) {
    throw refused("is an absolute path");
  }
  std::vector<std::string> components;
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = std::min(plain.find('/', at), plain.size());
    std::string component = plain.substr(at, end - at);
    at = end + 1;
    if (component.empty() || component == ".") continue;
    if (component == "..") throw refused("leads out of the archive");
    if (component.size() > limits.name_bytes) throw refused("is too long");
    components.push_back(std::move(component));
    if (components.size() > limits.depth) throw refused("lies too deep in folders");
  }
  return components;
}

bool is_hidden(const std::string& component) {
  return component.starts_with('.') || component == "__MACOSX";
}

std::string joined(const std::vector<std::string>& components, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + components[i];
  return path;
}

const char* kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return "a hard link";
  switch (archive_entry_filetype(entry)) {
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFIFO:
      return "a pipe";
    case AE_IFSOCK:
      return "a socket";
    case AE_IFCHR:
    case AE_IFBLK:
      return "a device";
    default:
      return "no regular file";
  }
}

/// Takes the files one by one.
class Collector {
 public:
  Collector(std::string_view bytes, const ArchiveLimits& limits)
      : limits_(limits), reader_(open_archive(bytes)), packed_bytes_(bytes.size()) {}

  std::vector<ArchiveFile> collect() {
    archive_entry* entry = nullptr;
    for (std::size_t count = 0;; ++count) {
      const int status = archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      // A warning is about a name's encoding: the name comes as its bytes.
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) throw damaged(reader_.get());
      if (count >= limits_.entries) {
        throw ArchiveError(
            fmt::format("it has more than {} files and folders; pack only what was asked for",
                        limits_.entries));
      }
      take(entry);
    }
    if (archive_read_has_encrypted_entries(reader_.get()) == 1) throw encrypted();
    return std::move(files_);
  }

 private:
  static ArchiveError encrypted() {
    return ArchiveError("it is encrypted; pack it without a password and hand it in again");
  }

  void take(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) {
      throw ArchiveError("a name in it cannot be read; use plain letters for file names");
    }
    const std::vector<std::string> components = components_of(name, limits_);
    const bool hidden = std::ranges::any_of(components, is_hidden);
    if (archive_entry_is_encrypted(entry) != 0) throw encrypted();
    const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    if (is_folder && archive_entry_hardlink(entry) == nullptr) {
      for (std::size_t i = 1; i <= components.size(); ++i) claim_folder(joined(components, i));
      return;
    }
    const std::string path = joined(components, components.size());
    if (archive_entry_size_is_set(entry) != 0) {
      check_size(path,
                 static_cast<std::uint64_t>(std::max<std::int64_t>(0, archive_entry_size(entry))));
    }
    if (hidden) return skip(entry);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_filetype(entry) != AE_IFREG) {
      throw ArchiveError(fmt::format("\"{}\" in it is {}; pack the file itself",
                                     path.substr(0, 200), kind_of(entry)));
    }
    if (components.empty()) throw ArchiveError("a file in it has no name; pack it again");
    claim_file(components, path);
    read_file(entry, path);
  }

  /// Skipping a tar archive's file unpacks it all the same.
  void skip(archive_entry* entry) {
    if (archive_entry_size_is_set(entry) != 0) {
      all_bytes_ +=
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, archive_entry_size(entry)));
    }
    check_all();
  }

  void claim_folder(const std::string& path) {
    folders_.insert(path);
    if (names_.contains(path)) throw twice(path);
  }

  void claim_file(const std::vector<std::string>& components, const std::string& path) {
    for (std::size_t i = 1; i < components.size(); ++i) claim_folder(joined(components, i));
    if (!names_.insert(path).second || folders_.contains(path)) throw twice(path);
  }

  static ArchiveError twice(const std::string& path) {
    return ArchiveError(fmt::format(
        "the name \"{}\" is in it twice, so which file counts is not clear; pack it again with one",
        path.substr(0, 200)));
  }

  void read_file(archive_entry* entry, const std::string& path) {
    ArchiveFile file;
    file.path = path;
    if (archive_entry_mtime_is_set(entry) != 0) file.modified = archive_entry_mtime(entry);
    std::array<char, 65536> buffer;
    while (true) {
      const la_ssize_t count = archive_read_data(reader_.get(), buffer.data(), buffer.size());
      if (count == 0) break;
      if (count < 0) throw damaged(reader_.get());
      file.contents.append(buffer.data(), static_cast<std::size_t>(count));
      all_bytes_ += static_cast<std::uint64_t>(count);
      check_size(path, file.contents.size());
      check_all();
    }
    files_.push_back(std::move(file));
  }

  void check_size(const std::string& path, std::uint64_t bytes) const {
    if (bytes <= limits_.file_bytes) return;
    throw ArchiveError(
        fmt::format("\"{}\" in it is larger than {} MiB; pack only what was asked for",
                    path.substr(0, 200), limits_.file_bytes / kMebi));
  }

  void check_all() const {
    if (all_bytes_ > limits_.all_bytes) {
      throw ArchiveError(
          fmt::format("its files are larger than {} MiB together; pack only what was "
                      "asked for",
                      limits_.all_bytes / kMebi));
    }
    if (all_bytes_ > kExpansionFrom && all_bytes_ / limits_.expansion > packed_bytes_) {
      throw ArchiveError(
          fmt::format("its files are more than {} times as large as the archive; "
                      "pack only what was asked for",
                      limits_.expansion));
    }
  }

  const ArchiveLimits& limits_;
  Reader reader_;
  std::uint64_t packed_bytes_;
  std::uint64_t all_bytes_ = 0;
  std::set<std::string> names_;
  std::set<std::string> folders_;
  std::vector<ArchiveFile> files_;
};

}  // namespace

std::vector<ArchiveFile> read_archive(std::string_view bytes, const ArchiveLimits& limits) {
  return Collector(bytes, limits).collect();
}

}  // namespace rooflab
