#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/contract/oracle.h"

/// What a device recorded of work that a student's code timed: a study's times are held against it.
namespace rooflab {

/// What the device recorded of one call, or of several.
struct RecordedCall {
  double busy_ms = 0;  ///< its kernels, one by one
  double span_ms = 0;  ///< from the beginning until the last of them has ended
  int kernels = 0;
  // Of all kernels, the library's too; infinite where one was cut short.
  double flops = 0;
  double loaded_bytes = 0, stored_bytes = 0;  ///< of global memory, as lanes ask for them
  int allocations = 0;                        ///< of device memory
};

/// Adds up what a kernel did.
void add(const simgpu::KernelRecord& kernel, RecordedCall& call);

/// The work between two events (cudaEventRecord) whose distance is asked for, in the order of the
/// questions. The span begins with the first kernel.
std::vector<RecordedCall> timed_work(const simgpu::Activity& activity);

/// A call that an adapter makes behind a study, between a fill (cudaMemset) of `bytes` bytes, a
/// length that nothing else has, and one of one byte more. The span begins with the fill. A call
/// that is not there has no kernels.
RecordedCall call_behind_marker(const simgpu::Activity& activity, std::uint64_t bytes);

/// The kernels of that call, in their order.
std::vector<const simgpu::KernelRecord*> kernels_behind_marker(const simgpu::Activity& activity,
                                                               std::uint64_t bytes);

/// The fill of so many bytes; nullptr where there is none, and where there are several: a marker
/// that a student's code makes as well marks nothing.
const simgpu::MemoryRecord* only_fill(const simgpu::Activity& activity, std::uint64_t bytes);

/// The first kernel of a timed call (of what lies between two events whose distance is asked for)
/// that no launch of the same kernel and grid came before. Empty when there is none.
std::string first_kernel_that_is_timed_cold(const simgpu::Activity& activity);

}  // namespace rooflab
