#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

namespace {

// Events that are destroyed together.
struct Marks {
  std::vector<cudaEvent_t> events;

  explicit Marks(int count) : events(count) {
    for (cudaEvent_t& event : events) CUDA_CHECK(cudaEventCreate(&event));
  }
  ~Marks() {
    for (const cudaEvent_t event : events) cudaEventDestroy(event);
  }
  void set(int i) const { CUDA_CHECK(cudaEventRecord(events[i])); }
  double between(int i, int j) const {
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, events[i], events[j]));
    return ms;
  }
};

struct Pool {
  cudaMemPool_t pool = nullptr;

  Pool() {
    int device = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  }
  std::uint64_t read(cudaMemPoolAttr which) const {
    std::uint64_t bytes = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, which, &bytes));
    return bytes;
  }
  void reset_high() const {
    std::uint64_t zero = 0;
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  }
};

std::size_t beyond(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  const Marks marks(n_repeat + 1);
  while (n_warmup-- > 0) fn();
  marks.set(0);
  for (int i = 1; i <= n_repeat; ++i) {
    fn();
    marks.set(i);
  }
  CUDA_CHECK(cudaEventSynchronize(marks.events.back()));

  std::vector<double> took;
  for (int i = 1; i <= n_repeat; ++i) took.push_back(marks.between(i - 1, i));

  Latency latency;
  for (const double one : took) latency.mean += one / n_repeat;
  double squares = 0;
  for (const double one : took) squares += (one - latency.mean) * (one - latency.mean);
  if (n_repeat > 1) latency.standard_deviation = std::sqrt(squares / (n_repeat - 1));
  std::sort(took.begin(), took.end());
  const double upper = took[n_repeat / 2];
  const double lower = took[(n_repeat - 1) / 2];
  latency.median = (lower + upper) / 2;
  return latency;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  const Pool pool;
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t before = pool.read(cudaMemPoolAttrUsedMemCurrent);
  pool.reset_high();
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  return {.peak_bytes = beyond(pool.read(cudaMemPoolAttrUsedMemHigh), before),
          .allocated_bytes = beyond(pool.read(cudaMemPoolAttrUsedMemCurrent), before)};
}
