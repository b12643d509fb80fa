#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "toolkit/check.h"

namespace {

double middle_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  if (times.size() % 2 == 1) return times[half];
  return (times[half - 1] + times[half]) / 2;
}

double deviation_of(const std::vector<double>& times, double mean) {
  if (times.size() < 2) return 0.0;
  double squares = 0.0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / static_cast<double>(times.size() - 1));
}

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  std::vector<cudaEvent_t> marks(n_repeat + 1);
  for (cudaEvent_t& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));

  for (int call = 0; call < n_warmup; ++call) fn();
  CUDA_CHECK(cudaEventRecord(marks[0]));
  for (int call = 0; call < n_repeat; ++call) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[call + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks[n_repeat]));

  std::vector<double> times;
  for (int call = 0; call < n_repeat; ++call) {
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[call], marks[call + 1]));
    times.push_back(ms);
  }
  for (const cudaEvent_t mark : marks) CUDA_CHECK(cudaEventDestroy(mark));

  Latency latency;
  latency.mean = std::accumulate(times.begin(), times.end(), 0.0) / n_repeat;
  latency.standard_deviation = deviation_of(times, latency.mean);
  latency.median = middle_of(times);
  return latency;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  const auto ask = [pool](cudaMemPoolAttr what) {
    std::uint64_t bytes = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &bytes));
    return bytes;
  };

  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t before = ask(cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t none = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t after = ask(cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t high = ask(cudaMemPoolAttrUsedMemHigh);

  MemoryUsage usage;
  usage.peak_bytes = high > before ? high - before : 0;
  usage.allocated_bytes = after > before ? after - before : 0;
  return usage;
}
