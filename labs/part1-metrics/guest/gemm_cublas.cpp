#include "gemm_cublas.h"

#include <memory>

#include "grader/contract/guest_call.h"
#include "toolkit/check_cublas.h"

ROOFLAB_ENTRY(gemm_cublas) {
  cublasHandle_t raw = nullptr;
  CUBLAS_CHECK(cublasCreate(&raw));
  const std::unique_ptr<cublasContext, decltype(&cublasDestroy)> handle(raw, &cublasDestroy);
  gemm_cublas(handle.get(), call.tensor<const float>("A"), call.tensor<const float>("B"),
              call.tensor<float>("C"), static_cast<int>(call.integer("m")),
              static_cast<int>(call.integer("n")), static_cast<int>(call.integer("k")));
}
