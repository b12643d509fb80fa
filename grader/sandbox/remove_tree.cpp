#include "grader/sandbox/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grader/posix/descriptor.h"

namespace rooflab {
namespace {

/// Only what its owner may list, enter and change can be emptied.
Descriptor open_folder(int parent, const char* name) {
  constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor seen(openat(parent, name, O_PATH | kFlags));
  if (!seen.valid()) return Descriptor();
  fchmodat(parent, name, S_IRWXU, 0);  // a folder, and nobody is there to put a link in its place
  return Descriptor(openat(parent, name, O_RDONLY | kFlags));
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  // A descriptor of its own: closedir() closes it.
  DIR* entries = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(entries);
  return names;
}

bool remove_entry(int folder, const std::string& name) {
  return unlinkat(folder, name.c_str(), 0) == 0 ||
         unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace

// Folders in folders are moved up to the top and emptied there, so that no path grows long.
void remove_tree(const std::filesystem::path& folder) {
  const Descriptor top = open_folder(AT_FDCWD, folder.c_str());
  std::uint64_t moved = 0;
  std::vector<std::string> left = top.valid() ? names_in(top.get()) : std::vector<std::string>();
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (remove_entry(top.get(), name)) continue;
    const Descriptor inner = open_folder(top.get(), name.c_str());
    if (!inner.valid()) continue;
    for (const std::string& below : names_in(inner.get())) {
      if (remove_entry(inner.get(), below)) continue;
      open_folder(inner.get(), below.c_str());  // to be moved it has to be writable
      std::string free_name;
      do {
        free_name = "moved." + std::to_string(moved++);
      } while (faccessat(top.get(), free_name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0);
      if (renameat(inner.get(), below.c_str(), top.get(), free_name.c_str()) == 0) {
        left.push_back(std::move(free_name));
      }
    }
    unlinkat(top.get(), name.c_str(), AT_REMOVEDIR);
  }
  rmdir(folder.c_str());
}

}  // namespace rooflab
