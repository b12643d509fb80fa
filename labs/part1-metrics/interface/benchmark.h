#pragma once

#include <cstddef>
#include <functional>

/// Mean time of one call of `fn` in milliseconds, as the GPU's own clock sees it.
///
/// `fn` launches work on the default stream and returns at once, without waiting for it. It is
/// called n_warmup times untimed, then n_repeat times timed, and not once more. The first calls of
/// anything are slow (code is loaded, caches and clocks are cold), and must not enter the mean; the
/// timed ones need not be of one length. The time comes from CUDA events (cudaEventRecord,
/// cudaEventElapsedTime). n_warmup may be 0; n_repeat is at least 1.
double benchmark_latency(const std::function<void()>& fn, int n_warmup = 10, int n_repeat = 100);

/// What a call did to device memory. Both count what goes beyond the bytes in use before the call,
/// and are 0 when nothing does.
struct MemoryUsage {
  std::size_t peak_bytes = 0;       ///< the most in use at once during the call
  std::size_t allocated_bytes = 0;  ///< still in use after the call
};

/// Memory that one call of `fn` takes from the default memory pool of the current device, where
/// cudaMallocAsync takes its memory from.
///
/// The pool counts for you: cudaDeviceGetDefaultMemPool gives the pool, cudaMemPoolGetAttribute
/// reads cudaMemPoolAttrUsedMemCurrent (in use now) and cudaMemPoolAttrUsedMemHigh (the most since
/// it was last set to 0 with cudaMemPoolSetAttribute). Both are 64-bit integers: a call may take
/// more than 4 GiB. Other code may have used the pool before. Work on a stream runs later than the
/// call that asks for it: wait before reading, for work of that other code, too.
MemoryUsage benchmark_memory(const std::function<void()>& fn);
