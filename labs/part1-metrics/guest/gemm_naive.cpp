#include "gemm.h"
#include "grader/contract/guest_call.h"

ROOFLAB_ENTRY(gemm_naive) {
  gemm_naive(call.tensor<const float>("A"), call.tensor<const float>("B"), call.tensor<float>("C"),
             static_cast<int>(call.integer("m")), static_cast<int>(call.integer("n")),
             static_cast<int>(call.integer("k")));
}
