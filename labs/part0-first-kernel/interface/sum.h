#pragma once

/// *result = x[0] + x[1] + ... + x[n - 1], in fp32 and in any order.
///
/// x is a device pointer to n floats, result one to a single float, which holds garbage before the
/// call. n is at least 1, at most 2^30, and need not be a multiple of anything. Many threads share
/// the work: not a single thread, nor a single block where there are elements for several. Launch
/// on the default stream; there is no need to wait. Device memory that you allocate has to be
/// freed.
void sum(const float* x, float* result, int n);
