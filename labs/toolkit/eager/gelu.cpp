#include "toolkit/eager/gelu.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "toolkit/eager/pointwise.h"

namespace rooflab::eager {

template <typename T>
void gelu(const T* x, T* y, std::int64_t count, Workspace& workspace, cudaStream_t stream) {
  constexpr float kSqrt2OverPi = 0.7978845608F;
  const Workspace::Scope scope(workspace);
  T* half_x = workspace.take<T>(static_cast<std::size_t>(count));
  cube(x, y, count, stream);                 // x^3
  scale(y, 0.044715F, y, count, stream);     // 0.044715 x^3
  add(x, y, y, count, stream);               // x + 0.044715 x^3
  scale(y, kSqrt2OverPi, y, count, stream);  // sqrt(2 / pi) (x + 0.044715 x^3)
  tanh(y, y, count, stream);                 // tanh of that
  add_number(y, 1.0F, y, count, stream);     // 1 + tanh
  scale(x, 0.5F, half_x, count, stream);     // 0.5 x
  multiply(half_x, y, y, count, stream);     // 0.5 x (1 + tanh)
}

template void gelu(const float*, float*, std::int64_t, Workspace&, cudaStream_t);
template void gelu(const __half*, __half*, std::int64_t, Workspace&, cudaStream_t);
template void gelu(const __nv_bfloat16*, __nv_bfloat16*, std::int64_t, Workspace&, cudaStream_t);

}  // namespace rooflab::eager
