#pragma once

/// c[i] = a[i] + b[i] for i = 0 ... n - 1, computed by the GPU.
///
/// a, b and c are arrays of n floats in host memory, which a kernel cannot reach; n is
/// at least 1 and need not be a multiple of anything. When the function returns, c holds the sums,
/// and it has freed all device memory that it allocated. a and b must stay as they are.
void vector_add(const float* a, const float* b, float* c, int n);
