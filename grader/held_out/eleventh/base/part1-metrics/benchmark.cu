#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

namespace {

// Events that are destroyed together.
struct Marks {
  std::vector<cudaEvent_t> all;
  explicit Marks(int count) : all(count) {
    for (cudaEvent_t& mark : all) CUDA_CHECK(cudaEventCreate(&mark));
  }
  ~Marks() {
    for (cudaEvent_t mark : all) cudaEventDestroy(mark);
  }
};

std::uint64_t read(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t value = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &value));
  return value;
}

std::size_t beyond(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  for (int i = 0; i < n_warmup; ++i) fn();
  Marks marks(n_repeat + 1);
  CUDA_CHECK(cudaEventRecord(marks.all[0]));
  for (int i = 1; i <= n_repeat; ++i) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks.all[i]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks.all.back()));

  std::vector<double> times;
  double total = 0;
  for (int i = 1; i <= n_repeat; ++i) {
    float took = 0;
    CUDA_CHECK(cudaEventElapsedTime(&took, marks.all[i - 1], marks.all[i]));
    times.push_back(took);
    total += took;
  }
  Latency result;
  result.mean = total / n_repeat;
  double squares = 0;
  for (const double t : times) squares += (t - result.mean) * (t - result.mean);
  if (n_repeat > 1) result.standard_deviation = std::sqrt(squares / (n_repeat - 1));
  std::sort(times.begin(), times.end());
  const int middle = n_repeat / 2;
  const bool even = n_repeat % 2 == 0;
  result.median = even ? (times[middle - 1] + times[middle]) / 2 : times[middle];
  return result;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t before = read(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t reset = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &reset));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t after = read(pool, cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t highest = read(pool, cudaMemPoolAttrUsedMemHigh);
  MemoryUsage usage;
  usage.peak_bytes = beyond(highest, before);
  usage.allocated_bytes = beyond(after, before);
  return usage;
}
