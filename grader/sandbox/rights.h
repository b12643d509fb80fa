#pragma once

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <span>

/// Giving up rights, between a fork and an exec. By plain system calls: the C library's own
/// setgroups and setres*id wait for a lock on the list of threads, which another thread of the
/// parent may have held at the fork.
namespace rooflab {

/// No exec gives a capability back.
inline void empty_bounding_set() {
  for (unsigned long capability = 0; capability < 64; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // unknown numbers are refused, which is fine
  }
}

inline bool give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

/// Becomes that user, of the group of the same number and of `groups`.
inline bool change_user(uid_t id, std::span<const gid_t> groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0 &&
         syscall(SYS_setresgid, id, id, id) == 0 && syscall(SYS_setresuid, id, id, id) == 0;
}

}  // namespace rooflab
