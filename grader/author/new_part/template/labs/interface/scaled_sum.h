#pragma once

#include <cstdint>

/// out[i] = s * x[i] + y[i], in fp32.
///
/// x, y and out are device pointers to n floats each, aligned to 256 bytes, and no two of them
/// overlap; n is at least 1 and need not be a multiple of anything. Launches on the default stream
/// and need not wait. out holds garbage before the call: write every element of it, read none.
/// x and y must stay as they are.
void scaled_sum(const float* x, const float* y, float s, float* out, std::int64_t n);
