#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "toolkit/check.h"

namespace rooflab {

/// Device memory of a call's own, in the order of the default stream: taken here, given back with
/// this object.
class DeviceBuffer {
 public:
  /// @throws CudaError
  explicit DeviceBuffer(std::size_t bytes) { CUDA_CHECK(cudaMallocAsync(&data_, bytes, nullptr)); }
  ~DeviceBuffer() { static_cast<void>(cudaFreeAsync(data_, nullptr)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// An array of ordinary numbers for code that is timed: zeros would draw less power and let a real
/// GPU clock higher.
class FilledArray {
 public:
  /// @throws CudaError
  explicit FilledArray(std::size_t count) {
    constexpr int kByteOfEach = 0x3c;  // 0x3c3c3c3c is the float 0.0115
    CUDA_CHECK(cudaMalloc(&data_, sizeof(float) * count));
    CUDA_CHECK(cudaMemset(data_, kByteOfEach, sizeof(float) * count));
  }
  ~FilledArray() { static_cast<void>(cudaFree(data_)); }
  FilledArray(const FilledArray&) = delete;
  FilledArray& operator=(const FilledArray&) = delete;
  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

}  // namespace rooflab
