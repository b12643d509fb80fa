#include "grader/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace rooflab {
namespace {

// The headers of Debian 12 know version 2 of the interface; newer kernels know more. These numbers
// are from the kernel's stable user interface (linux/landlock.h of 6.12).
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kNetBindTcp = 1ULL << 0;
constexpr std::uint64_t kNetConnectTcp = 1ULL << 1;
constexpr std::uint64_t kScopeAbstractSocket = 1ULL << 0;
constexpr std::uint64_t kScopeSignal = 1ULL << 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kFileAccess =
    kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;  // what a rule on a file may hold

std::uint64_t all_access(int version) {
  std::uint64_t access = (1ULL << 13) - 1;
  if (version >= 2) {
    access |= LANDLOCK_ACCESS_FS_REFER;
  }
  if (version >= 3) {
    access |= kTruncate;
  }
  return access;
}

void allow(int ruleset, const std::filesystem::path& path, std::uint64_t access) {
  const int descriptor = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor < 0) {
    return;  // what is not there needs no permission
  }
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && !S_ISDIR(status.st_mode)) {
    access &= kFileAccess;
  }
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = descriptor;
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(descriptor);
}

}  // namespace

int landlock_version() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

int make_landlock_ruleset(const std::vector<std::filesystem::path>& read_only,
                          const std::vector<std::filesystem::path>& writable,
                          const std::vector<std::filesystem::path>& devices) {
  const int version = landlock_version();
  if (version == 0) {
    return -1;
  }
  RulesetAttributes attributes;
  attributes.handled_access_fs = all_access(version);
  std::size_t size = sizeof(attributes.handled_access_fs);
  if (version >= 4) {
    attributes.handled_access_net = kNetBindTcp | kNetConnectTcp;
    size += sizeof(attributes.handled_access_net);
  }
  if (version >= 6) {
    attributes.scoped = kScopeAbstractSocket | kScopeSignal;
    size += sizeof(attributes.scoped);
  }
  const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) {
    return -1;
  }
  for (const auto& path : read_only) {
    allow(ruleset, path, kRead);
  }
  for (const auto& path : writable) {
    allow(ruleset, path, attributes.handled_access_fs);
  }
  for (const auto& path : devices) {
    allow(ruleset, path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
  }
  return ruleset;
}

}  // namespace rooflab
