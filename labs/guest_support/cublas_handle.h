#pragma once

#include "toolkit/check_cublas.h"

namespace rooflab {

/// A handle of cuBLAS on a stream, as long as this object lives.
class CublasHandle {
 public:
  /// @throws CudaError
  explicit CublasHandle(cudaStream_t stream = nullptr) {
    CUBLAS_CHECK(cublasCreate(&handle_));
    CUBLAS_CHECK(cublasSetStream(handle_, stream));
  }
  ~CublasHandle() { static_cast<void>(cublasDestroy(handle_)); }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace rooflab
