#pragma once

#include <cstdint>

#include "specs/gpu_spec.h"

namespace simgpu {

/// What a copy or a fill reads or writes.
struct DramRows {
  std::uint64_t address = 0, pitch = 0, width = 0, height = 1;

  /// The sectors of 32 bytes that the rows lie in: memory moves no less of any.
  std::uint64_t moved_bytes() const;
};

/// How long copies and fills on the device take DRAM, whose bandwidth they reach no more of than
/// kernels do.
double fill_us(const DramRows& written, const gpu_spec::GpuSpec& gpu);
double copy_us(const DramRows& read, const DramRows& written, const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
