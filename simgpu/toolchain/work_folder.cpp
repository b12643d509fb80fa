#include "simgpu/toolchain/work_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simgpu::toolchain {

WorkFolder::WorkFolder(const std::filesystem::path& in) {
  std::string name = (in / "work-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::optional<std::vector<std::byte>> read_made_file(const std::filesystem::path& path,
                                                     std::size_t most_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::vector<std::byte>> bytes;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uint64_t>(status.st_size) <= most_bytes) {
    bytes.emplace(static_cast<std::size_t>(status.st_size));
    std::size_t at = 0;
    while (at < bytes->size()) {
      const ssize_t got = read(file, bytes->data() + at, bytes->size() - at);
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    if (at < bytes->size()) bytes.reset();
  }
  close(file);
  return bytes;
}

}  // namespace simgpu::toolchain
