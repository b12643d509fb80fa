#include "benchmark.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>

#include "toolkit/check.h"

namespace {

struct Destroy {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Mark = std::unique_ptr<CUevent_st, Destroy>;

Mark new_mark() {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
  return Mark(event);
}

void repeat(int times, const std::function<void()>& fn) {
  if (times <= 0) return;
  fn();
  repeat(times - 1, fn);
}

bool has_passed(const Mark& mark) {
  const cudaError_t state = cudaEventQuery(mark.get());
  if (state == cudaErrorNotReady) return false;
  CUDA_CHECK(state);
  return true;
}

}  // namespace

double benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  const Mark begin = new_mark(), end = new_mark();
  repeat(n_warmup, fn);
  CUDA_CHECK(cudaEventRecord(begin.get(), cudaStreamLegacy));
  repeat(n_repeat, fn);
  CUDA_CHECK(cudaEventRecord(end.get(), cudaStreamLegacy));
  while (!has_passed(end)) std::this_thread::yield();
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return static_cast<double>(milliseconds) / n_repeat;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = -1;
  cudaMemPool_t pool{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
  const auto bytes = [pool](cudaMemPoolAttr what) {
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    std::uint64_t value = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &value));
    return static_cast<std::int64_t>(value);
  };
  const std::int64_t before = bytes(cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t reset = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &reset));
  fn();
  const auto beyond = [before](std::int64_t now) {
    return static_cast<std::size_t>(std::max<std::int64_t>(now - before, 0));
  };
  return {.peak_bytes = beyond(bytes(cudaMemPoolAttrUsedMemHigh)),
          .allocated_bytes = beyond(bytes(cudaMemPoolAttrUsedMemCurrent))};
}
