#pragma once

#include <cstdint>

/// One bit for each byte of device memory: whether anybody has written it. Ranges are in bytes of
/// that memory, counted from where the shadow begins. Several threads may write bits at a time.
namespace simgpu::shadow {

void set(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes);
void clear(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes);
bool all_set(std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes);

/// Calls gap(first, count), offsets from `offset`, for each stretch of its `bytes` whose bits are
/// 0.
template <typename Gap>
void for_each_gap(const std::uint8_t* shadow, std::uint64_t offset, std::uint64_t bytes,
                  const Gap& gap) {
  std::uint64_t begin = 0;  // of the gap that is open
  bool open = false;
  const auto close = [&](std::uint64_t end) {
    if (open) gap(begin, end - begin);
    open = false;
  };
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t bit = (offset + at) % 8;
    const std::uint8_t byte = shadow[(offset + at) / 8];
    const bool whole = bit == 0 && bytes - at >= 8 && (byte == 0 || byte == 0xff);
    const bool written = whole ? byte != 0 : (byte >> bit & 1) != 0;
    if (written) {
      close(at);
    } else if (!open) {
      open = true;
      begin = at;
    }
    at += whole ? 8 : 1;
  }
  close(bytes);
}

}  // namespace simgpu::shadow
