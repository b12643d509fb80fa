#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

#include "toolkit/check.h"

namespace rooflab {

/// The most device memory, in bytes, that `work` holds at one time beyond what was in use before
/// it: memory from cudaMallocAsync, given back or not. What it takes with cudaMalloc does not
/// count.
///
/// The pool behind cudaMallocAsync keeps a high-water mark. It is set back, `work` runs once and is
/// waited for, and the mark is read.
///
/// @throws CudaError
/// @throws anything that `work` throws
inline std::int64_t peak_memory(const std::function<void()>& work) {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaMemPool_t pool = nullptr;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));

  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t before = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
  std::uint64_t zero = 0;  // the only value that the mark can be set to
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));

  work();
  CUDA_CHECK(cudaDeviceSynchronize());
  std::uint64_t peak = 0;
  CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
  // Set back, the mark may be 0 until something is taken, however much is held.
  return peak > before ? static_cast<std::int64_t>(peak - before) : 0;
}

}  // namespace rooflab
