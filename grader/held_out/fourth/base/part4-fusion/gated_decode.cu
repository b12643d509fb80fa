#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

namespace {

constexpr int kThreads = 64;

// A block of two warps for each feature (x) and token (y).
template <typename T>
__global__ void feature(const T* x, const T* gate_proj, const T* up_proj, T* product,
                        MlpShape shape) {
  __shared__ float2 halves[kThreads / 32];
  const int j = blockIdx.x;
  const int token = blockIdx.y;
  const T* in = x + token * shape.hidden;
  const T* for_gate = gate_proj + j * shape.hidden;
  const T* for_up = up_proj + j * shape.hidden;

  float2 sums = make_float2(0.0f, 0.0f);
  for (int i = threadIdx.x; i < shape.hidden; i += kThreads) {
    const float value = rooflab::to_float(in[i]);
    sums.x += value * rooflab::to_float(for_gate[i]);
    sums.y += value * rooflab::to_float(for_up[i]);
  }
  for (int hop = 16; hop > 0; hop /= 2) {
    sums.x += __shfl_down_sync(kAllLanes, sums.x, hop);
    sums.y += __shfl_down_sync(kAllLanes, sums.y, hop);
  }
  if (threadIdx.x % 32 == 0) halves[threadIdx.x / 32] = sums;
  __syncthreads();
  if (threadIdx.x == 0) {
    const float gate = halves[0].x + halves[1].x;
    const float up = halves[0].y + halves[1].y;
    product[token * shape.intermediate + j] = rooflab::from_float<T>(gelu(gate) * up);
  }
}

}  // namespace

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  // A grid has at most 65,535 blocks along y.
  MlpShape piece = shape;
  for (int done = 0; done < shape.tokens; done += piece.tokens) {
    piece.tokens = shape.tokens - done < 65535 ? shape.tokens - done : 65535;
    const dim3 grid(shape.intermediate, piece.tokens);
    feature<<<grid, kThreads, 0, stream>>>(
        x + static_cast<size_t>(done) * shape.hidden, gate_proj, up_proj,
        product + static_cast<size_t>(done) * shape.intermediate, piece);
    CUDA_CHECK(cudaGetLastError());
  }
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
