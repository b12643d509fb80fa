#pragma once

#include <cstdint>

namespace simgpu {

/// An mbarrier object, and what it is in shared memory: 64 bits that PTX leaves opaque. A phase
/// ends when as many threads have arrived as it expects and as many bytes as are announced have
/// come.
struct Mbarrier {
  static constexpr std::uint32_t kMostThreads = (1U << 20) - 1;

  std::uint32_t expected = 0;  ///< arrivals of each phase
  std::uint32_t pending = 0;   ///< of this one still to come
  std::int32_t bytes = 0;      ///< announced and still to come; negative when they came first
  bool odd = false;            ///< parity of the phase

  static Mbarrier decode(std::uint64_t word) {
    constexpr unsigned kBitsAbove = 32 - kByteBits;
    const auto bytes = static_cast<std::uint32_t>(word >> kByteShift) << kBitsAbove;
    return {static_cast<std::uint32_t>(word & kMostThreads),
            static_cast<std::uint32_t>(word >> kCountBits & kMostThreads),
            static_cast<std::int32_t>(bytes) >> kBitsAbove, word >> 63 != 0};
  }
  std::uint64_t encode() const {
    const std::uint64_t coming = static_cast<std::uint32_t>(bytes) & ((1U << kByteBits) - 1);
    return expected | std::uint64_t{pending} << kCountBits | coming << kByteShift |
           static_cast<std::uint64_t>(odd) << 63;
  }

  /// The next phase begins if nothing is missing in this one.
  void end_phase_if_complete() {
    if (pending != 0 || bytes != 0) return;
    odd = !odd;
    pending = expected;
  }

 private:
  static constexpr unsigned kCountBits = 20;
  static constexpr unsigned kByteShift = 2 * kCountBits;
  static constexpr unsigned kByteBits = 22;  // one more than PTX's range of 2^20 - 1, for the sign
};

}  // namespace simgpu
