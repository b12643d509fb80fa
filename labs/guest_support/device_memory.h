#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "grader/contract/guest_call.h"
#include "guest_support/stream.h"
#include "toolkit/check.h"
#include "toolkit/workspace.h"

namespace rooflab {

/// Device memory in the order of a stream: taken here, given back with this object.
class DeviceBuffer {
 public:
  /// @throws CudaError
  DeviceBuffer(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    CUDA_CHECK(cudaMallocAsync(&data_, bytes, stream));
  }
  ~DeviceBuffer() { static_cast<void>(cudaFreeAsync(data_, stream_)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

/// A workspace of the guest's on the call's stream, which all calls of this size use one after the
/// other.
/// @throws CudaError
inline Workspace kept_workspace(GuestCall& call, std::size_t bytes) {
  const auto& buffer =
      call.kept<DeviceBuffer>("workspace of " + std::to_string(bytes), bytes, stream_of(call));
  return Workspace(buffer.data(), bytes);
}

/// Passes on that a call has not given back all of a workspace that was whole before it
/// (labs/oracle_support/lent.h).
inline void pass_on_kept(GuestCall& call, const Workspace& workspace) {
  if (workspace.used() == 0) return;
  call.result("workspace bytes kept", static_cast<std::int64_t>(workspace.used()));
}

/// An array of numbers between -1 and 1 for code that is timed. They are random: where all bits are
/// alike from one number to the next, a real GPU draws less power and clocks higher.
class RandomArray {
 public:
  /// @throws CudaError
  explicit RandomArray(std::size_t count, std::uint32_t seed = 1) : count_(count), seed_(seed) {
    const std::vector<float> numbers = first_numbers();
    CUDA_CHECK(cudaMalloc(&data_, sizeof(float) * count));
    for (std::size_t done = 0; done < count; done += numbers.size()) {
      const std::size_t bytes = sizeof(float) * std::min(numbers.size(), count - done);
      CUDA_CHECK(cudaMemcpy(data_ + done, numbers.data(), bytes, cudaMemcpyHostToDevice));
    }
  }
  ~RandomArray() { static_cast<void>(cudaFree(data_)); }
  RandomArray(const RandomArray&) = delete;
  RandomArray& operator=(const RandomArray&) = delete;
  float* data() const { return data_; }
  /// Whether its first numbers, a million at most, are no longer those that it was made with.
  /// @throws CudaError
  bool is_changed() const {
    const std::vector<float> made = first_numbers();
    std::vector<float> found(made.size());
    CUDA_CHECK(
        cudaMemcpy(found.data(), data_, sizeof(float) * found.size(), cudaMemcpyDeviceToHost));
    return found != made;
  }

 private:
  std::vector<float> first_numbers() const {
    constexpr std::size_t kMostNumbers = std::size_t{1} << 20;  // then they begin anew
    std::minstd_rand random(seed_);
    std::vector<float> numbers(std::min(count_, kMostNumbers));
    constexpr auto kRange = static_cast<float>(std::minstd_rand::max());
    for (float& number : numbers) number = 2 * static_cast<float>(random()) / kRange - 1;
    return numbers;
  }

  std::size_t count_;
  std::uint32_t seed_;
  float* data_ = nullptr;
};

}  // namespace rooflab
