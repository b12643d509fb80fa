#pragma once

#include "simgpu/runtime/capture.h"
#include "simgpu/runtime/copy.h"

namespace simgpu::runtime {

/// A copy or fill goes into the graph that the stream is captured into, or to the device.
/// @returns a cudaError_t
template <typename Work>
int submit(const Work& work) {
  if (const int error = check(work); error != 0) {
    if (error == cudaErrorInvalidValue) report_misuse(work);
    return error;
  }
  if (is_empty(work)) return cudaSuccess;
  if (!work.asynchronous) {
    if (const int error = permit_stream(work.stream); error != 0) return error;
  } else if (const auto captured = capture(work.stream, work)) {
    return *captured;
  }
  return perform(work);
}

}  // namespace simgpu::runtime
