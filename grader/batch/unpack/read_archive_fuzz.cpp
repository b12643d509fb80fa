// libFuzzer's entry to the reader of archives: any bytes give files that keep to the limits, under
// names of their own that lead nowhere, or an ArchiveError. The bytes are read as an archive, and
// make one as well, a tar or a zip.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "grader/batch/unpack/read_archive.h"
#include "simgpu/fuzzing/grammar/archive_bytes.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_path(const std::string& path, const rooflab::ArchiveLimits& limits) {
  std::string_view rest = path;
  std::size_t depth = 0;
  require(path.find('\0') == std::string::npos && path.size() <= limits.path_bytes);
  while (true) {
    const std::string_view component = rest.substr(0, rest.find('/'));
    require(!component.empty() && component != "." && component != "..");
    require(component.size() <= limits.name_bytes && ++depth <= limits.depth);
    if (component.size() == rest.size()) return;
    rest.remove_prefix(component.size() + 1);
  }
}

void read(std::string_view bytes) {
  rooflab::ArchiveLimits limits;
  limits.entries = 100;
  limits.file_bytes = 1 << 20;
  limits.all_bytes = 4 << 20;
  try {
    std::uint64_t all = 0;
    std::set<std::string> names;
    for (const rooflab::ArchiveFile& file : rooflab::read_archive(bytes, limits)) {
      check_path(file.path, limits);
      require(names.insert(file.path).second);
      require(file.contents.size() <= limits.file_bytes);
      all += file.contents.size();
    }
    require(all <= limits.all_bytes && names.size() <= limits.entries);
  } catch (const rooflab::ArchiveError& error) {
    require(std::string_view(error.what()).find("; ") != std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  if (bytes.empty()) return 0;
  simgpu::fuzzing::Choices choices(bytes.substr(1));
  const bool is_tar = bytes.front() % 2 == 0;
  read(is_tar ? simgpu::fuzzing::TarBytes(choices).bytes()
              : simgpu::fuzzing::ZipBytes(choices).bytes());
  return 0;
}
