#pragma once

#include <cstddef>
#include <cstdint>

/// Pages of the machine's memory.
namespace simgpu {

inline constexpr std::uint64_t kPageBytes = 4096;

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
