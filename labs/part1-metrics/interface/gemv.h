#pragma once

/// y = A x in fp32, with one warp for each row of A.
///
/// A is (M, K), dense and row-major; x has K elements, y has M. All are device pointers, aligned to
/// 256 bytes. M and K are at least 1 and need not be multiples of anything. A may have more
/// elements than an int can count, and a warp for each row may be more threads than an int can
/// count.
///
/// Launches on the default stream and need not wait. y holds garbage before the call: write every
/// element, read none. Do not change A or x.
void gemv(const float* A, const float* x, float* y, int M, int K);
