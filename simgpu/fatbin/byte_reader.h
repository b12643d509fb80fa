#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "simgpu/fatbin/fatbin.h"

namespace simgpu::fatbin {

/// The part of `bytes` from offset on, `size` long. @throws FatbinError naming `what` if it leaves
/// the bytes.
inline std::span<const std::byte> slice(std::span<const std::byte> bytes, std::uint64_t offset,
                                        std::uint64_t size, std::string_view what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw FatbinError(std::string(what) + " reaches past the end of the file");
  }
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

/// The little-endian integer at offset; it need not be aligned. @throws FatbinError as slice does.
template <typename Integer>
Integer read_integer(std::span<const std::byte> bytes, std::uint64_t offset,
                     std::string_view what) {
  static_assert(std::is_unsigned_v<Integer>);
  const auto source = slice(bytes, offset, sizeof(Integer), what);
  std::uint64_t value = 0;
  for (std::size_t byte = sizeof(Integer); byte-- > 0;) {
    value = (value << 8) | std::to_integer<std::uint64_t>(source[byte]);
  }
  return static_cast<Integer>(value);
}

}  // namespace simgpu::fatbin
