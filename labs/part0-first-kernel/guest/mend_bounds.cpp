#include "mend_bounds.h"

#include "guest_support/call_parameters.h"

ROOFLAB_ENTRY(mend_bounds) {
  differences(call.tensor<const float>("x"), call.tensor<float>("y"), rooflab::size(call, "n"));
}
