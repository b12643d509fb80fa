#pragma once

#include <span>
#include <string_view>

namespace rooflab {

/// One operation that the chart of sweep.h must show.
struct SweepOperation {
  std::string_view label;
  double macs;      ///< multiply-accumulate steps, 0 where there are none
  double flops;     ///< floating-point operations
  double elements;  ///< float32 values that cross DRAM at least once
  bool library;     ///< runs in cuBLAS, and not in a kernel of the student's

  double bytes() const { return elements * sizeof(float); }
  double intensity() const { return flops / bytes(); }
};

std::span<const SweepOperation> sweep_operations();

}  // namespace rooflab
