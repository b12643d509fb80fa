#include "simgpu/runtime/host_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace simgpu::runtime {
namespace {

constexpr std::uintptr_t kPage = 4096;  // or a part of one
constexpr std::uintptr_t kWord = 8;     // a signal set of the system call

/// The kernel reads the signal set before it looks at what to do with it, which is nothing here.
bool is_word_readable(std::uintptr_t address) {
  constexpr int kNoSuchChange = -1;
  const long result = syscall(SYS_rt_sigprocmask, kNoSuchChange, address, nullptr, kWord);
  return result == 0 || errno != EFAULT;
}

}  // namespace

bool is_readable(const void* pointer, std::size_t bytes) {
  if (bytes == 0) return true;
  const auto first = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t last = first + (bytes - 1);
  if (last < first) return false;
  const int before = errno;
  bool readable = is_word_readable(first / kWord * kWord);
  for (std::uintptr_t page = first / kPage + 1; readable && page <= last / kPage; ++page) {
    readable = is_word_readable(page * kPage);
  }
  errno = before;
  return readable;
}

}  // namespace simgpu::runtime
