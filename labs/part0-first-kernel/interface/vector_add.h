#pragma once

/// c[i] = a[i] + b[i] for i = 0 ... n - 1, computed by the GPU.
///
/// a, b and c are arrays of n floats in the host's memory, where a kernel cannot reach them; n is
/// at least 1 and need not be a multiple of anything. When the function returns, c holds the sums,
/// and all device memory that it allocated is free again. a and b must stay as they are.
void vector_add(const float* a, const float* b, float* c, int n);
