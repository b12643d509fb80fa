#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "simgpu/checkers/access.h"

namespace simgpu {

/// A WarpAccess with its own addresses, for tests.
struct TestAccess {
  std::array<std::uint64_t, kWarpSize> address{};
  WarpAccess access;

  TestAccess(AccessKind kind, std::uint8_t bytes,
             const std::function<std::uint64_t(std::uint64_t lane)>& address_of,
             std::uint32_t mask = 0xffffffffU) {
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
      // Lanes that take no part hold garbage, as in the engine.
      address[lane] = (mask >> lane & 1U) != 0 ? address_of(lane) : 0xdead'beef'dead'beefU;
    }
    access.kind = kind;
    access.bytes = bytes;
    access.mask = mask;
  }

  TestAccess& by(std::uint16_t warp, std::uint32_t pc) {
    access.warp = warp;
    access.pc = pc;
    return *this;
  }

  /// After so many issue slots of the warp.
  TestAccess& after(std::uint64_t slots) {
    access.slots = slots;
    return *this;
  }

  /// So many cycles after its block began.
  TestAccess& at_time(std::uint64_t cycles) {
    access.time = cycles;
    return *this;
  }

  /// The access; it refers to this object.
  const WarpAccess& get() {
    access.address = &address;
    return access;
  }
};

}  // namespace simgpu
