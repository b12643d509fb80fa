#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// The operations of a framework that runs a program eagerly: each call is one kernel, which reads
/// its arrays from memory and writes its result back, rounded to T.
///
/// T is float, __half or __nv_bfloat16. Arrays are dense and in device memory; a result may take
/// the place of an array that it is computed from, element by element. Each call launches on
/// `stream`, does not wait, launches nothing for empty arrays, and throws CudaError when the launch
/// fails.
namespace rooflab::eager {

/// y[i] = a[i] + b[i]; all are (count)
template <typename T>
void add(const T* a, const T* b, T* y, std::int64_t count, cudaStream_t stream);
/// y[i] = a[i] * b[i]
template <typename T>
void multiply(const T* a, const T* b, T* y, std::int64_t count, cudaStream_t stream);

/// y[i] = x[i] + number; both are (count), here and below
template <typename T>
void add_number(const T* x, float number, T* y, std::int64_t count, cudaStream_t stream);
/// y[i] = factor * x[i]
template <typename T>
void scale(const T* x, float factor, T* y, std::int64_t count, cudaStream_t stream);

/// y[i] = x[i]^2
template <typename T>
void square(const T* x, T* y, std::int64_t count, cudaStream_t stream);
/// y[i] = x[i]^3
template <typename T>
void cube(const T* x, T* y, std::int64_t count, cudaStream_t stream);
/// y[i] = tanh(x[i])
template <typename T>
void tanh(const T* x, T* y, std::int64_t count, cudaStream_t stream);
/// y[i] = 1 / sqrt(x[i])
template <typename T>
void rsqrt(const T* x, T* y, std::int64_t count, cudaStream_t stream);

}  // namespace rooflab::eager
