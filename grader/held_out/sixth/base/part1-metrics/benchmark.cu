#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

static double mean_of(const std::vector<double>& v) {
  double total = 0.0;
  size_t i;
  for (i = 0; i < v.size(); i++) total += v[i];
  return total / v.size();
}

static double deviation_of(const std::vector<double>& v, double mean) {
  if (v.size() < 2) return 0.0;
  double squares = 0.0;
  size_t i;
  for (i = 0; i < v.size(); i++) {
    double off = v[i] - mean;
    squares += off * off;
  }
  return std::sqrt(squares / (v.size() - 1));
}

static double median_of(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  size_t count = v.size();
  size_t middle = count / 2;
  if (count % 2 == 1) return v[middle];
  return (v[middle - 1] + v[middle]) / 2.0;
}

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  std::vector<cudaEvent_t> marks(n_repeat + 1);
  std::vector<double> times(n_repeat);
  int i;

  for (i = 0; i <= n_repeat; i++) CUDA_CHECK(cudaEventCreate(&marks[i]));
  for (i = 0; i < n_warmup; i++) fn();

  CUDA_CHECK(cudaEventRecord(marks[0]));
  for (i = 0; i < n_repeat; i++) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[i + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks[n_repeat]));

  for (i = 0; i < n_repeat; i++) {
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[i], marks[i + 1]));
    times[i] = ms;
  }
  for (i = 0; i <= n_repeat; i++) CUDA_CHECK(cudaEventDestroy(marks[i]));

  Latency result;
  result.mean = mean_of(times);
  result.standard_deviation = deviation_of(times, result.mean);
  result.median = median_of(times);
  return result;
}

static std::uint64_t read_pool(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &bytes));
  return bytes;
}

static std::size_t beyond(std::uint64_t later, std::uint64_t before) {
  if (later <= before) return 0;
  return later - before;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = 0;
  cudaMemPool_t pool;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));

  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t before = read_pool(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t nothing = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &nothing));

  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t after = read_pool(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t high = read_pool(pool, cudaMemPoolAttrUsedMemHigh);

  MemoryUsage usage;
  usage.peak_bytes = beyond(high, before);
  usage.allocated_bytes = beyond(after, before);
  return usage;
}
