#include "benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "toolkit/check.h"
#include "toolkit/todo.h"

Latency benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  rooflab::todo("record one event before the timed calls, and one behind each of them");
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  rooflab::todo("read what the pool has in use, reset its high-water mark, then call fn");
}
