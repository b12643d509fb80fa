#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <stdexcept>

#include "toolkit/check.h"

namespace rooflab {

/// A CUDA event that is destroyed when it goes out of scope.
class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Marks the work that `stream` was given so far.
  void record(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// Blocks until that work is done.
  void wait() { CUDA_CHECK(cudaEventSynchronize(event_)); }
  /// Milliseconds on the GPU's clock. @pre both events have been recorded and waited for
  double since_ms(const Event& start) const {
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Mean time of one call of `work` in milliseconds, on the GPU's clock.
///
/// `work` launches on `stream` and need not wait. The first `warmup` calls are not timed: they load
/// kernels, let libraries set up what they need, and raise the clocks.
///
/// @throws std::invalid_argument unless warmup >= 0 and repeat >= 1; CudaError; what `work` throws
inline double time_ms(const std::function<void()>& work, int warmup = 1, int repeat = 3,
                      cudaStream_t stream = nullptr) {
  if (warmup < 0 || repeat < 1) {
    throw std::invalid_argument("time_ms needs warmup >= 0 and repeat >= 1");
  }
  // One pair of events around all calls, so that nothing waits between them.
  Event start;
  Event stop;
  for (int i = 0; i < warmup; ++i) work();
  start.record(stream);
  for (int i = 0; i < repeat; ++i) work();
  stop.record(stream);
  stop.wait();
  return stop.since_ms(start) / repeat;
}

}  // namespace rooflab
