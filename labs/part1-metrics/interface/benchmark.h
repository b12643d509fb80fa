#pragma once

#include <cstddef>
#include <functional>

/// What the timed calls of one function took, in milliseconds.
struct Latency {
  double mean = 0;                ///< their sum over their number
  double standard_deviation = 0;  ///< how far a call lies from the mean: see benchmark_latency
  double median = 0;              ///< in order of length, the call in the middle
};

/// Times n_repeat calls of `fn` one by one, as the GPU's own clock sees them.
///
/// `fn` launches work on the default stream and returns at once, without waiting for it. It is
/// called n_warmup times untimed, then n_repeat times timed, and not once more. The first calls of
/// anything are slow (code is loaded, caches and clocks are cold), so they stay out of the numbers.
/// The timed calls may differ in length. n_warmup may be 0; n_repeat is at least 1.
///
/// Times come from CUDA events (cudaEventRecord, cudaEventElapsedTime): one event before the first
/// timed call, one behind each. The host waits once, for the last event: were it to wait after each
/// call, the GPU would be idle until the next launch, and that gap would be in the times.
///
/// With the times t_1 … t_n: mean = (t_1 + … + t_n) / n. The standard deviation is that of a
/// sample, sqrt(((t_1 - mean)^2 + … + (t_n - mean)^2) / (n - 1)), and 0 where n is 1. The median of
/// an even number of calls is the mean of the two in the middle.
Latency benchmark_latency(const std::function<void()>& fn, int n_warmup = 10, int n_repeat = 100);

/// What a call did to device memory. Both count the bytes beyond those in use before the call, and
/// are 0 when the call leaves no more in use, or never has more in use, than before.
struct MemoryUsage {
  std::size_t peak_bytes = 0;       ///< the most in use at once during the call
  std::size_t allocated_bytes = 0;  ///< still in use after the call
};

/// Memory that one call of `fn` takes from the default memory pool of the current device, the pool
/// that cudaMallocAsync takes memory from.
///
/// The pool does the counting: cudaDeviceGetDefaultMemPool gives the pool, cudaMemPoolGetAttribute
/// reads cudaMemPoolAttrUsedMemCurrent (in use now) and cudaMemPoolAttrUsedMemHigh (the most since
/// it was last set to 0 with cudaMemPoolSetAttribute). Both are 64-bit integers: a call may take
/// more than 4 GiB. Other code may have used the pool before. Work on a stream runs later than the
/// call that asks for it, so wait for the device before you read: once before fn, for work that is
/// still under way, and once after it.
MemoryUsage benchmark_memory(const std::function<void()>& fn);
