#pragma once

#include <string>

#include "specs/gpu_spec.h"

namespace rooflab {

/// 1 TB/s and 10 TFLOP/s: a ridge point of 10 FLOP/B.
inline gpu_spec::GpuSpec small_gpu() {
  gpu_spec::GpuSpec gpu;
  gpu.name = "Test GPU";
  gpu.dram_bytes_per_second = 1e12;
  gpu.peak_flops = {{"fp32", 1e13}, {"bf16_tensor", 1e14}, {"fp64", 5e12}};
  return gpu;
}

/// How often `part` is in `text`.
inline int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace rooflab
