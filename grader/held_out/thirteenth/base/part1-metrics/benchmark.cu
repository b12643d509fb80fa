#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

namespace {

// Events that go when they are no longer needed.
class Stamps {
 public:
  explicit Stamps(int count) : events_(count) {
    for (auto& event : events_) CUDA_CHECK(cudaEventCreate(&event));
  }
  ~Stamps() {
    for (auto& event : events_) cudaEventDestroy(event);
  }
  void take(int number) { CUDA_CHECK(cudaEventRecord(events_[number])); }
  void wait_for_last() { CUDA_CHECK(cudaEventSynchronize(events_.back())); }
  double between(int number) const {
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, events_[number], events_[number + 1]));
    return ms;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

double middle_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  if (times.size() % 2 == 1) return times[half];
  return 0.5 * (times[half - 1] + times[half]);
}

std::uint64_t ask(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &bytes));
  return bytes;
}

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  Stamps stamps(n_repeat + 1);
  while (n_warmup-- > 0) fn();
  stamps.take(0);
  for (int call = 1; call <= n_repeat; ++call) {
    fn();
    stamps.take(call);
  }
  stamps.wait_for_last();

  std::vector<double> times;
  double total = 0.0;
  for (int call = 0; call < n_repeat; ++call) {
    times.push_back(stamps.between(call));
    total += times.back();
  }
  Latency latency;
  latency.mean = total / n_repeat;
  double squares = 0.0;
  for (const double time : times) squares += (time - latency.mean) * (time - latency.mean);
  if (n_repeat > 1) latency.standard_deviation = std::sqrt(squares / (n_repeat - 1));
  latency.median = middle_of(times);
  return latency;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = -1;
  cudaMemPool_t pool;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));

  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t held = ask(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t nothing = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &nothing));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t most = ask(pool, cudaMemPoolAttrUsedMemHigh);
  const std::uint64_t left = ask(pool, cudaMemPoolAttrUsedMemCurrent);

  const auto beyond = [held](std::uint64_t bytes) { return bytes > held ? bytes - held : 0; };
  return {.peak_bytes = beyond(most), .allocated_bytes = beyond(left)};
}
