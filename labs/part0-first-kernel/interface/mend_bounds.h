#pragma once

/// y[i] = x[i + 1] - x[i] for i = 0 ... n - 2: the step from each element to the next.
///
/// x is a device pointer to n floats, y one to n - 1. n is at least 2 and need not be a multiple of
/// anything. y holds garbage before the call: write every element of it, read none.
void differences(const float* x, float* y, int n);
