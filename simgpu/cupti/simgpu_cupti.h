#pragma once

#include <cstdint>

/// What the simulated GPU's libcupti has beyond NVIDIA's. Look it up with dlsym: on a GPU it
/// does not exist, for there counting needs a replay of the kernel.
///
/// Counted work of one kernel whose record was delivered: floating-point operations of all types
/// (a fused multiply-add is two) and bytes that DRAM read and wrote.
/// @param grid_id of the kernel's record; all kernels of a graph launch share one correlation
/// @returns 0, or 1 when no such kernel was delivered since activities were last enabled
extern "C" int simgpu_kernel_counters(std::uint32_t correlation_id, std::int64_t grid_id,
                                      double* flops, double* dram_bytes);
