#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace rooflab {

/// x[i] += y[i], the residual connection: added in fp32, rounded once.
///
///   x, y: (count), dense, in device memory; T is float or __nv_bfloat16; count may be 0
///
/// Launches on `stream` and does not wait.
/// @throws CudaError
template <typename T>
void add(T* x, const T* y, std::int64_t count, cudaStream_t stream);

}  // namespace rooflab
