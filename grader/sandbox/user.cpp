#include "grader/sandbox/user.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "grader/sandbox/sandbox.h"

namespace rooflab {
namespace {

// Above the ids that systems give to people and services, below 65536, which containers map.
constexpr uid_t kFirst = 40'000;
constexpr uid_t kCount = 4'096;

// An abstract socket's name is taken while a process has it bound, and free when that process ends,
// however it ends: a lock that leaves no file behind.
bool lock(const Descriptor& socket_descriptor, uid_t id) {
  const std::string name = "rooflab-sandbox-user-" + std::to_string(id);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(socket_descriptor.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

}  // namespace

UserLease UserLease::take() {
  Descriptor holder(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (uid_t i = 0; i < kCount; ++i) {
    if (lock(holder, kFirst + i)) {
      return UserLease(kFirst + i, std::move(holder));
    }
  }
  throw SandboxError("no free user id for the sandbox between " + std::to_string(kFirst) + " and " +
                     std::to_string(kFirst + kCount - 1) + "; end other runs of the grader first");
}

}  // namespace rooflab
