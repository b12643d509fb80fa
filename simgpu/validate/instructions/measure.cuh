#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace instructions {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fflush(stdout);
  std::fprintf(stderr, "instructions: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Memory that kernels find their operands in; see fill_pointers.
struct Operands {
  unsigned zero;             ///< 0, which the compiler does not know
  unsigned long long* wide;  ///< each word is its own address
  unsigned* narrow;          ///< each word is the lower half of its own address
  unsigned* sink;
};

constexpr int kPointerBytes = 4 << 20;

class Measure {
 public:
  Measure(bool small, bool events, const char* only)
      : small(small), by_events(events), runs(small ? 1 : 5), only(only) {
    check(cudaEventCreate(&start_), "event");
    check(cudaEventCreate(&stop_), "event");
    int khz = 0;
    check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "clock");
    mhz = khz / 1e3;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "multiprocessors");
    check(cudaMalloc(&cycles, sizeof(long long) * 4096), "cudaMalloc");
  }

  void print(const char* topic, const std::string& item, double value, const char* unit) const {
    std::printf("%s,%s,%.6g,%s\n", topic, item.c_str(), value, unit);
    std::fflush(stdout);
  }

  bool wants(const std::string& item) const {
    return only == nullptr || item.find(only) != std::string::npos;
  }

  /// Microseconds between events around `call`, the median of some runs after one that warms up.
  template <typename Call>
  double microseconds(Call call) {
    std::vector<double> times;
    for (int i = small ? 0 : -1; i < runs; ++i) {
      check(cudaEventRecord(start_), "event");
      call();
      check(cudaGetLastError(), "launch");
      check(cudaEventRecord(stop_), "event");
      check(cudaEventSynchronize(stop_), "run");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start_, stop_), "event");
      if (i >= 0) times.push_back(1e3 * milliseconds);
    }
    return median(times);
  }

  /// Cycles that `call`, a kernel that leaves its blocks' cycles in `cycles`, takes on a
  /// multiprocessor: by the kernel's clock or, where that is not one, by events.
  template <typename Call>
  double cycles_of(int blocks, Call call) {
    if (by_events) return microseconds(call) * mhz;
    std::vector<double> of_runs;
    std::vector<long long> of_blocks(blocks);
    for (int i = -1; i < runs; ++i) {
      call();
      check(cudaGetLastError(), "launch");
      check(
          cudaMemcpy(of_blocks.data(), cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost),
          "run");
      if (i < 0) continue;
      of_runs.push_back(median(std::vector<double>(of_blocks.begin(), of_blocks.end())));
    }
    return median(of_runs);
  }

  bool small;
  bool by_events;
  int runs;
  const char* only;
  double mhz = 0;
  int sms = 0;
  long long* cycles = nullptr;
  Operands operands{};

 private:
  cudaEvent_t start_;
  cudaEvent_t stop_;
};

/// `kSteps` dependent steps of each of `kChains` chains, `turns` times.
template <typename Operation, int kSteps, int kChains>
__global__ void __launch_bounds__(1024) chain(Operands operands, int turns, long long* cycles) {
  __shared__ long long first;
  __shared__ long long last;
  if (threadIdx.x == 0) {
    first = 0x7fffffffffffffff;
    last = 0;
  }
  Operation operations[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) operations[c].start(operands, c);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) operations[c].step();
    }
  }
  unsigned result = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) result ^= operations[c].result();
  // Never so, but only the run can tell: what the steps computed is needed.
  if (result == 0x9e3779b9u + operands.zero) operands.sink[threadIdx.x] = result;
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) {
    atomicMin(&first, begin);
    atomicMax(&last, end);
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = last - first;
}

/// Cycles of `kSteps` steps of `kChains` chains, `turns` times: what twice as many steps take
/// longer, so that the loop and all before and after it cancel.
template <typename Operation, int kSteps, int kChains>
double cycles_of_steps(Measure& m, int blocks, int threads, int turns) {
  const double once = m.cycles_of(blocks, [&] {
    chain<Operation, kSteps, kChains><<<blocks, threads>>>(m.operands, turns, m.cycles);
  });
  const double twice = m.cycles_of(blocks, [&] {
    chain<Operation, 2 * kSteps, kChains><<<blocks, threads>>>(m.operands, turns, m.cycles);
  });
  return twice - once;
}

}  // namespace instructions
