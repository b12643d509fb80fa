#include <cuda_bf16.h>

#include "layer_steps.h"
#include "rmsnorm.h"
#include "rope.h"
#include "toolkit/linear.h"

namespace {

template <typename T>
struct Step {
  const LayerContext& on;
  const LayerShape& shape;
  int batch, length;

  int tokens() const { return batch * length; }
  T* room(int width) const {
    return on.workspace.take<T>(static_cast<std::size_t>(tokens()) * width);
  }
  void project(const T* x, const T* weight, T* y, int heads) const {
    rooflab::linear(on.cublas, x, weight, y, tokens(), shape.hidden, heads * shape.head_dim,
                    on.stream);
  }
  // raw is (tokens, heads, head_dim): every head of every token is a row of its own.
  void norm_and_rotate(const T* raw, const T* weight, T* y, int heads, const int* positions) const {
    rmsnorm(raw, weight, y, tokens() * heads, shape.head_dim, shape.epsilon, on.stream);
    rope(y, positions, batch, length, heads, shape.head_dim, shape.rope_theta, on.stream);
  }
};

}  // namespace

template <typename T>
void layer_projections(const LayerContext& context, const LayerShape& shape,
                       const LayerWeights<T>& weights, const T* hidden, const int* positions,
                       int batch, int length, const Projections<T>& out) {
  const rooflab::Workspace::Scope scope(context.workspace);
  const Step<T> step{context, shape, batch, length};
  T* normed = step.room(shape.hidden);
  T* raw_q = step.room(shape.query_heads * shape.head_dim);
  T* raw_k = step.room(shape.key_value_heads * shape.head_dim);

  rmsnorm(hidden, weights.input_norm, normed, step.tokens(), shape.hidden, shape.epsilon,
          context.stream);
  step.project(normed, weights.v_proj, out.v, shape.key_value_heads);
  step.project(normed, weights.k_proj, raw_k, shape.key_value_heads);
  step.norm_and_rotate(raw_k, weights.k_norm, out.k, shape.key_value_heads, positions);
  step.project(normed, weights.q_proj, raw_q, shape.query_heads);
  step.norm_and_rotate(raw_q, weights.q_norm, out.q, shape.query_heads, positions);
}

template void layer_projections(const LayerContext&, const LayerShape&, const LayerWeights<float>&,
                                const float*, const int*, int, int, const Projections<float>&);
template void layer_projections(const LayerContext&, const LayerShape&,
                                const LayerWeights<__nv_bfloat16>&, const __nv_bfloat16*,
                                const int*, int, int, const Projections<__nv_bfloat16>&);
