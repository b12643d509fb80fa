#pragma once

#include <cublas_v2.h>

#include <string>

#include "toolkit/check.h"
#include "toolkit/cuda_error.h"

namespace rooflab {

/// Throws CudaError unless `status` is CUBLAS_STATUS_SUCCESS. Use the macro CUBLAS_CHECK.
inline void check_cublas(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const char* advice =
      status == CUBLAS_STATUS_INVALID_VALUE
          ? "the sizes and leading dimensions: cuBLAS reads every matrix as column-major"
          : "the handle and the kernels launched before this call";
  throw CudaError(file, line, std::string(call) + " failed with " + cublasGetStatusString(status),
                  advice);
}

}  // namespace rooflab

/// Wraps every call of cuBLAS: CUBLAS_CHECK(cublasSgemm(…));
#define CUBLAS_CHECK(call) ::rooflab::check_cublas((call), #call, __FILE__, __LINE__)
