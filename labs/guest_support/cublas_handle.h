#pragma once

#include "grader/contract/guest_call.h"
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

/// A handle as a call found it. When the call is over, passes on what is not as it was
/// (labs/oracle_support/lent.h).
class LentHandle {
 public:
  /// @throws CudaError
  explicit LentHandle(cublasHandle_t handle) : handle_(handle), before_(state()) {}

  /// @param may_be the stream that the function may set, as rooflab::linear does
  /// @throws CudaError
  void pass_on_changes(GuestCall& call, cudaStream_t may_be) const {
    const State now = state();
    if (now.stream != before_.stream && now.stream != may_be) return tell(call, "stream");
    if (now.pointers != before_.pointers) return tell(call, "pointer mode");
    if (now.math != before_.math) return tell(call, "math mode");
  }

 private:
  struct State {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
  };

  State state() const {
    State state;
    CUBLAS_CHECK(cublasGetStream(handle_, &state.stream));
    CUBLAS_CHECK(cublasGetPointerMode(handle_, &state.pointers));
    CUBLAS_CHECK(cublasGetMathMode(handle_, &state.math));
    return state;
  }
  static void tell(GuestCall& call, const char* part) {
    call.result("cuBLAS handle changed", std::string(part));
  }

  cublasHandle_t handle_;
  State before_;
};

}  // namespace rooflab
