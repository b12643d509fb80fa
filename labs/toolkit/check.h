#pragma once

// Nearly every file includes this one: it takes little time to compile, so that a save is graded
// soon.
#include <cuda_runtime.h>

namespace rooflab {

/// Throws CudaError (toolkit/cuda_error.h) unless `status` is cudaSuccess. Use the macro
/// CUDA_CHECK, which fills in the rest.
void check_cuda(cudaError_t status, const char* call, const char* file, int line);

}  // namespace rooflab

/// Wraps every call of the CUDA runtime:
///
///     CUDA_CHECK(cudaEventCreate(&start));
///
/// A kernel launch returns nothing, so its errors are asked for on the next line:
///
///     my_kernel<<<grid, block>>>(…);
///     CUDA_CHECK(cudaGetLastError());
#define CUDA_CHECK(call) ::rooflab::check_cuda((call), #call, __FILE__, __LINE__)
