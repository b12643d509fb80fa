#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "toolkit/check.h"

namespace {

double middle_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[half];
  return (numbers[half - 1] + numbers[half]) / 2;
}

std::uint64_t read(cudaMemPool_t pool, cudaMemPoolAttr what) {
  std::uint64_t bytes = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, what, &bytes));
  return bytes;
}

}  // namespace

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  std::vector<cudaEvent_t> marks(n_repeat + 1);
  for (auto& mark : marks) CUDA_CHECK(cudaEventCreate(&mark));

  while (n_warmup-- > 0) fn();
  CUDA_CHECK(cudaEventRecord(marks[0]));
  for (int call = 1; call <= n_repeat; ++call) {
    fn();
    CUDA_CHECK(cudaEventRecord(marks[call]));
  }
  CUDA_CHECK(cudaEventSynchronize(marks.back()));

  std::vector<double> times;
  double sum = 0;
  for (int call = 1; call <= n_repeat; ++call) {
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, marks[call - 1], marks[call]));
    times.push_back(ms);
    sum += ms;
  }
  for (auto mark : marks) CUDA_CHECK(cudaEventDestroy(mark));

  Latency result;
  result.mean = sum / n_repeat;
  double squares = 0;
  for (const double time : times) squares += (time - result.mean) * (time - result.mean);
  if (n_repeat > 1) result.standard_deviation = std::sqrt(squares / (n_repeat - 1));
  result.median = middle_of(times);
  return result;
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaMemPool_t pool;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));

  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t held = read(pool, cudaMemPoolAttrUsedMemCurrent);
  std::uint64_t nothing = 0;
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &nothing));
  fn();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::uint64_t left = read(pool, cudaMemPoolAttrUsedMemCurrent);
  const std::uint64_t most = read(pool, cudaMemPoolAttrUsedMemHigh);

  MemoryUsage usage;
  if (most > held) usage.peak_bytes = most - held;
  if (left > held) usage.allocated_bytes = left - held;
  return usage;
}
