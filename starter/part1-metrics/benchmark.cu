#include "benchmark.h"

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/todo.h"

double benchmark_latency(const std::function<void()>& fn, int n_warmup, int n_repeat) {
  rooflab::todo("create two events, and record them around the timed calls");
}

MemoryUsage benchmark_memory(const std::function<void()>& fn) {
  rooflab::todo("read what the pool has in use, reset its high-water mark, then call fn");
}
