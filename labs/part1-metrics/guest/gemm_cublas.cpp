#include "gemm_cublas.h"

#include "grader/contract/guest_call.h"
#include "guest_support/cublas_handle.h"

ROOFLAB_ENTRY(gemm_cublas) {
  const auto& cublas = call.kept<rooflab::CublasHandle>("cuBLAS");
  const rooflab::LentHandle lent(cublas.get());
  gemm_cublas(cublas.get(), call.tensor<const float>("A"), call.tensor<const float>("B"),
              call.tensor<float>("C"), static_cast<int>(call.integer("m")),
              static_cast<int>(call.integer("n")), static_cast<int>(call.integer("k")));
  lent.pass_on_changes(call, nullptr);
}
