#pragma once

#include <sys/types.h>

#include "grader/posix/descriptor.h"

namespace rooflab {

/// A user id that no other sandbox on this machine uses while this lives, so that limits which
/// count by user count one sandbox, and one sandbox cannot signal another. Only root can give
/// programs another user.
class UserLease {
 public:
  /// Takes a free id. @throws SandboxError when every one is taken.
  static UserLease take();
  uid_t id() const { return id_; }

 private:
  UserLease(uid_t id, Descriptor lock) : id_(id), lock_(std::move(lock)) {}
  uid_t id_;
  Descriptor lock_;
};

}  // namespace rooflab
