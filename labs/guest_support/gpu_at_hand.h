#pragma once

#include <cuda_runtime.h>

#include <string>

#include "toolkit/check.h"
#include "toolkit/cost.h"
#include "toolkit/plot/plot.h"

namespace rooflab {

/// What a call that draws charts is told of the GPU it runs on.
struct GpuAtHand {
  std::string name;
  Gpu peaks;             ///< fp32 and DRAM, as a data sheet prints them
  plot::PointKind kind;  ///< of points that come from its clock
};

/// @throws CudaError
inline GpuAtHand gpu_at_hand() {
  constexpr double kHertzPerKilohertz = 1e3;
  constexpr double kTransfersPerClock = 2;
  constexpr double kBitsPerByte = 8;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  const auto attribute = [device](cudaDeviceAttr which) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<double>(value);
  };
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  // Lanes for fp32 in one multiprocessor: CUDA C++ Programming Guide, Arithmetic Instructions.
  const bool has_64_lanes = (properties.major == 7 && properties.minor == 5) ||
                            (properties.major == 8 && properties.minor == 0);
  const double lanes = properties.multiProcessorCount * (has_64_lanes ? 64.0 : 128.0);
  const double clock = attribute(cudaDevAttrClockRate) * kHertzPerKilohertz;
  const double memory_clock = attribute(cudaDevAttrMemoryClockRate) * kHertzPerKilohertz;
  const std::string name = properties.name;
  return {.name = name,
          .peaks = {.flops_per_second = lanes * 2 * clock,
                    .bytes_per_second = memory_clock * kTransfersPerClock *
                                        properties.memoryBusWidth / kBitsPerByte},
          .kind = name.starts_with("simulated ") ? plot::PointKind::modelled
                                                 : plot::PointKind::measured};
}

}  // namespace rooflab
