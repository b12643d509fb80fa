#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  for (int w = 0; w < n_warmup; ++w) fn();

  std::vector<cudaEvent_t> marks(n_repeat + 1);
  for (auto& m : marks) CUDA_CHECK(cudaEventCreate(&m));
  CUDA_CHECK(cudaEventRecord(marks[0]));
  for (int r = 0; r < n_repeat; ++r) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[r + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks[n_repeat]));

  std::vector<double> times;
  for (int r = 0; r < n_repeat; ++r) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[r], marks[r + 1]));
    times.push_back(ms);
  }
  for (auto& m : marks) CUDA_CHECK(cudaEventDestroy(m));

  Latency l;
  for (double t : times) l.mean += t;
  l.mean /= n_repeat;
  double squares = 0;
  for (double t : times) squares += (t - l.mean) * (t - l.mean);
  if (n_repeat > 1) l.standard_deviation = std::sqrt(squares / (n_repeat - 1));
  std::sort(times.begin(), times.end());
  const int mid = n_repeat / 2;
  if (n_repeat % 2 == 1) {
    l.median = times[mid];
  } else {
    l.median = 0.5 * (times[mid - 1] + times[mid]);
  }
  return l;
}

static std::uint64_t ask(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t answer = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &answer));
  return answer;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int dev = 0;
  CUDA_CHECK(cudaGetDevice(&dev));
  cudaMemPool_t pool;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, dev));
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t before = ask(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t nothing = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &nothing));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t high = ask(pool, cudaMemPoolAttrUsedMemHigh);
  const std::uint64_t now = ask(pool, cudaMemPoolAttrUsedMemCurrent);
  MemoryUsage u;
  u.peak_bytes = high > before ? high - before : 0;
  u.allocated_bytes = now > before ? now - before : 0;
  return u;
}
