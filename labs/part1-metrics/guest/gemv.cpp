#include "gemv.h"

#include "grader/contract/guest_call.h"

ROOFLAB_ENTRY(gemv) {
  gemv(call.tensor<const float>("A"), call.tensor<const float>("x"), call.tensor<float>("y"),
       static_cast<int>(call.integer("m")), static_cast<int>(call.integer("k")));
}
