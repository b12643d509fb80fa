#include "matrix_add_row.h"

#include "guest_support/call_parameters.h"

ROOFLAB_ENTRY(matrix_add_row) {
  matrix_add_row(call.tensor<const float>("x"), call.tensor<const float>("row"),
                 call.tensor<float>("y"), rooflab::size(call, "rows"),
                 rooflab::size(call, "columns"));
}
