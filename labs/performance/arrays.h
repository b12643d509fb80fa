#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "toolkit/check.h"
#include "toolkit/testing/device_array.h"

namespace rooflab::performance {

/// Device memory of any size.
template <typename T>
class DeviceMemory {
 public:
  /// @throws CudaError
  explicit DeviceMemory(std::size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  ~DeviceMemory() { static_cast<void>(cudaFree(data_)); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// An input: numbers between -1 and 1 that come again after a prime number of elements, so that a
/// gigabyte on the device needs a few megabytes on the host, and rows differ. Never zeros, which
/// take less power.
template <typename T>
class Input {
 public:
  /// @throws CudaError
  Input(std::size_t count, unsigned seed, double scale = 1) : device_(count) {
    const std::vector<T> period = varied<T>(std::min(count, kPeriod), seed, scale);
    for (const T value : period) host_.push_back(static_cast<float>(widened(value)));
    CUDA_CHECK(cudaMemcpy(device_.data(), period.data(), period.size() * sizeof(T),
                          cudaMemcpyHostToDevice));
    for (std::size_t done = period.size(); done < count; done += period.size()) {
      const std::size_t part = std::min(period.size(), count - done);
      CUDA_CHECK(cudaMemcpyAsync(device_.data() + done, device_.data(), part * sizeof(T),
                                 cudaMemcpyDeviceToDevice));
    }
  }

  const T* data() const { return device_.data(); }
  T* data() { return device_.data(); }
  std::size_t size() const { return device_.size(); }
  double operator[](std::size_t i) const { return host_[i % kPeriod]; }

 private:
  static constexpr std::size_t kPeriod = 1'000'003;
  DeviceMemory<T> device_;
  std::vector<float> host_;  // bf16, half and float all fit
};

/// What an element of an output must be.
struct Wanted {
  double value;
  double tolerance;  ///< absolute
};

/// An output, full of NaNs (all bits set) until it is written.
template <typename T>
class Output {
 public:
  /// @throws CudaError
  explicit Output(std::size_t count) : device_(count) {
    CUDA_CHECK(cudaMemset(device_.data(), 0xff, count * sizeof(T)));
  }

  T* data() const { return device_.data(); }
  std::size_t size() const { return device_.size(); }

  /// Every element must have been written and be a number, and every `step`th what is wanted. Says
  /// what is wrong; empty when nothing is. @throws CudaError
  std::string mismatch(const std::function<Wanted(std::size_t)>& wanted,
                       std::size_t step = 1) const {
    constexpr std::size_t kChunk = std::size_t{1} << 22;
    std::vector<T> chunk;
    for (std::size_t begin = 0; begin < size(); begin += chunk.size()) {
      chunk.resize(std::min(kChunk, size() - begin));
      CUDA_CHECK(cudaMemcpy(chunk.data(), device_.data() + begin, chunk.size() * sizeof(T),
                            cudaMemcpyDeviceToHost));
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        const double got = widened(chunk[i]);
        const std::string where = "element " + std::to_string(begin + i);
        if (std::isnan(got)) return where + " is NaN or was never written";
        if ((begin + i) % step != 0) continue;
        const Wanted want = wanted(begin + i);
        if (!(std::abs(got - want.value) <= want.tolerance)) {
          return where + " is " + std::to_string(got) + ", not " + std::to_string(want.value);
        }
      }
    }
    return {};
  }

  std::vector<T> host() const {
    std::vector<T> all(size());
    CUDA_CHECK(cudaMemcpy(all.data(), device_.data(), size() * sizeof(T), cudaMemcpyDeviceToHost));
    return all;
  }

 private:
  DeviceMemory<T> device_;
};

}  // namespace rooflab::performance
