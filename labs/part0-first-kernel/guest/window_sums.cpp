#include "window_sums.h"

#include "guest_support/call_parameters.h"

ROOFLAB_ENTRY(window_sums) {
  window_sums(call.tensor<const float>("x"), call.tensor<float>("y"), rooflab::size(call, "n"));
}
