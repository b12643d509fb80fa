#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  std::vector<cudaEvent_t> ev(n_repeat + 1);
  for (auto& e : ev) CUDA_CHECK(cudaEventCreate(&e));

  for (int i = 0; i < n_warmup; i++) fn();

  CUDA_CHECK(cudaEventRecord(ev[0]));
  for (int i = 0; i < n_repeat; i++) {
    fn();
    CUDA_CHECK(cudaEventRecord(ev[i + 1]));
  }
  CUDA_CHECK(cudaEventSynchronize(ev[n_repeat]));

  std::vector<double> t(n_repeat);
  for (int i = 0; i < n_repeat; i++) {
    float ms = 0.f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, ev[i], ev[i + 1]));
    t[i] = ms;
  }
  for (auto& e : ev) CUDA_CHECK(cudaEventDestroy(e));

  Latency res;
  for (double v : t) res.mean += v;
  res.mean /= n_repeat;

  double sq = 0;
  for (double v : t) sq += (v - res.mean) * (v - res.mean);
  res.standard_deviation = n_repeat > 1 ? std::sqrt(sq / (n_repeat - 1)) : 0.0;

  std::sort(t.begin(), t.end());
  const int h = n_repeat / 2;
  res.median = n_repeat % 2 ? t[h] : 0.5 * (t[h - 1] + t[h]);
  return res;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int dev = 0;
  cudaMemPool_t pool;
  CUDA_CHECK(cudaGetDevice(&dev));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, dev));
  auto query = [&pool](cudaMemPoolAttr what) {
    std::uint64_t v = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &v));
    return v;
  };

  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t zero = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  const std::uint64_t before = query(cudaMemPoolAttrUsedMemCurrent);
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t after = query(cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t high = query(cudaMemPoolAttrUsedMemHigh);

  MemoryUsage u;
  u.peak_bytes = high > before ? high - before : 0;
  u.allocated_bytes = after > before ? after - before : 0;
  return u;
}
