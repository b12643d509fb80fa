#include "benchmark.h"

#include <cstdint>

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
double benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  // BEGIN SOLUTION
  // STARTER: rooflab::todo("create two events, and record them around the timed calls");
  for (int i = 0; i < n_warmup; ++i) fn();

  // One pair of events around all calls, so that nothing waits between them.
  Event start;
  Event stop;
  start.record();
  for (int i = 0; i < n_repeat; ++i) fn();
  stop.record();
  stop.wait();
  return stop.milliseconds_since(start) / n_repeat;
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
