#include <cuda_runtime.h>

#include <algorithm>

#include "performance/row.h"
#include "toolkit/check.h"

namespace rooflab::performance {
namespace {

class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  /// On the default stream, which waits for all streams that do not opt out.
  void record() { CUDA_CHECK(cudaEventRecord(event_)); }
  double us_since(const Event& start) const {
    constexpr double kMicrosecondsPerMillisecond = 1e3;
    float ms = 0;
    CUDA_CHECK(cudaEventSynchronize(event_));
    CUDA_CHECK(cudaEventElapsedTime(&ms, start.event_, event_));
    return ms * kMicrosecondsPerMillisecond;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

// Taking turns, both see the same clocks: a card that heats up slows both.
std::vector<double> take_turns(const std::vector<std::function<void()>>& calls, int rounds) {
  std::vector<std::vector<double>> times(calls.size());
  Event start;
  Event stop;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    for (std::size_t i = 0; i < calls.size(); ++i) {
      start.record();
      calls[i]();
      stop.record();
      const double us = stop.us_since(start);
      if (round >= 0) times[i].push_back(us);
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& of_one : times) medians.push_back(median(std::move(of_one)));
  return medians;
}

}  // namespace rooflab::performance
