#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "toolkit/workspace.h"

namespace rooflab::eager {

/// y[i] = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with x = x[i], by eight kernels, one
/// for each operation of that line. Each rounds what it stores to T.
///
///   x, y: (count), dense, in device memory; they do not overlap
///
/// T is float, __half or __nv_bfloat16. Takes room for `count` elements from the workspace while it
/// runs. Launches on `stream` and does not wait.
/// @throws CudaError
/// @throws std::length_error when the workspace is too small
template <typename T>
void gelu(const T* x, T* y, std::int64_t count, Workspace& workspace, cudaStream_t stream);

}  // namespace rooflab::eager
