#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "toolkit/check.h"

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  for (int w = 0; w < n_warmup; ++w) fn();

  std::vector<cudaEvent_t> marks(n_repeat + 1);
  for (auto& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));
  CUDA_CHECK(cudaEventRecord(marks[0]));
  for (int r = 0; r < n_repeat; ++r) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[r + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks[n_repeat]));

  std::vector<double> times;
  for (int r = 0; r < n_repeat; ++r) {
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[r], marks[r + 1]));
    times.push_back(ms);
  }
  for (auto mark : marks) CUDA_CHECK(cudaEventDestroy(mark));

  Latency out;
  out.mean = std::accumulate(times.begin(), times.end(), 0.0) / n_repeat;
  double squares = 0.0;
  for (double t : times) squares += (t - out.mean) * (t - out.mean);
  out.standard_deviation = n_repeat > 1 ? std::sqrt(squares / (n_repeat - 1)) : 0.0;
  std::sort(times.begin(), times.end());
  const int mid = n_repeat / 2;
  out.median = n_repeat % 2 == 1 ? times[mid] : (times[mid - 1] + times[mid]) / 2;
  return out;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int dev = 0;
  CUDA_CHECK(cudaGetDevice(&dev));
  cudaMemPool_t pool;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, dev));
  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t before = 0, after = 0, high = 0, zero = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &after));
  MemoryUsage usage;
  if (high > before) usage.peak_bytes = high - before;
  if (after > before) usage.allocated_bytes = after - before;
  return usage;
}
