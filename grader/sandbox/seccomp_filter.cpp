#include "grader/sandbox/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rooflab {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
// What newer architectures do by calls with a folder, as in fchmodat, or not at all.
constexpr std::array kRefusedHere = {SYS_iopl, SYS_ioperm};
constexpr std::array kChangesOfFilesHere = {SYS_chmod, SYS_chown,  SYS_lchown,
                                            SYS_utime, SYS_utimes, SYS_futimesat};
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::array<long, 0> kRefusedHere = {};
constexpr std::array<long, 0> kChangesOfFilesHere = {};
#else
#error "Name the architecture, and the system calls that it alone has, beside the others."
#endif

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t refuse_with(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

// Calls that are refused whatever their arguments.
constexpr std::array kRefused = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_unshare,
    SYS_setns,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_pidfd_getfd,
    // The page cache outlives a program and is the same for all: these read it out, and empty it.
    SYS_fadvise64,
    SYS_mincore,
    SYS_preadv2,  // glibc goes back to preadv where no flag is asked for
    451,          // cachestat
    // Shared memory that outlives its processes, so that no limit on processes would count it.
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
};

// Calls that change what a file is besides its contents: Landlock has no say in them, and where the
// program has the user of somebody's files, neither has the kernel. Nothing that is graded needs
// them, and linkers that make their output executable do not mind. The last ones are younger than
// the headers of Debian 12.
constexpr std::array kChangesOfFiles = {
    SYS_fchmod,    SYS_fchmodat,  SYS_fchown,      SYS_fchownat,     SYS_utimensat,    SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
    452,  // fchmodat2
    463,  // setxattrat
    466,  // removexattrat
    469,  // file_setattr
};

constexpr std::size_t kArgument0 =
    offsetof(seccomp_data, args);  // low half: both are little-endian

class Program {
 public:
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void answer(std::uint32_t action) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }
  /// Skips the next `count` instructions unless `condition` (BPF_JEQ …) holds for the loaded value.
  void unless(std::uint16_t condition, std::uint32_t value, std::uint8_t count) {
    code_.push_back(
        BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), value, 0, count));
  }
  /// Skips the next `count` instructions when `condition` holds.
  void when(std::uint16_t condition, std::uint32_t value, std::uint8_t count) {
    code_.push_back(
        BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), value, count, 0));
  }
  /// Refuses these calls, whatever their arguments; their number is loaded.
  template <class Calls>
  void refuse(const Calls& calls) {
    for (const long call : calls) {
      unless(BPF_JEQ, static_cast<std::uint32_t>(call), 1);
      answer(refuse_with(EPERM));
    }
  }
  std::vector<sock_filter> code() && { return std::move(code_); }

 private:
  std::vector<sock_filter> code_;
};

}  // namespace

std::vector<sock_filter> deny_filter(bool changes_of_files) {
  Program rules;
  rules.load(offsetof(seccomp_data, arch));
  rules.when(BPF_JEQ, kArchitecture, 1);
  rules.answer(kKill);
  rules.load(offsetof(seccomp_data, nr));
  // The x32 calls of x86-64, which would slip past the numbers below; others have none so high.
  rules.unless(BPF_JGE, 0x40000000U, 1);
  rules.answer(kKill);
  rules.refuse(kRefused);
  rules.refuse(kRefusedHere);
  if (changes_of_files) {
    rules.refuse(kChangesOfFiles);
    rules.refuse(kChangesOfFilesHere);
  }
  // glibc falls back to clone(), whose flags a filter can see.
  rules.unless(BPF_JEQ, SYS_clone3, 1);
  rules.answer(refuse_with(ENOSYS));
  const std::uint32_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                   CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  rules.unless(BPF_JEQ, SYS_clone, 4);
  rules.load(kArgument0);
  rules.unless(BPF_JSET, namespaces, 1);
  rules.answer(refuse_with(EPERM));
  rules.answer(kAllow);
  rules.unless(BPF_JEQ, SYS_socket, 4);
  rules.load(kArgument0);
  rules.unless(BPF_JEQ, AF_UNIX, 1);
  rules.answer(kAllow);
  rules.answer(refuse_with(EACCES));
  // A process that may not be looked into could hide what it holds open.
  rules.unless(BPF_JEQ, SYS_prctl, 4);
  rules.load(kArgument0);
  rules.unless(BPF_JEQ, PR_SET_DUMPABLE, 1);
  rules.answer(refuse_with(EPERM));
  rules.answer(kAllow);
  rules.unless(BPF_JEQ, SYS_kill, 4);
  rules.load(kArgument0);
  rules.unless(BPF_JEQ, static_cast<std::uint32_t>(-1), 1);
  rules.answer(refuse_with(EPERM));
  rules.answer(kAllow);
  rules.answer(kAllow);
  return std::move(rules).code();
}

}  // namespace rooflab
