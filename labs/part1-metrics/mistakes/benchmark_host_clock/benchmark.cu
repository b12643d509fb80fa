#include "benchmark.h"

#include <chrono>

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  for (int i = 0; i < n_warmup; ++i) fn();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n_repeat; ++i) fn();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  const double mean = time.count() / n_repeat;
  return {.mean = mean, .standard_deviation = 0, .median = mean};
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  fn();
  return {};
}
