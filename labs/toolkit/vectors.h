#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Loads and stores of 16 bytes, the most that one instruction of a thread moves: eight half or
/// bf16 values, or four fp32 values. Storage may be half or bf16; a kernel sees fp32.
namespace rooflab {

/// How many values of T are 16 bytes.
template <typename T>
inline constexpr int kVectorSize = 16 / sizeof(T);

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__half value) { return __half2float(value); }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __half from_float<__half>(float value) {
  return __float2half(value);
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16(value);
}

/// p[0], p[1], ... by one load. @pre p lies at a multiple of 16 bytes
template <typename T>
__device__ void load_vector(const T* p, float (&values)[kVectorSize<T>]) {
  union {
    uint4 bits;
    T elements[kVectorSize<T>];
  } vector = {*reinterpret_cast<const uint4*>(p)};
#pragma unroll
  for (int i = 0; i < kVectorSize<T>; ++i) values[i] = to_float(vector.elements[i]);
}

/// The same for storing.
template <typename T>
__device__ void store_vector(T* p, const float (&values)[kVectorSize<T>]) {
  alignas(16) T elements[kVectorSize<T>];
#pragma unroll
  for (int i = 0; i < kVectorSize<T>; ++i) elements[i] = from_float<T>(values[i]);
  *reinterpret_cast<uint4*>(p) = *reinterpret_cast<const uint4*>(elements);
}

/// Whether `left` values from p on may be moved as one vector.
template <typename T>
__device__ bool is_vector(const T* p, std::int64_t left) {
  return left >= kVectorSize<T> && reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

/// p[0] ... p[left - 1], at most a vector of them, and zeros behind: one by one where an array ends
/// or p does not lie at a multiple of 16 bytes.
template <typename T>
__device__ void load(const T* p, std::int64_t left, float (&values)[kVectorSize<T>]) {
  if (is_vector(p, left)) return load_vector(p, values);
#pragma unroll
  for (int i = 0; i < kVectorSize<T>; ++i) values[i] = i < left ? to_float(p[i]) : 0.0f;
}

/// The same for storing; nothing is stored behind p[left - 1].
template <typename T>
__device__ void store(T* p, std::int64_t left, const float (&values)[kVectorSize<T>]) {
  if (is_vector(p, left)) return store_vector(p, values);
#pragma unroll
  for (int i = 0; i < kVectorSize<T>; ++i) {
    if (i < left) p[i] = from_float<T>(values[i]);
  }
}

}  // namespace rooflab
