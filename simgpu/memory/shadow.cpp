#include "simgpu/memory/shadow.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "simgpu/memory/pages.h"

namespace simgpu::shadow {
namespace {

/// Bits [first, first + count) of one shadow byte; first + count <= 8.
std::uint8_t bits(unsigned first, std::uint64_t count) {
  return static_cast<std::uint8_t>(((1U << count) - 1U) << first);
}

/// Calls visit(shadow byte, mask) for each shadow byte that [offset, offset + bytes) covers in
/// part, and range(first, count) for those it covers in full.
template <typename Visit, typename Range>
void for_each_shadow_byte(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes,
                          const Visit& visit, const Range& range) {
  const unsigned head = offset % 8;
  std::uint8_t* at = shadow + offset / 8;
  if (head != 0) {
    const std::uint64_t count = std::min<std::uint64_t>(bytes, 8 - head);
    visit(at++, bits(head, count));
    bytes -= count;
  }
  if (bytes >= 8) {
    range(at, bytes / 8);
    at += bytes / 8;
  }
  if (bytes % 8 != 0) visit(at, bits(0, bytes % 8));
}

}  // namespace

void set(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes) {
  // Two blocks may store to neighbouring words that share a shadow byte, hence the atomic or.
  for_each_shadow_byte(
      shadow, offset, bytes,
      [](std::uint8_t* at, std::uint8_t mask) {
        std::atomic_ref<std::uint8_t> shared(*at);
        if ((shared.load(std::memory_order_relaxed) & mask) != mask) {
          shared.fetch_or(mask, std::memory_order_relaxed);
        }
      },
      [](std::uint8_t* at, std::uint64_t count) {
        if (count <= 4) {
          for (std::uint64_t i = 0; i < count; ++i) {
            std::atomic_ref<std::uint8_t>(at[i]).store(0xff, std::memory_order_relaxed);
          }
        } else {
          std::memset(at, 0xff, count);
        }
      });
}

void clear(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes) {
  for_each_shadow_byte(
      shadow, offset, bytes,
      [](std::uint8_t* at, std::uint8_t mask) {
        std::atomic_ref<std::uint8_t>(*at).fetch_and(static_cast<std::uint8_t>(~mask),
                                                     std::memory_order_relaxed);
      },
      [](std::uint8_t* at, std::uint64_t count) { zero(reinterpret_cast<std::byte*>(at), count); });
}

bool all_set(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes) {
  bool all = true;
  for_each_shadow_byte(
      shadow, offset, bytes,
      [&](std::uint8_t* at, std::uint8_t mask) {
        all = all &&
              (std::atomic_ref<std::uint8_t>(*at).load(std::memory_order_relaxed) & mask) == mask;
      },
      [&](std::uint8_t* at, std::uint64_t count) {
        all = all && std::all_of(at, at + count, [](std::uint8_t byte) { return byte == 0xff; });
      });
  return all;
}

}  // namespace simgpu::shadow
