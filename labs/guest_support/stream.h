#pragma once

#include <cuda_runtime.h>

#include "grader/contract/guest_call.h"

namespace rooflab {

/// The stream that the student's function gets, which neither waits for the default stream nor is
/// waited for by it.
inline cudaStream_t stream_of(const GuestCall& call) {
  return static_cast<cudaStream_t>(call.stream());
}

}  // namespace rooflab
