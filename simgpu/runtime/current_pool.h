#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

namespace simgpu::runtime {

/// A pool's handle is its number in the device process and one more, so that none is null; the
/// default pool's number is 0.
inline cudaMemPool_t pool_handle(std::uint64_t number) {
  return reinterpret_cast<cudaMemPool_t>(number + 1);
}

/// What cudaMallocAsync takes from: the default pool, unless the program has set another.
class CurrentPool {
 public:
  cudaMemPool_t get() const { return pool_; }
  void set(cudaMemPool_t pool) { pool_ = pool; }
  /// The pool is there no longer.
  void leave(cudaMemPool_t pool) { pool_.compare_exchange_strong(pool, pool_handle(0)); }
  void clear() { pool_ = pool_handle(0); }

 private:
  std::atomic<cudaMemPool_t> pool_ = pool_handle(0);
};

}  // namespace simgpu::runtime
