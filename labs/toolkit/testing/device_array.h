#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "toolkit/check.h"

namespace rooflab {

/// A copy of host values in device memory, freed at the end of its scope.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host) : size_(host.size()) {
    CUDA_CHECK(cudaMalloc(&data_, size_ * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  /// What it holds once all work before is done.
  std::vector<T> host() const {
    std::vector<T> host(size_);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// `value` in T's type, rounded to nearest, ties to even. For half and bf16 by scaling in fp64,
/// which shares nothing with CUDA's conversions; magnitudes from 2^-126 to the type's largest, 0
/// and infinities.
template <typename T>
T rounded(double value);
template <>
inline float rounded<float>(double value) {
  return static_cast<float>(value);
}
template <>
inline __nv_bfloat16 rounded<__nv_bfloat16>(double value) {
  constexpr int kDigits = 8;  // of a bf16 significand
  if (value != 0 && std::isfinite(value)) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    value = std::ldexp(std::nearbyint(std::ldexp(fraction, kDigits)), exponent - kDigits);
  }
  return __float2bfloat16(static_cast<float>(value));  // exact
}

template <>
inline __half rounded<__half>(double value) {
  constexpr int kDigits = 11;     // of a half's significand
  constexpr int kSmallest = -24;  // exponent of the smallest subnormal number
  constexpr double kLargest = 65504;
  if (value != 0 && std::isfinite(value)) {
    const int step = std::max(std::ilogb(value) + 1 - kDigits, kSmallest);
    value = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
    if (std::abs(value) > kLargest) {
      value = std::copysign(std::numeric_limits<double>::infinity(), value);
    }
  }
  return __float2half(static_cast<float>(value));  // exact
}

inline double widened(float value) { return value; }
inline double widened(__half value) { return __half2float(value); }
inline double widened(__nv_bfloat16 value) { return __bfloat162float(value); }

/// `count` values of T between -scale and scale, spread evenly, in an order without a pattern; what
/// comes next depends on `seed` alone.
template <typename T>
std::vector<T> varied(std::size_t count, unsigned seed, double scale = 1) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(rounded<T>(scale * (seed / 2147483648.0 - 1)));
  }
  return values;
}

}  // namespace rooflab
