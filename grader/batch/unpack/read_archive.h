#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Reads archives of strangers by libarchive: .zip, .tar, .tar.gz and .tar.xz, nothing else.
namespace rooflab {

/// An archive that is refused whole: "cause; what to do", without a full stop. What it says of the
/// archive (names, above all) is as its bytes were.
class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ArchiveLimits {
  std::size_t entries = 50'000;
  std::uint64_t file_bytes = 32ULL << 20;  ///< of any one file
  std::uint64_t all_bytes = 256ULL << 20;  ///< of all files together
  /// Bytes of files for one byte of archive, from 8 MiB on: source packs by 5 to 20, bombs by 1000.
  std::uint64_t expansion = 200;
  std::size_t depth = 16;         ///< folders and file
  std::size_t name_bytes = 255;   ///< of any one folder or file: what file systems take
  std::size_t path_bytes = 1024;  ///< of a whole path
};

struct ArchiveFile {
  /// Relative, of plain components ("starter/part1-metrics/gemv.cu"), of any bytes but NUL.
  std::string path;
  std::string contents;
  std::optional<std::int64_t> modified;  ///< seconds since 1970; zip's own times are taken as UTC
};

/// The regular files of an archive, in its order. Hidden files and folders (.git, .venv) and
/// __MACOSX are left out. Nothing is written, nothing is read but `bytes`; memory stays below the
/// limit on all files plus what libarchive takes.
/// @throws ArchiveError for anything else in it: links, devices, names that lead out of it, a name
/// twice, encryption, damage, too much
std::vector<ArchiveFile> read_archive(std::string_view bytes, const ArchiveLimits& limits = {});

}  // namespace rooflab
