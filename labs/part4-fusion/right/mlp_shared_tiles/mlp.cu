#include "mlp.h"

#include <cuda_fp16.h>

#include <cstdint>

#include "toolkit/check.h"
#include "toolkit/linear.h"
#include "toolkit/vectors.h"

constexpr int kTokens = 16, kFeatures = 32, kDepth = 32;

__device__ float gated(float gate, float up) {
  const float inner = 0.79788456f * (gate + 0.044715f * gate * gate * gate);
  return 0.5f * gate * (1.0f + tanhf(inner)) * up;
}

// A block of 32 x 8 threads: two tokens to a thread.
template <typename T>
__global__ void gate_and_up(const T* x, const T* gate_proj, const T* up_proj, T* product,
                            MlpShape s) {
  __shared__ float xs[kTokens][kDepth + 1];
  __shared__ float gates[kFeatures][kDepth + 1];
  __shared__ float ups[kFeatures][kDepth + 1];
  const int first_token = blockIdx.y * kTokens, first_feature = blockIdx.x * kFeatures;
  float gate[2] = {}, up[2] = {};
  for (int k0 = 0; k0 < s.hidden; k0 += kDepth) {
    const int k = k0 + threadIdx.x;
    for (int r = threadIdx.y; r < kFeatures; r += 8) {
      const int feature = first_feature + r;
      const bool inside = feature < s.intermediate && k < s.hidden;
      const std::int64_t at = static_cast<std::int64_t>(feature) * s.hidden + k;
      gates[r][threadIdx.x] = inside ? rooflab::to_float(gate_proj[at]) : 0.0f;
      ups[r][threadIdx.x] = inside ? rooflab::to_float(up_proj[at]) : 0.0f;
      if (r >= kTokens) continue;
      const int token = first_token + r;
      xs[r][threadIdx.x] =
          token < s.tokens && k < s.hidden
              ? rooflab::to_float(x[static_cast<std::int64_t>(token) * s.hidden + k])
              : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      const float g = gates[threadIdx.x][i], u = ups[threadIdx.x][i];
      for (int t = 0; t < 2; ++t) {
        const float value = xs[threadIdx.y + 8 * t][i];
        gate[t] += value * g;
        up[t] += value * u;
      }
    }
    __syncthreads();
  }
  const int feature = first_feature + threadIdx.x;
  if (feature >= s.intermediate) return;
  for (int t = 0; t < 2; ++t) {
    const int token = first_token + threadIdx.y + 8 * t;
    if (token >= s.tokens) return;
    product[static_cast<std::int64_t>(token) * s.intermediate + feature] =
        rooflab::from_float<T>(gated(gate[t], up[t]));
  }
}

template <typename T>
void gated_mlp(const MlpContext& context, const T* x, const T* gate_proj, const T* up_proj,
               const T* down_proj, T* out, const MlpShape& shape) {
  const rooflab::Workspace::Scope scope(context.workspace);
  T* product =
      context.workspace.take<T>(static_cast<std::size_t>(shape.tokens) * shape.intermediate);
  const dim3 grid((shape.intermediate + kFeatures - 1) / kFeatures,
                  (shape.tokens + kTokens - 1) / kTokens);
  gate_and_up<<<grid, dim3(32, 8), 0, context.stream>>>(x, gate_proj, up_proj, product, shape);
  CUDA_CHECK(cudaGetLastError());
  rooflab::linear(context.cublas, product, down_proj, out, shape.tokens, shape.intermediate,
                  shape.hidden, context.stream);
}

template void gated_mlp(const MlpContext&, const float*, const float*, const float*, const float*,
                        float*, const MlpShape&);
template void gated_mlp(const MlpContext&, const __half*, const __half*, const __half*,
                        const __half*, __half*, const MlpShape&);
