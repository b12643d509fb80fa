#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "toolkit/check.h"

namespace {

struct Mark {
  cudaEvent_t event{};
  Mark() { CUDA_CHECK(cudaEventCreate(&event)); }
  ~Mark() { cudaEventDestroy(event); }
  Mark(const Mark&) = delete;
};

using Millis = std::vector<double>;

double mean_of(const Millis& t) { return std::accumulate(t.begin(), t.end(), 0.0) / t.size(); }

double deviation_of(const Millis& t) {
  if (t.size() < 2) return 0;
  const double centre = mean_of(t);
  double squares = 0;
  for (const double each : t) squares += std::pow(each - centre, 2);
  return std::sqrt(squares / (t.size() - 1.0));
}

double median_of(Millis t) {
  std::sort(t.begin(), t.end());
  const size_t half = t.size() / 2;
  return t.size() % 2 ? t[half] : (t[half - 1] + t[half]) / 2;
}

std::uint64_t ask(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t answer = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &answer));
  return answer;
}

std::size_t beyond(std::uint64_t now, std::uint64_t before) {
  return now > before ? now - before : 0;
}

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  for (int left = n_warmup; left > 0; --left) fn();

  std::vector<Mark> marks(n_repeat + 1);
  CUDA_CHECK(cudaEventRecord(marks[0].event));
  for (int call = 1; call <= n_repeat; ++call) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[call].event));
  }
  CUDA_CHECK(cudaEventSynchronize(marks.back().event));

  Millis t;
  for (int call = 1; call <= n_repeat; ++call) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[call - 1].event, marks[call].event));
    t.push_back(ms);
  }
  return {mean_of(t), deviation_of(t), median_of(t)};
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = -1;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaMemPool_t pool{};
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));

  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t before = ask(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t nothing = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &nothing));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  return {beyond(ask(pool, cudaMemPoolAttrUsedMemHigh), before),
          beyond(ask(pool, cudaMemPoolAttrUsedMemCurrent), before)};
}
