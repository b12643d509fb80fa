#include "grader/sandbox/seccomp_filter.h"

#include <gmock/gmock.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

/// The filter by its own instructions, which are run here as the kernel runs them: on every
/// architecture, and where no filter can be entered.
namespace rooflab {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kHere = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOf32Bits = AUDIT_ARCH_I386;
#else
constexpr std::uint32_t kHere = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOf32Bits = AUDIT_ARCH_ARM;
#endif
constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;

/// What the kernel does with a call: classic BPF, of which a filter uses these instructions.
std::uint32_t answer(const std::vector<sock_filter>& filter, const seccomp_data& call) {
  std::uint32_t loaded = 0;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& step = filter[at];
    bool holds = false;
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k + sizeof(loaded) > sizeof(call)) throw std::out_of_range("loads beyond a call");
        std::memcpy(&loaded, reinterpret_cast<const char*>(&call) + step.k, sizeof(loaded));
        continue;
      case BPF_RET | BPF_K:
        return step.k;
      case BPF_JMP | BPF_JEQ | BPF_K:
        holds = loaded == step.k;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        holds = loaded >= step.k;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        holds = (loaded & step.k) != 0;
        break;
      default:
        throw std::invalid_argument("an instruction that no filter had");
    }
    at += holds ? step.jt : step.jf;
  }
  throw std::out_of_range("runs beyond its end");
}

std::uint32_t answer(int number, std::uint64_t argument = 0, bool changes_of_files = true) {
  return answer(deny_filter(changes_of_files),
                {.nr = number, .arch = kHere, .instruction_pointer = 0, .args = {argument}});
}

TEST(SeccompFilter, RefusesWhatReachesOutOfTheProcess) {
  for (const int number : {SYS_ptrace, SYS_process_vm_readv, SYS_mount, SYS_unshare, SYS_setns,
                           SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup,
                           SYS_keyctl, SYS_init_module, SYS_pidfd_getfd, SYS_shmget, SYS_mq_open}) {
    EXPECT_EQ(answer(number), kRefused) << number;
  }
}

TEST(SeccompFilter, AllowsWhatProgramsAndCompilersDo) {
  for (const int number :
       {SYS_read, SYS_write, SYS_openat, SYS_mmap, SYS_mprotect, SYS_execve, SYS_exit_group,
        SYS_futex, SYS_wait4, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_getrandom, SYS_unlinkat}) {
    EXPECT_EQ(answer(number), SECCOMP_RET_ALLOW) << number;
  }
}

TEST(SeccompFilter, RefusesChangesOfFilesWhereAskedTo) {
  for (const int number : {SYS_fchmod, SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_setxattr}) {
    EXPECT_EQ(answer(number, 0, true), kRefused) << number;
    EXPECT_EQ(answer(number, 0, false), SECCOMP_RET_ALLOW) << number;
  }
}

#if defined(__x86_64__)
TEST(SeccompFilter, RefusesTheOlderCallsOfX86Too) {
  for (const int number : {SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes}) {
    EXPECT_EQ(answer(number), kRefused) << number;
  }
  EXPECT_EQ(answer(SYS_iopl, 0, false), kRefused);
  EXPECT_EQ(answer(SYS_ioperm, 0, false), kRefused);
}
#endif

TEST(SeccompFilter, EndsAProcessThatMakesCallsOfAnotherArchitecture) {
  for (const std::uint32_t architecture : {kOf32Bits, std::uint32_t{EM_S390}}) {
    EXPECT_EQ(answer(deny_filter(true),
                     {.nr = SYS_read, .arch = architecture, .instruction_pointer = 0, .args = {}}),
              SECCOMP_RET_KILL_PROCESS);
  }
  EXPECT_EQ(answer(0x40000000 | SYS_read), SECCOMP_RET_KILL_PROCESS) << "x32's";
  EXPECT_EQ(answer(-1), SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompFilter, LooksAtTheArgumentsOfSomeCalls) {
  EXPECT_EQ(answer(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(SYS_clone, CLONE_VM | CLONE_NEWUSER), kRefused);
  EXPECT_EQ(answer(SYS_clone3), SECCOMP_RET_ERRNO | ENOSYS) << "its flags lie in memory";
  EXPECT_EQ(answer(SYS_socket, AF_UNIX), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(SYS_socket, AF_INET), SECCOMP_RET_ERRNO | EACCES);
  EXPECT_EQ(answer(SYS_prctl, PR_SET_DUMPABLE), kRefused);
  EXPECT_EQ(answer(SYS_prctl, PR_SET_NAME), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(SYS_kill, 1), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(SYS_kill, ~std::uint64_t{0}), kRefused) << "to everybody";
}

TEST(SeccompFilter, AnswersEveryNumberThereIs) {
  constexpr int kBeyondAllCalls = 1024;
  int refused = 0;
  for (int number = 0; number < kBeyondAllCalls; ++number) {
    if (answer(number) == kRefused) ++refused;
  }
#if defined(__x86_64__)
  constexpr int kOfX86Alone = 8;
#else
  constexpr int kOfX86Alone = 0;
#endif
  EXPECT_EQ(refused, 69 + kOfX86Alone);
}

}  // namespace
}  // namespace rooflab
