#include "mlp.h"

#include <type_traits>

#include "gated_product.h"
#include "toolkit/linear.h"
#include "toolkit/todo.h"

// Which of your kernels is for how many tokens? Choose here.

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  rooflab::todo("take room for the product, launch one of your kernels, then rooflab::linear");
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
