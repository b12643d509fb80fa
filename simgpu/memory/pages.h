#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

/// Pages of the machine's memory.
namespace simgpu {

/// The smallest that there are: in these units patterns repeat and stores are undone.
inline constexpr std::uint64_t kPageBytes = 4096;

/// Of the kernel that runs: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64.
inline std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

/// No kernel has larger ones. What is mapped by itself begins and ends at a multiple, so that its
/// addresses are the same on every machine.
inline constexpr std::uint64_t kLargestPage = std::uint64_t{64} << 10;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Address space that costs nothing until it is touched, or nullptr.
void* reserve(std::uint64_t bytes);

/// Tells ThreadSanitizer, where a program is built with it, that threads may race in this memory:
/// it belongs to a kernel, whose races are its own. Elsewhere nothing happens.
void expect_races(void* begin, std::uint64_t bytes);

/// Zeroes [begin, begin + bytes): whole pages go back to the kernel, the edges are written.
void zero(std::byte* begin, std::uint64_t bytes);

}  // namespace simgpu
