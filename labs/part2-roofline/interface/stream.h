#pragma once

#include <cstdint>

/// Ten functions of n floats. Each makes one pass over memory: it reads every input once and writes
/// every output once.
///
/// All pointers are device pointers to n floats as cudaMalloc returns them, aligned to 256 bytes,
/// and no two arrays overlap. n is at least 1, at most 2^31, and need not be a multiple of
/// anything. out holds garbage before the call: write every element of it, read none. Inputs must
/// stay as they are. Each function launches its kernel on the default stream and need not wait for
/// it.
///
/// Results are as accurate as CUDA's own single-precision functions (sqrtf, sinf, expf, log10f,
/// powf), for all floats for which the result is a number.
namespace stream {

/// out[i] = a[i], bit for bit: -0 stays -0, and a NaN the NaN that it is
void copy(const float* a, float* out, std::int64_t n);
/// out[i] = s * a[i]
void scale(const float* a, float s, float* out, std::int64_t n);
/// out[i] = a[i] + b[i]
void add(const float* a, const float* b, float* out, std::int64_t n);
/// out[i] = a[i] + s * b[i]
void triad(const float* a, const float* b, float s, float* out, std::int64_t n);
/// out[i] = a[i] * b[i]
void mul(const float* a, const float* b, float* out, std::int64_t n);
/// out[i] = the square root of a[i]
void sqrt(const float* a, float* out, std::int64_t n);
/// out[i] = the sine of a[i] radians
void sin(const float* a, float* out, std::int64_t n);
/// out[i] = 1 / (1 + e^-a[i])
void sigmoid(const float* a, float* out, std::int64_t n);
/// out[i] = the logarithm of a[i] to base 10
void log10(const float* a, float* out, std::int64_t n);
/// out[i] = a[i] raised to `exponent`; a whole exponent takes negative numbers, too
void pow(const float* a, float exponent, float* out, std::int64_t n);

}  // namespace stream
