#include "sdpa.h"

#include <memory>

#include "parameters.h"
#include "toolkit/check_cublas.h"

ROOFLAB_ENTRY(sdpa) {
  using namespace rooflab;
  cublasHandle_t raw = nullptr;
  CUBLAS_CHECK(cublasCreate(&raw));
  const std::unique_ptr<cublasContext, decltype(&cublasDestroy)> handle(raw, &cublasDestroy);
  with_type(call, [&]<typename T>(std::type_identity<T>) {
    sdpa(handle.get(), call.tensor<const T>("q"), call.tensor<const T>("k"),
         call.tensor<const T>("v"), call.tensor<T>("out"), attention_shape(call), nullptr);
  });
}
