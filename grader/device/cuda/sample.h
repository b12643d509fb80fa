#pragma once

#include <cstdint>

namespace rooflab {

/// One timed run on a GPU, of a calibration's kernel or of a submission's function.
struct Sample {
  double time_us = 0;
  std::int64_t sm_mhz = 0;  ///< clock while it ran; 0: not watched
  std::int64_t throttled_by =
      0;  ///< NVML's clock event reasons while it ran; 0: none, or not watched
};

/// Reasons that NVML gives for a clock that is lower than it could be (nvml.h,
/// nvmlClocksEventReason…): those of a fault or of heat. The power cap is not among them: what a
/// card can do within its power is what it can do.
constexpr std::int64_t kHardwareSlowdown = 0x8;
constexpr std::int64_t kSoftwareThermal = 0x20;
constexpr std::int64_t kHardwareThermal = 0x40;
constexpr std::int64_t kPowerBrake = 0x80;

/// Reasons of a call, from those right before it and right after it. The hardware slowdown is set
/// for a moment, too, whenever the GPU changes its clock: it counts where it is on both sides. Heat
/// and the power brake, which it comes with when it is meant, have bits of their own.
constexpr std::int64_t reasons_around(std::int64_t before, std::int64_t after) {
  return ((before | after) & ~kHardwareSlowdown) | (before & after & kHardwareSlowdown);
}

/// Whether a sample says nothing about the GPU, only about its cooling or its supply at that
/// moment.
constexpr bool is_throttled(const Sample& sample) {
  return (sample.throttled_by &
          (kHardwareSlowdown | kSoftwareThermal | kHardwareThermal | kPowerBrake)) != 0;
}

}  // namespace rooflab
