#include "gemm_wmma.h"

#include "grader/contract/guest_call.h"

ROOFLAB_ENTRY(gemm_wmma) {
  gemm_wmma(call.tensor<const __nv_bfloat16>("A"), call.tensor<const __nv_bfloat16>("B"),
            call.tensor<float>("C"), static_cast<int>(call.integer("m")),
            static_cast<int>(call.integer("n")), static_cast<int>(call.integer("k")));
}
