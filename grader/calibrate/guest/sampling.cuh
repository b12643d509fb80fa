#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "grader/calibrate/guest/kernels.cuh"
#include "grader/device/cuda/clock_watch.h"
#include "grader/device/cuda/measurement.h"
#include "grader/device/cuda/sample.h"

namespace rooflab::calibrate {

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

/// Memory of the GPU, full of noise: a GPU that computes on zeros takes less power than it does in
/// use, and clocks higher.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) {
    check(cudaMalloc(&address_, bytes), "cudaMalloc");
    fill_with_noise<<<1024, kThreads>>>(as<float>(), static_cast<long>(bytes / sizeof(float)));
    check(cudaGetLastError(), "filling memory");
  }
  ~Buffer() { cudaFree(address_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  template <typename T>
  T* as() const {
    return static_cast<T*>(address_);
  }

 private:
  void* address_ = nullptr;
};

/// How long and how often, which differs between a real GPU and a simulated one.
struct Patience {
  double least_us = 0;                       ///< of one sample: launches and events must not show
  std::chrono::duration<double> warm_up{0};  ///< until clocks have risen
  RepeatRule rule;
  /// A sample is the time of all turns less that of half of them, so that short samples are free of
  /// what a launch costs: for a GPU whose times do not vary.
  bool subtracts_half = false;
};

/// Times work on the GPU between two events.
class Sampler {
 public:
  using Work = std::function<void()>;

  Sampler(Patience patience, ClockWatch watch) : patience_(patience), watch_(std::move(watch)) {
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~Sampler() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// One sample of `work`, which follows `before` on the GPU, with the clock while it runs.
  Sample take(const Work& work, const Work& before = {}) {
    if (before) before();
    check(cudaEventRecord(start_), "cudaEventRecord");
    work();
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(stop_), "cudaEventRecord");
    has_queued_ = cudaEventQuery(start_) == cudaErrorNotReady;
    Sample sample;
    watch_.look(sample);
    check(cudaEventSynchronize(stop_), "running");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    sample.time_us = 1e3 * milliseconds;
    return sample;
  }

  /// Whether all of the last sample's work had been issued before any of it began.
  bool has_queued() const { return has_queued_; }

  /// Samples until they are steady. Throttled ones are among them and do not count as samples.
  std::vector<Sample> repeat(const Work& work, const Work& before = {}) {
    warm_up(work, before);
    std::vector<Sample> samples;
    std::vector<double> counted_us;
    const auto begin = Clock::now();
    // Where all are throttled there is an end too: by time, and by number.
    while (!enough(counted_us, Clock::now() - begin, patience_.rule) &&
           samples.size() < 4 * patience_.rule.most &&
           Clock::now() - begin < 2 * patience_.rule.budget) {
      samples.push_back(take(work, before));
      if (!is_throttled(samples.back())) counted_us.push_back(samples.back().time_us);
    }
    return samples;
  }

  /// Turns of `launch` for a sample that is long enough, at most `most`.
  int turns_for(const std::function<void(int)>& launch, int most) {
    launch(1);  // loads the kernel
    int turns = patience_.subtracts_half ? std::min(2, most) : 1;
    double time_us = take([&] { launch(turns); }).time_us;
    while (time_us < patience_.least_us && turns < most) {
      // Short samples tell little of the long: in steps of at most 16.
      const double factor = std::clamp(1.1 * patience_.least_us / time_us, 1.1, 16.0);
      turns = std::min(most, static_cast<int>(turns * factor) + 1);
      time_us = take([&] { launch(turns); }).time_us;
    }
    return turns;
  }

  const Patience& patience() const { return patience_; }
  const ClockWatch& watch() const { return watch_; }

 private:
  using Clock = std::chrono::steady_clock;

  void warm_up(const Work& work, const Work& before) {
    const auto begin = Clock::now();
    while (Clock::now() - begin < patience_.warm_up) take(work, before);
  }

  Patience patience_;
  ClockWatch watch_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  bool has_queued_ = false;
};

}  // namespace rooflab::calibrate
