#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

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

// Welford's running mean and sum of squares, and a median by partial sorting. An event stands on
// each side of a call, so two between neighbours.
Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  std::vector<std::pair<Mark, Mark>> marks;
  for (int i = 0; i < n_repeat; ++i) marks.emplace_back(new_mark(), new_mark());
  repeat(n_warmup, fn);
  for (auto& [begin, end] : marks) {
    CUDA_CHECK(cudaEventRecord(begin.get(), cudaStreamLegacy));
    fn();
    CUDA_CHECK(cudaEventRecord(end.get(), cudaStreamLegacy));
  }
  while (!has_passed(marks.back().second)) std::this_thread::yield();

  std::vector<float> all;
  double mean = 0, squares = 0;
  for (auto& [begin, end] : marks) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    all.push_back(ms);
    const double before = ms - mean;
    mean += before / static_cast<double>(all.size());
    squares += before * (ms - mean);
  }
  const auto middle = [&all](std::size_t place) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), all.end());
    return static_cast<double>(all[place]);
  };
  return {mean, n_repeat > 1 ? std::sqrt(squares / (n_repeat - 1)) : 0.0,
          0.5 * (middle(all.size() / 2) + middle((all.size() - 1) / 2))};
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
