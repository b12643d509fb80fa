#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "toolkit/check.h"
#include "toolkit/todo.h"

// BEGIN SOLUTION
namespace {

// A CUDA event that is destroyed when it goes out of scope.
class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { CUDA_CHECK(cudaEventRecord(event_)); }
  void wait() { CUDA_CHECK(cudaEventSynchronize(event_)); }

  float milliseconds_since(const Event& start) const {
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double mean_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / times.size();
}

// Of a sample: n times have n - 1 independent distances from their own mean.
double standard_deviation_of(const std::vector<double>& times) {
  if (times.size() == 1) return 0.0;
  const double mean = mean_of(times);
  double squares = 0.0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / (times.size() - 1));
}

double median_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
}

cudaMemPool_t default_pool() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

std::uint64_t read(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, attribute, &bytes));
  return bytes;
}

// A call that frees more than it allocates, or allocates nothing, has no growth.
std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

// END SOLUTION
Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("record one event before the timed calls, and one behind each of them");
  for (int i = 0; i < n_warmup; ++i) fn();

  // Nothing waits between two calls: each event is both the end of one call and the start of the
  // next.
  std::vector<Event> marks(n_repeat + 1);
  marks[0].record();
  for (int i = 0; i < n_repeat; ++i) {
    fn();
    marks[i + 1].record();
  }
  marks[n_repeat].wait();

  std::vector<double> times;  // milliseconds
  for (int i = 0; i < n_repeat; ++i) times.push_back(marks[i + 1].milliseconds_since(marks[i]));
  return {.mean = mean_of(times),
          .standard_deviation = standard_deviation_of(times),
          .median = median_of(times)};
  // END SOLUTION
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("read what the pool has in use, reset its high-water mark, then call fn");
  cudaMemPool_t pool = default_pool();
  CUDA_CHECK(cudaDeviceSynchronize());  // work from before must not count
  const std::uint64_t before = read(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t reset = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &reset));

  fn();
  CUDA_CHECK(cudaDeviceSynchronize());

  const std::uint64_t peak = read(pool, cudaMemPoolAttrUsedMemHigh);
  const std::uint64_t after = read(pool, cudaMemPoolAttrUsedMemCurrent);
  return {.peak_bytes = growth(before, peak), .allocated_bytes = growth(before, after)};
  // END SOLUTION
}
