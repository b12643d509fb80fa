#pragma once

/// The window of an element: itself, kRadius elements before it and kRadius after it.
constexpr int kRadius = 3;

/// y[i] = x[i - kRadius] + ... + x[i] + ... + x[i + kRadius], where x is 0 before its first and
/// after its last element.
///
/// x and y are device pointers to n floats each; n is at least 1 and need not be a multiple of
/// anything. Neighbouring windows overlap: each block loads what it needs into shared memory, once,
/// and adds from there. y holds garbage before the call: write every element of it, read none.
/// Launch on the default stream; there is no need to wait.
void window_sums(const float* x, float* y, int n);
