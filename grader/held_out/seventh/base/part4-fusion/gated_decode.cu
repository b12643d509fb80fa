#include "common.cuh"
#include "gated_product.h"
#include "toolkit/check.h"
#include "toolkit/vectors.h"

#define WARP 32
#define NWARPS 8
#define FULL_MASK 0xffffffffu

using rooflab::from_float;
using rooflab::to_float;

// warp = feature of a token
template <typename T>
__global__ void gatedGemv(const T* x, const T* gp, const T* up, T* out, int H, int I) {
  const int lane = threadIdx.x % WARP;
  const int f = blockIdx.x * NWARPS + threadIdx.x / WARP;
  if (f >= I) return;

  const T* wg = gp + (size_t)f * H;
  const T* wu = up + (size_t)f * H;
  const size_t t = blockIdx.y + (size_t)blockIdx.z * gridDim.y;
  x += t * H;

  float g = 0.f, u = 0.f;
  for (int k = lane; k < H; k += WARP) {
    const float xv = to_float(x[k]);
    g += xv * to_float(wg[k]);
    u += xv * to_float(wu[k]);
  }
  for (int o = WARP / 2; o > 0; o >>= 1) {
    g += __shfl_down_sync(FULL_MASK, g, o);
    u += __shfl_down_sync(FULL_MASK, u, o);
  }
  if (lane == 0) out[t * I + f] = from_float<T>(gelu(g) * u);
}

template <typename T>
void gated_decode(const T* x, const T* gate_proj, const T* up_proj, T* product,
                  const MlpShape& shape, cudaStream_t stream) {
  const int nblk = (shape.intermediate + NWARPS - 1) / NWARPS;
  const int maxY = 65535;
  // many tokens do not fit into gridDim.y: launch slices
  for (int t = 0; t < shape.tokens; t += maxY) {
    const int n = shape.tokens - t < maxY ? shape.tokens - t : maxY;
    gatedGemv<T><<<dim3(nblk, n), NWARPS * WARP, 0, stream>>>(
        x + (size_t)t * shape.hidden, gate_proj, up_proj, product + (size_t)t * shape.intermediate,
        shape.hidden, shape.intermediate);
    CUDA_CHECK(cudaGetLastError());
  }
}

template void gated_decode(const float*, const float*, const float*, float*, const MlpShape&,
                           cudaStream_t);
template void gated_decode(const __half*, const __half*, const __half*, __half*, const MlpShape&,
                           cudaStream_t);
