#pragma once

#include <cstdint>
#include <string>

#include "simgpu/device/cuda_error.h"
#include "simgpu/device/module.h"
#include "simgpu/model/time_model.h"
#include "simgpu/report.h"
#include "specs/gpu_spec.h"

/// What a GPU refuses before a kernel starts, and how its blocks are spread over the
/// multiprocessors.
namespace simgpu {

struct LaunchVerdict {
  CudaError error = CudaError::success;
  std::string reason;  ///< empty on success, else a sentence with the limit
};

/// Why no block of the kernel can have that much dynamic shared memory on the GPU, whatever its
/// attributes; empty when it can.
std::string beyond_shared_memory(const LoadedKernel& kernel, std::uint64_t dynamic_bytes,
                                 const gpu_spec::GpuSpec& gpu);

/// The limits of CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
/// @param stack_bytes cudaLimitStackSize
LaunchVerdict judge_launch(const LoadedKernel& kernel, const LaunchShape& shape,
                           std::uint64_t stack_bytes, const gpu_spec::GpuSpec& gpu);

/// Whether all blocks of a cooperative launch fit on the GPU at once.
LaunchVerdict judge_cooperative(const LaunchShape& shape, const gpu_spec::GpuSpec& gpu);

LaunchShape shape_of(const LoadedKernel& kernel, Dim3 grid, Dim3 block,
                     unsigned dynamic_shared_bytes);

/// L1 bytes that one resident block can count on: what the shared-memory carve-out leaves, divided
/// by the blocks on the multiprocessor.
std::uint64_t l1_bytes_per_block(const LaunchShape& shape, unsigned blocks_per_sm,
                                 const gpu_spec::GpuSpec& gpu);

/// Share of the GPU that a launch occupies while it runs, (0, 1]: the places for blocks that it
/// takes, or, if more, what its work would take of a full GPU, over its own time. Two kernels run
/// side by side only while their shares fit, so that a grid in pieces is no faster than in one.
/// @param device_us see device_time_us()
double device_share(const LaunchShape& shape, const TimeBreakdown& time, double device_us,
                    const gpu_spec::GpuSpec& gpu);

}  // namespace simgpu
