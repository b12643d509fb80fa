#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simgpu/isa/lowered.h"
#include "simgpu/replay/recording.h"

namespace simgpu::replay {

/// By register: the one instruction that gives it a value made of its own, `k += 16`, if that is
/// the end of a loop: behind it come only instructions of the same line, up to a jump back. Else
/// kNone. So whatever such a register counts has the same value from one iteration's first line to
/// its last.
std::vector<std::uint32_t> updaters(const LoweredKernel& kernel);

/// How such a register came to its values.
class RegisterSeries {
 public:
  /// Notes what was written, and puts into it how often that instruction has run.
  void write(bool is_update, RegisterValues& written);

 private:
  static constexpr std::uint32_t kNeverSet = 0xFFFFFFFF;
  std::array<std::uint64_t, kLanes> first_{};
  std::array<std::uint32_t, kLanes> updates_ = [] {
    std::array<std::uint32_t, kLanes> none{};
    none.fill(kNeverSet);
    return none;
  }();
};

}  // namespace simgpu::replay
