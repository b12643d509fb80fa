#pragma once

#include <cuda_runtime.h>

#include "toolkit/check.h"

namespace rooflab::performance {

/// A stream of its own, which can be captured, as long as this object lives.
class Stream {
 public:
  /// @throws CudaError
  Stream() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace rooflab::performance
