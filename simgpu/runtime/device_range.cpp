#include "simgpu/runtime/device_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simgpu/memory/device_memory.h"
#include "simgpu/runtime/client.h"
#include "simgpu/runtime/context.h"

namespace simgpu::runtime {
namespace {

constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << 40;

bool& range_is_reserved() {
  static bool reserved = false;
  return reserved;
}

struct sigaction& earlier_action() {
  static struct sigaction action;
  return action;
}

/// A line built without allocation, for use in a signal handler.
class Line {
 public:
  Line& text(std::string_view part) {
    const std::size_t count = std::min(part.size(), bytes_.size() - used_);
    std::copy_n(part.begin(), count, bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += count;
    return *this;
  }
  Line& number(std::uint64_t value, int base) {
    std::array<char, 24> digits{};
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void print() const {
    [[maybe_unused]] const ssize_t count = write(STDERR_FILENO, bytes_.data(), used_);
  }

 private:
  std::array<char, 512> bytes_{};
  std::size_t used_ = 0;
};

void explain_fault(std::uint64_t address) {
  Line line;
  line.text("error[RL0207]: host code dereferenced device pointer 0x").number(address, 16);
  if (const auto block = Context::get<DeviceBlocks>().find_without_waiting(address)) {
    line.text(" (allocation of ")
        .number(block->bytes, 10)
        .text(" bytes, ")
        .text(block->api)
        .text(")");
  }
  line.text("; copy it with cudaMemcpy first\n").print();
}

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (is_device_address(info->si_addr)) {
    if (Client::instance().give_back_result(address)) return;
    explain_fault(address);
    Client::instance().report_dereference(address);
  }
  // The access is repeated under the earlier action: death, unless the program had its own handler.
  sigaction(signal, &earlier_action(), nullptr);
}

}  // namespace

bool is_device_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address >= kDeviceBase && address - kDeviceBase < kRangeBytes;
}

bool is_device_memory(const void* pointer) {
  return is_device_address(pointer) &&
         !Context::get<PinnedBlocks>().find(reinterpret_cast<std::uintptr_t>(pointer)).has_value();
}

bool is_host_accessible(const void* pointer) {
  if (!is_device_memory(pointer)) return true;
  const auto block = Context::get<DeviceBlocks>().find(reinterpret_cast<std::uintptr_t>(pointer));
  return block && block->mapped_bytes != 0;
}

bool device_range_is_reserved() { return range_is_reserved(); }

void reserve_device_range() {
  // Best effort: under a limit on address space the range is merely unlikely to be used.
  void* const base = reinterpret_cast<void*>(kDeviceBase);
  range_is_reserved() =
      mmap(base, kRangeBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == base;
  Context::get<DeviceBlocks>();  // is made here: the handler must not allocate
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &earlier_action());
}

}  // namespace simgpu::runtime
