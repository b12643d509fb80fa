#pragma once

#include <cuda_runtime.h>

/// Root-mean-square normalisation of every row, as Gemma 3 has it:
///
///   y[r][i] = x[r][i] / sqrt(mean over the row of x[r][j]^2 + epsilon) * (1 + weight[i])
///
///   x, y:   (rows, width)     dense, row-major; they do not overlap
///   weight: (width)           the weights lie around 0, not around 1: mind the "1 +"
///
/// T is float or __nv_bfloat16, and is for storage only: compute in fp32, and round once, when y is
/// stored. All pointers are device pointers, aligned to 256 bytes; rows and width are at least 1
/// and need not be multiples of anything. A row may be longer than what fits into a block's
/// registers or its shared memory, and x may have more elements than an int counts. epsilon is any
/// positive number, 1e-6 in Gemma 3. Launches on `stream` and need not wait. y holds garbage before
/// the call.
template <typename T>
void rmsnorm(const T* x, const T* weight, T* y, int rows, int width, float epsilon,
             cudaStream_t stream);
