#pragma once

#include <cuda_runtime.h>

/// Rotary position embedding, in place. Each head of the token at position p is a vector of
/// head_dim / 2 pairs; pair i is (x[i], x[i + head_dim / 2]), and rotates by the angle
///
///   p * theta^(-2 i / head_dim)
///
/// from (a, b) to (a cos - b sin, b cos + a sin).
///
///   x:         (batch, length, heads, head_dim)   dense, row-major
///   positions: (length)                           of the tokens, the same in every sequence, in
///                                                 any order and with gaps; up to 2^17, in device
///                                                 memory
///
/// T is float or __nv_bfloat16, and is for storage only: angles, cosines and sines are fp32, and x
/// is rounded once, when it is stored. Angles reach many full rotations, 15,915 at position
/// 100,000: take sincosf, since the error of __sinf and __cosf grows with the angle. theta is any
/// number above 1, 10,000 and 1,000,000 in Gemma 3. head_dim is even, batch at most 65,535, and x
/// may have more elements than an int counts. Pointers are aligned to 256 bytes. Launches on
/// `stream` and need not wait.
template <typename T>
void rope(T* x, const int* positions, int batch, int length, int heads, int head_dim, float theta,
          cudaStream_t stream);
