#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// y[i] = gelu(x[i]) by the tanh formula:
///
///   gelu(x) = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
///
///   x, y: (count)   dense; they do not overlap
///
/// rooflab::eager::gelu of toolkit/eager/gelu.h does this with eight kernels, each of which reads
/// and writes whole arrays. Here, one kernel reads x once and writes y once; gelu() of common.cuh
/// computes an element.
///
/// T is float or __nv_bfloat16, and is for storage only: compute in fp32, with tanhf, and round
/// once, when y is stored. x holds any numbers for which gelu(x) is finite. Pointers are aligned
/// to 256 bytes; count is at least 1, may be odd, and may be larger than 2^31. Launches on `stream`
/// and does not have to wait. y holds garbage before the call.
template <typename T>
void fused_gelu(const T* x, T* y, std::int64_t count, cudaStream_t stream);
