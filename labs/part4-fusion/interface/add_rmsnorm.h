#pragma once

#include <cuda_runtime.h>

/// The residual connection and the norm after it, in one kernel:
///
///   residual[r][i] += x[r][i]
///   y[r][i] = residual[r][i] / sqrt(mean over the row of residual[r][j]^2 + epsilon)
///             * (1 + weight[i])
///
///   x, residual, y: (rows, width)   dense, row-major; they do not overlap
///   weight:         (width)         the weights lie around 0, not around 1: mind the "1 +"
///
/// Two separate kernels would write the sums to memory and read them once more.
///
/// T is float or __nv_bfloat16, and is for storage only: compute in fp32. A sum is rounded when it
/// is stored to residual, and the norm takes what was stored, as it would in a kernel of its own;
/// y is rounded once. All pointers are device pointers, aligned to 256 bytes; rows and width are at
/// least 1 and need not be multiples of anything, so a row may begin where a vector load is not
/// allowed. A row may be longer than what fits into a block's registers or its shared memory, and x
/// may have more elements than an int counts. epsilon is any positive number, 1e-6 in Gemma 3.
/// Launches on `stream` and does not have to wait. y holds garbage before the call.
template <typename T>
void add_rmsnorm(const T* x, T* residual, const T* weight, T* y, int rows, int width, float epsilon,
                 cudaStream_t stream);
